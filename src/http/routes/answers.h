// The common parts of REST routes: JSON, YAML, CSV or a text table, pages, and errors as Status
// documents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/query/arrange.h"
#include "http/routes/pages.h"
#include "http/server/request.h"
#include "slackline/base/result.h"
#include "slackline/base/text.h"
#include "wire/format/cells.h"
#include "wire/rest/rows.h"

namespace slackline::http {

// 404 NotFound, 400 BadRequest, 403 Forbidden, 410 Expired, 503 ServiceUnavailable, else 500
// InternalError.
Response failure(const Error& error);
Response json(std::string body);
Response text(std::string body);

enum class Output { kJson, kTable, kWide, kYaml, kCsv, kCells };

// `?output=` decides (`kubectl get --raw` cannot set Accept), else Accept; JSON without both.
// kInvalidArgument names the allowed values.
Result<Output> output_of(const Request& request);
// One value, without columns: JSON, YAML, or text for all others.
Response one(const Request& request, const std::string& json, const std::string& text);
Response yaml(const std::string& json);
Response csv(std::string body);

// Of the request's body: "text/csv; charset=utf-8" is "text/csv".
std::string media_type(const Request& request);
bool is_json(const Request& request);
// 415.
Response unsupported(std::string_view wanted);

// A parameter of the query; empty if it is not given.
std::string given(const Request& request, std::string_view name);
// "true" or "false", which it is if it is not given. kInvalidArgument names it.
Result<bool> given_flag(const Request& request, std::string_view name);

// A point in time, or how long ago that was; nullopt if it is not given. kInvalidArgument names it.
Result<std::optional<double>> moment(const Request& request, std::string_view name, double now_s);

// From `search`, `state` and `sort`.
control::Arrangement arrangement_of(const Request& request);

// A whole number of the query; kInvalidArgument names it and its limits.
Result<std::int64_t> number(const Request& request, std::string_view name, std::int64_t otherwise,
                            std::int64_t low, std::int64_t high);

// The rows of a list. `facts`: its other members, as a JSON object; `preface` is printed above the
// table. `widths`: of the columns of the whole table, if it is shown in parts.
template <class T>
struct Listing {
  std::vector<T> rows;
  std::string facts{};
  std::string preface{};
  std::map<Output, std::vector<std::size_t>> widths{};

  wire::TextTable table(Output output) const {
    return wire::table_of(rows,
                          output == Output::kTable ? wire::Width::kNarrow : wire::Width::kWide);
  }
};

// Of the form `cells`: JSON, but not the list's.
inline constexpr const char* kCellsType = "application/vnd.slackline.cells+json";

// The header with the value of JSON's metadata.continue, for every output.
inline constexpr const char* kContinueHeader = "Slackline-Continue";

// The continuation of a list.
struct Rest {
  std::string next;                          // empty: it ends here
  std::string more{};                        // "... 7 more"
  std::optional<std::uint64_t> remaining{};  // items behind this part; nullopt: not counted
};

template <class T>
Response show(const Request& request, const Listing<T>& listing, const Rest& rest) {
  const auto output = output_of(request);
  if (!output) return failure(output.error());
  Response response;
  if (*output == Output::kCsv) {
    response = csv(listing.table(*output).csv());
  } else if (*output == Output::kCells) {
    const std::size_t narrow = wire::table_of(std::vector<T>()).columns().size();
    response = json(wire::encode_cells(listing.table(*output), narrow, listing.preface, rest.next));
    response.content_type = kCellsType;
  } else if (*output == Output::kTable || *output == Output::kWide) {
    std::string more;
    if (!rest.next.empty()) more = format("...{}; continue={}\n", rest.more, rest.next);
    const auto known = listing.widths.find(*output);
    const wire::TextTable table = listing.table(*output);
    response =
        text(listing.preface +
             (known == listing.widths.end() ? table.str() : table.str(known->second)) + more);
  } else {
    std::string body = wire::encode_list(listing.rows, rest.next, listing.facts, rest.remaining);
    response = *output == Output::kYaml ? yaml(body) : json(std::move(body));
  }
  if (!rest.next.empty()) response.headers.emplace_back(kContinueHeader, rest.next);
  return response;
}

// The part [begin, end) of `whole`; the preface is only part of the first.
template <class T>
Listing<T> part_of(const Listing<T>& whole, std::size_t begin, std::size_t end) {
  const auto at = [&](std::size_t i) {
    return whole.rows.begin() + static_cast<std::ptrdiff_t>(i);
  };
  return {{at(begin), at(end)}, whole.facts, begin == 0 ? whole.preface : "", whole.widths};
}

// The requested part of a list. make() returns the whole list, or an error; it is not called if the
// request continues a list that `pages` keeps.
template <class Make>
Response show_page(const Request& request, Pages& pages, const Make& make) {
  using Whole = typename std::invoke_result_t<Make>::value_type;
  Result<Window> window = window_of(request);
  if (!window) return failure(window.error());
  const auto output = output_of(request);
  if (!output) return failure(output.error());
  std::shared_ptr<const Whole> whole;
  if (window->list.empty()) {
    auto made = make();
    if (!made) return failure(made.error());
    if (made->rows.size() > window->limit &&
        (*output == Output::kTable || *output == Output::kWide))
      made->widths[*output] = made->table(*output).widths();
    whole = std::make_shared<const Whole>(*std::move(made));
  } else {
    auto kept = pages.find<Whole>(request, window->list);
    if (!kept) return failure(kept.error());
    whole = *std::move(kept);
  }
  const std::size_t count = whole->rows.size();
  const std::size_t begin = std::min(window->offset, count);
  const std::size_t end = begin + std::min(window->limit, count - begin);
  if (begin == 0 && end == count && !window->of_now) return show(request, *whole, {});
  Rest rest;
  rest.remaining = count - end;
  if (end < count && !window->of_now) {
    if (window->list.empty()) window->list = pages.keep(request, count, whole);
    rest.next = continue_of(window->list, end);
    rest.more = format(" {} more", count - end);
  }
  return show(request, part_of(*whole, begin, end), rest);
}

// A list whose rows can be arranged.
template <class Row>
Response arranged(const Request& request, Pages& pages,
                  const std::function<std::vector<Row>()>& rows) {
  return show_page(request, pages, [&]() -> Result<Listing<Row>> {
    Listing<Row> listing{rows()};
    SLACKLINE_TRY(control::arrange(listing.rows, arrangement_of(request)));
    return listing;
  });
}

// A list whose rows cannot fail.
template <class Rows>
Response list(const Request& request, Pages& pages, const Rows& rows) {
  using Row = typename std::invoke_result_t<Rows>::value_type;
  return show_page(request, pages, [&]() -> Result<Listing<Row>> { return Listing<Row>{rows()}; });
}

}  // namespace slackline::http
