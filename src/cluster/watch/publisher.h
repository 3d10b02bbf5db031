// Publisher: the thread that turns changes of the cache into snapshots: at once when idle, else at
// most one per 5 ms and at a pace (base/pace.h), so that a burst of events costs one publication.
//
// Thread-safety: start() once, then stop() and join().
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "cluster/watch/cache.h"

namespace slackline::cluster {

inline constexpr double kPublishInterval_s = 0.005;

class Publisher {
 public:
  // `tick` is called at most once a second, `published` after each publication, on the publisher's
  // thread; `published` may be empty.
  Publisher(Cache& cache, std::function<void()> tick);
  void on_publish(std::function<void()> published) { published_ = std::move(published); }
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
  std::function<void()> published_;  // set before start()
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace slackline::cluster
