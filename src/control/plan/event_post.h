// EventPost: brings Events to the API server, on a thread of its own, without ever making somebody
// wait.
//
// The same reason on the same object is one Event whose count grows; while it waits to be sent, the
// newer message replaces the older one. Rates, as token buckets: kObjectBurst Events of one object,
// one more each kObjectRefill_s; kBurst of all, kRefill_per_s more a second. What is over its rate,
// or over kMostWaiting, is refused.
//
// Thread-safety: all methods; start() once, then stop() and join().
#pragma once

#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "cluster/watch/source.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/mailbox.h"
#include "slackline/base/mutex.h"
#include "slackline/base/token_bucket.h"

namespace slackline::control {

class EventPost {
 public:
  static constexpr double kObjectBurst = 10;
  static constexpr double kObjectRefill_s = 30;
  static constexpr double kBurst = 200;
  static constexpr double kRefill_per_s = 20;
  static constexpr std::size_t kMostWaiting = 256;

  EventPost(cluster::ClusterWriter& writer, obs::MetricsRegistry& metrics, const Clock& clock);
  ~EventPost();
  EventPost(const EventPost&) = delete;
  EventPost& operator=(const EventPost&) = delete;

  void start();
  // What waits is given up.
  void stop();
  void join();

  // Count and times are filled in. False: refused.
  bool add(TaskEvent event);

  // Posts the Event that has waited longest, on the caller's thread; for tests that start none.
  // False: no Event waits.
  bool post_next();

 private:
  struct Series {
    int count = 0;
    double first_s = 0;  // epoch
    double last_s = 0;   // epoch
  };
  struct Object {
    TokenBucket bucket;
    std::map<std::string, Series> series;  // by reason
  };

  void run();
  void post(const TaskEvent& event);
  void note(const TaskEvent& event);
  bool queue(TaskEvent event);
  bool take(Object& object) SLACKLINE_REQUIRES(mutex_);
  void forget_old() SLACKLINE_REQUIRES(mutex_);
  void count(const std::string& reason, std::string_view result);

  cluster::ClusterWriter& writer_;
  obs::MetricsRegistry& metrics_;
  const Clock& clock_;
  Mailbox<TaskEvent> waiting_{kMostWaiting};
  std::thread thread_;

  Mutex mutex_;
  TokenBucket all_ SLACKLINE_GUARDED_BY(mutex_);
  std::unordered_map<Uid, Object> objects_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::control
