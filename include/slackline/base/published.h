// Published: the present one of a series of immutable values. A reader takes the pointer once and
// decides by what it points at to the end, whatever is published meanwhile.
//
// Thread-safe; neither call waits for more than a pointer's exchange.
#pragma once

#include <memory>
#include <utility>

#include "slackline/base/mutex.h"

namespace slackline {

template <class T>
class Published {
 public:
  explicit Published(T value = T{}) { set(std::move(value)); }

  std::shared_ptr<const T> get() const {  // never null
    MutexLock lock(mutex_);
    return value_;
  }

  void set(T value) {
    auto next = std::make_shared<const T>(std::move(value));
    MutexLock lock(mutex_);
    value_.swap(next);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const T> value_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline
