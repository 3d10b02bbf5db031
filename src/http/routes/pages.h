// Pages: lists that were answered in part, kept so that the rest shows the same moment.
//
// `continue=` names one list of one query: path and filters must be the same, so that a client
// without the right to the query cannot read on in another client's answer. A list is kept for a
// minute after its last request. With too many rows the oldest lists are dropped first; the newest
// always stays, because it is no larger than the answer it was made for.
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

// The requested part of a list.
struct Window {
  std::string list;  // id of a kept list; empty: from the beginning, of a new one
  std::size_t offset = 0;
  std::size_t limit = 0;
  // By `offset`: a part of the list of now, which is not kept for a next part.
  bool of_now = false;
};

inline constexpr std::int64_t kDefaultLimit = 500;
inline constexpr std::int64_t kMaxLimit = 1000;

// From `limit`, and `continue` or `offset`, which may be empty; kInvalidArgument names what is
// wrong.
Result<Window> window_of(const Request& request);

// The value of `continue` for the rest of a kept list.
std::string continue_of(std::string_view list, std::size_t offset);

class Pages {
 public:
  static constexpr double kLife_s = 60;
  static constexpr std::size_t kMaxRows = 200'000;
  static constexpr std::size_t kMaxLists = 64;

  explicit Pages(const Clock& clock) : clock_(clock) {}

  // Keeps the answer to the query of `request`, with this many rows; returns its id.
  std::string keep(const Request& request, std::size_t rows, std::any list);

  // The list of that id and query; kGone if it is no longer kept.
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
