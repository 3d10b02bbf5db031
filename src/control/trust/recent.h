// Recent: answers that are believed for a while, by key. At most kMaxKept of them: then it forgets
// all of them. Thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "slackline/base/mutex.h"

namespace slackline::control {

template <class T>
class Recent {
 public:
  static constexpr std::size_t kMaxKept = 1024;

  std::optional<T> find(const std::string& key, double now_s) {
    MutexLock lock(mutex_);
    const auto found = kept_.find(key);
    if (found == kept_.end() || found->second.until_s <= now_s) return std::nullopt;
    return found->second.value;
  }

  void keep(const std::string& key, T value, double until_s) {
    MutexLock lock(mutex_);
    if (kept_.size() >= kMaxKept) kept_.clear();
    kept_.insert_or_assign(key, Kept{std::move(value), until_s});
  }

 private:
  struct Kept {
    T value;
    double until_s = 0;
  };

  Mutex mutex_;
  std::map<std::string, Kept> kept_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::control
