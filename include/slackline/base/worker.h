// Worker: one thread that does something, waits, does it again, until it is stopped.
//
//   worker_.start([this] { while (worker_.wait(kLook_s)) look(); });  // first after kLook_s
//   worker_.start([this] { do look(); while (worker_.wait(kLook_s)); });  // first at once
//
// The last member of its owner: its thread has then ended before what it works on goes.
//
// Thread-safety: start() once and join() from the owner's thread, stop() from any, wait() from the
// worker's own.
#pragma once

#include <functional>
#include <thread>

#include "slackline/base/mutex.h"

namespace slackline {

class Worker {
 public:
  Worker() = default;
  ~Worker();  // stop() and join()
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // `work` ends soon after a wait() of its own was false.
  void start(std::function<void()> work);
  // Ends the wait under way and every later one; what is being done is finished. Never blocks.
  void stop();
  void join();

  // For long work that ends early where it is asked to (base/stop.h). From any thread.
  bool is_stopping() const;

  // True after so many seconds of steady time; false as soon as it is stopped, also for 0 s.
  [[nodiscard]] bool wait(double seconds);

 private:
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace slackline
