// A thread pool that starts threads as they are needed, bounds both threads and queue, and lets
// peers take turns: the queue of one does not keep the others waiting.
//
// Thread-safe. Tasks must not throw.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
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

  // False if the peer may not have one more (share.h), if there is no thread or memory for it, and
  // after stop(). The threads work on one task of each peer that waits, then on the next of each.
  bool submit(const std::string& peer, std::function<void()> task);

  // Runs what is queued, then joins the threads. Not from a task.
  void stop();

 private:
  struct Peer {
    std::deque<std::function<void()>> waiting;
    std::size_t unfinished = 0;  // queued and running
  };
  using Peers = std::map<std::string, Peer>;

  void work();
  Peers::iterator next_peer() SLACKLINE_REQUIRES(mutex_);

  const std::size_t max_threads_;
  const std::size_t max_queue_;
  Mutex mutex_;
  CondVar wake_;
  Peers peers_ SLACKLINE_GUARDED_BY(mutex_);         // those with unfinished tasks
  std::string served_ SLACKLINE_GUARDED_BY(mutex_);  // whose turn was last
  std::vector<std::thread> threads_ SLACKLINE_GUARDED_BY(mutex_);
  std::size_t waiting_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::size_t unfinished_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
};

}  // namespace slackline::http
