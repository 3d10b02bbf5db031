// Worker: one thread that does something, waits, does it again, until it is stopped.
//
//   worker_.start([this] { while (worker_.wait(kLook_s)) look(); });  // first after kLook_s
//   worker_.start([this] { do look(); while (worker_.wait(kLook_s)); });  // first at once
//
// Declare it as the last member of its owner, so that its thread has ended before the members it
// uses are destroyed.
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

  // `work` must return soon after its wait() returned false.
  void start(std::function<void()> work);
  // Ends the present wait and every later one; work in progress is finished. Never blocks.
  void stop();
  void join();

  // For long work that can stop early (base/stop.h). From any thread.
  bool is_stopping() const;

  // True after this many seconds of steady time; false as soon as the worker is stopped, also for 0
  // s.
  [[nodiscard]] bool wait(double seconds);

 private:
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace slackline
