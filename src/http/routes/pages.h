// Pages: lists that were answered in part, kept so that the rest is of the same moment.
//
// What `continue=` names is one list of one question: path and filters must be the same, so whoever
// may not ask the question cannot read on in somebody else's answer. A list is kept for a minute
// after it was last asked for. The oldest are given up first where there are too many rows; the
// newest always stays, it is no larger than the answer it was made for.
//
// Thread-safe.
#pragma once

#include <any>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/server/request.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/result.h"

namespace slackline::http {

// The part of a list that a request asks for.
struct Window {
  std::string list;  // id of a kept list; empty: from the beginning, of a new one
  std::size_t offset = 0;
  std::size_t limit = 0;
};

inline constexpr std::int64_t kDefaultLimit = 500;
inline constexpr std::int64_t kMaxLimit = 1000;

// From `limit` and `continue`, which may be empty; kInvalidArgument names what is wrong.
Result<Window> window_of(const Request& request);

// What `continue` is to be for the rest of a kept list.
std::string continue_of(std::string_view list, std::size_t offset);

class Pages {
 public:
  static constexpr double kLife_s = 60;
  static constexpr std::size_t kMaxRows = 200'000;
  static constexpr std::size_t kMaxLists = 64;

  explicit Pages(const Clock& clock) : clock_(clock) {}

  // Keeps the answer to the question of `request`, with so many rows; its id.
  std::string keep(const Request& request, std::size_t rows, std::any list);

  // The list of that id and question; kGone where it is not kept any more.
  template <class T>
  Result<std::shared_ptr<const T>> find(const Request& request, const std::string& id) {
    const std::any found = look_up(request, id);
    if (const auto* list = std::any_cast<std::shared_ptr<const T>>(&found)) return *list;
    return fail(ErrorCode::kGone,
                "the list that `continue` names is not kept any more, was kept by another replica, "
                "or belongs to another query; ask again without continue");
  }

 private:
  struct Kept {
    std::string id;
    std::string question;
    std::size_t rows = 0;
    std::any list;
    double until_s = 0;
  };

  std::any look_up(const Request& request, const std::string& id);
  void drop_old() SLACKLINE_REQUIRES(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  std::list<Kept> kept_ SLACKLINE_GUARDED_BY(mutex_);  // the oldest first
  std::size_t rows_ SLACKLINE_GUARDED_BY(mutex_) = 0;
};

}  // namespace slackline::http
