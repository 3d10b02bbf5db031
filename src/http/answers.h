// What REST routes have in common: JSON, YAML, CSV or a text table, pages, and errors as Status
// documents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/request.h"
#include "slackline/base/result.h"
#include "slackline/base/text.h"
#include "wire/model_codec.h"
#include "wire/rest_encode.h"
#include "wire/rest_text.h"

namespace slackline::http {

// 404 NotFound, 400 BadRequest, 403 Forbidden, 503 ServiceUnavailable, else 500 InternalError.
Response failure(const Error& error);
Response json(std::string body);
Response text(std::string body);

enum class Output { kJson, kTable, kWide, kYaml, kCsv };

// `?output=` decides (what goes through `kubectl get --raw` has no say in Accept), else Accept;
// JSON where both are silent. kInvalidArgument names what there is.
Result<Output> output_of(const Request& request);
// One value, which has no columns: JSON, YAML, or text for all others.
Response one(const Request& request, const std::string& json, const std::string& text);
Response yaml(const std::string& json);
Response csv(std::string body);

// A whole number of the query; kInvalidArgument names it and its limits.
Result<std::int64_t> number(const Request& request, std::string_view name, std::int64_t otherwise,
                            std::int64_t low, std::int64_t high);

inline constexpr std::int64_t kDefaultLimit = 500;
inline constexpr std::int64_t kMaxLimit = 1000;

// The window of a list that a request asks for.
struct Page {
  std::size_t offset = 0;
  std::size_t limit = 0;
};
Result<Page> page_of(const Request& request);

// Rows of a list and what stands beside them. `preface` stands above the table, `next` is where the
// list goes on; empty: it ends. A list with a wider table for people has wide_table().
template <class T>
struct Listing {
  std::vector<T> rows;
  std::string next{};
  std::string more{};  // "... 7 more"
  wire::ListFacts facts{};
  std::string preface{};
  std::function<wire::TextTable(const std::vector<T>&)> wide_table{};
};

template <class T>
Response show(const Request& request, const Listing<T>& listing) {
  const auto output = output_of(request);
  if (!output) return failure(output.error());
  if (*output == Output::kTable || *output == Output::kWide || *output == Output::kCsv) {
    const bool wide = listing.wide_table && *output != Output::kTable;
    const wire::TextTable table =
        wide ? listing.wide_table(listing.rows) : wire::table_of(listing.rows);
    if (*output == Output::kCsv) return csv(table.csv());
    std::string more;
    if (!listing.next.empty()) more = format("...{}; continue={}\n", listing.more, listing.next);
    return text(listing.preface + table.str() + more);
  }
  std::string body =
      wire::encode_list(listing.rows.begin(), listing.rows.end(), listing.next, listing.facts);
  return *output == Output::kYaml ? yaml(body) : json(std::move(body));
}

// The page of `listing`, which has all rows, that the request asks for.
template <class T>
Response show_page(const Request& request, Listing<T> listing) {
  const auto page = page_of(request);
  if (!page) return failure(page.error());
  std::vector<T>& all = listing.rows;
  const std::size_t begin = std::min(page->offset, all.size());
  const std::size_t end = std::min(begin + page->limit, all.size());
  if (end < all.size()) {
    listing.next = std::to_string(end);
    listing.more = format(" {} more", all.size() - end);
  }
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
  return show(request, listing);
}

template <class T>
Response list(const Request& request, std::vector<T> all, wire::ListFacts facts = {},
              std::string preface = {}) {
  Listing<T> listing;
  listing.rows = std::move(all);
  listing.facts = std::move(facts);
  listing.preface = std::move(preface);
  return show_page(request, std::move(listing));
}

}  // namespace slackline::http
