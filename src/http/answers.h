// What REST routes have in common: JSON or a text table, pages, and errors as Status documents.
#pragma once

#include <algorithm>
#include <cstdint>
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

// 404 NotFound, 400 BadRequest, 503 ServiceUnavailable, else 500 InternalError.
Response failure(const Error& error);
Response json(std::string body);
Response text(std::string body);

// The client accepts text/plain and not JSON.
bool wants_text(const Request& request);

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

// One page of a whole list, as JSON or as a table (text_of() of a vector). `preface` stands above
// the table.
template <class T>
Response list(const Request& request, const std::vector<T>& all, const wire::ListFacts& facts = {},
              const std::string& preface = {}) {
  const auto page = page_of(request);
  if (!page) return failure(page.error());
  const std::size_t begin = std::min(page->offset, all.size());
  const std::size_t end = std::min(begin + page->limit, all.size());
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(end);
  if (wants_text(request)) {
    std::string table = preface + wire::text_of(std::vector<T>(first, last));
    if (end < all.size()) table += format("... {} more; continue={}\n", all.size() - end, end);
    return text(std::move(table));
  }
  return json(wire::encode_list(first, last, end < all.size() ? std::to_string(end) : "", facts));
}

}  // namespace slackline::http
