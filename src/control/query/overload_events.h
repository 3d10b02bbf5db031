// OverloadEvents: says when a queue is overloaded (overload.h):
//
//   Overloaded   Warning   on the first late Job or pod of each namespace in the queue, at most
//                          kMostNamespaces of them; once for each time that the queue becomes
//                          overloaded, and not again within kOverloadQuiet_s
//   slackline_queue_overloaded{queue}   1 while it is
//
// Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/query/overload.h"
#include "control/query/queue_events.h"
#include "obs/bounded_names.h"
#include "obs/metrics.h"

namespace slackline::control {

inline constexpr double kOverloadQuiet_s = 600;
inline constexpr std::size_t kMostNamespaces = 10;

class OverloadEvents {
 public:
  explicit OverloadEvents(obs::MetricsRegistry& metrics) : metrics_(metrics) {}

  // Shows the loads; without `post` no Event is posted.
  void look(const std::vector<QueueLoad>& loads, double now_s, const QueueEvents::Post* post);

 private:
  struct Queue {
    bool overloaded = false;
    bool posted = false;       // of this overload
    double quiet_until_s = 0;  // epoch
  };

  void show();

  obs::MetricsRegistry& metrics_;
  obs::BoundedNames names_{obs::kMaxQueues};
  std::map<std::string, Queue> queues_;  // that are overloaded, or had an Event lately
  std::map<std::string, obs::Gauge> shown_;
};

}  // namespace slackline::control
