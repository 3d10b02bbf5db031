#include "http/routes/pages.h"

#include <functional>
#include <random>
#include <utility>

#include "http/routes/answers.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

// The parameters that the answer depends on, whichever part and form of it is shown.
std::string question_of(const Request& request) {
  std::string question =
      format("{} {} {}", request.method, request.path, std::hash<std::string_view>{}(request.body));
  for (const auto& [name, value] : request.query)
    if (name != "limit" && name != "continue" && name != "output")
      question += format("\n{}={}", name, value);
  return question;
}

constexpr std::int64_t kMaxOffset = 10'000'000;

std::string random_id() {
  std::random_device device;
  return format("{:08x}{:08x}", device(), device());
}

}  // namespace

Result<Window> window_of(const Request& request) {
  SLACKLINE_ASSIGN(const std::int64_t limit, number(request, "limit", kDefaultLimit, 1, kMaxLimit));
  Window window;
  window.limit = static_cast<std::size_t>(limit);
  SLACKLINE_ASSIGN(const std::int64_t skipped, number(request, "offset", 0, 0, kMaxOffset));
  window.offset = static_cast<std::size_t>(skipped);
  window.of_now = request.query.contains("offset");
  const auto given = request.query.find("continue");
  if (given == request.query.end() || given->second.empty()) return window;
  const std::size_t dot = given->second.find('.');
  const auto offset =
      parse_int(dot == std::string::npos ? "" : std::string_view(given->second).substr(dot + 1));
  if (!offset || *offset < 0 || dot == 0)
    return fail(ErrorCode::kInvalidArgument,
                format("continue=\"{}\": expected the metadata.continue of the last answer",
                       printable(given->second, 64)));
  if (window.of_now)
    return fail(ErrorCode::kInvalidArgument, "give one of continue and offset, not both");
  window.list = given->second.substr(0, dot);
  window.offset = static_cast<std::size_t>(*offset);
  return window;
}

std::string continue_of(std::string_view list, std::size_t offset) {
  return format("{}.{}", list, offset);
}

void Pages::drop_old() {
  const double now_s = clock_.steady_s();
  std::erase_if(kept_, [&](const Kept& each) SLACKLINE_REQUIRES(mutex_) {
    if (each.until_s > now_s) return false;
    rows_ -= each.rows;
    return true;
  });
}

std::string Pages::keep(const Request& request, std::size_t rows, std::any list) {
  Kept kept{random_id(), question_of(request), rows, std::move(list), clock_.steady_s() + kLife_s};
  MutexLock lock(mutex_);
  drop_old();
  while (!kept_.empty() && (rows_ + rows > kMaxRows || kept_.size() >= kMaxLists)) {
    rows_ -= kept_.front().rows;
    kept_.pop_front();
  }
  rows_ += rows;
  kept_.push_back(std::move(kept));
  return kept_.back().id;
}

std::any Pages::look_up(const Request& request, const std::string& id) {
  const std::string question = question_of(request);
  MutexLock lock(mutex_);
  drop_old();
  for (auto each = kept_.begin(); each != kept_.end(); ++each) {
    if (each->id != id || each->question != question) continue;
    each->until_s = clock_.steady_s() + kLife_s;
    kept_.splice(kept_.end(), kept_, each);
    return kept_.back().list;
  }
  return {};
}

}  // namespace slackline::http
