// A thread pool that starts threads as they are needed and bounds both threads and queue.
//
// Thread-safe. Tasks must not throw.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "slackline/base/mutex.h"

namespace slackline::http {

class ThreadPool {
 public:
  ThreadPool(std::size_t max_threads, std::size_t max_queue);
  ~ThreadPool();  // stop()
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // False when every thread is busy and the queue is full, or after stop().
  bool submit(std::function<void()> task);

  // Runs what is queued, then joins the threads. Not from a task.
  void stop();

 private:
  void work();

  const std::size_t max_threads_;
  const std::size_t max_queue_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> queue_ SLACKLINE_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ SLACKLINE_GUARDED_BY(mutex_);
  std::size_t unfinished_ SLACKLINE_GUARDED_BY(mutex_) = 0;  // queued and running
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
};

}  // namespace slackline::http
