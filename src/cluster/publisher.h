// Publisher: the thread that turns changes of the cache into snapshots: at once when idle, else at
// most one per 5 ms, so that a burst of events costs one publication.
//
// Thread-safety: start() once, then stop() and join().
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "cluster/cache.h"

namespace slackline::cluster {

inline constexpr double kPublishInterval_s = 0.005;

class Publisher {
 public:
  // `tick` is called at most once a second, on the publisher's thread.
  Publisher(Cache& cache, std::function<void()> tick);
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  void start();
  void stop();
  void join();

 private:
  void run();

  Cache& cache_;
  const std::function<void()> tick_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace slackline::cluster
