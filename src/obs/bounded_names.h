// BoundedNames: label values that people choose (queues, GPU types), bounded in number: the first
// `most` names are kept, every further one becomes "other".
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "slackline/base/mutex.h"

namespace slackline::obs {

inline constexpr std::size_t kMaxQueues = 100;  // with series of their own

class BoundedNames {
 public:
  explicit BoundedNames(std::size_t most) : most_(most) {}

  std::string admit(const std::string& name) {
    const MutexLock lock(mutex_);
    if (names_.contains(name)) return name;
    if (names_.size() >= most_) return "other";
    names_.insert(name);
    return name;
  }

 private:
  const std::size_t most_;
  Mutex mutex_;
  std::set<std::string> names_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::obs
