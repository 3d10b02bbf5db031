// Interrupt: ends transfers from another thread, within 100 ms.
//
// Thread-safety: all methods. One Interrupt may be given to many transfers; after interrupt() every
// running and every later one fails with kUnavailable "interrupted", until reset().
#pragma once

#include <atomic>
#include <vector>

#include "slackline/base/mutex.h"

namespace slackline::net {

class Interrupt {
 public:
  void interrupt();
  void reset() { interrupted_ = false; }
  bool interrupted() const { return interrupted_; }

 private:
  friend class Transfer;
  void watch(void* multi);
  void unwatch(void* multi);

  std::atomic<bool> interrupted_ = false;
  Mutex mutex_;
  std::vector<void*> multis_ SLACKLINE_GUARDED_BY(mutex_);  // CURLM of running transfers
};

}  // namespace slackline::net
