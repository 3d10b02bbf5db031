// QueueRules: what an administrator configures for a queue (`queue`, `queues`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/ids.h"
#include "slackline/model/resize.h"

namespace slackline {

inline constexpr double kDefaultFallback_s = 1800;
inline constexpr double kMostNotice_s = 600;
inline constexpr double kDefaultGiveBack_s = 600;

// Whether running tasks are moved though nobody needs their GPUs (core/cluster/moves.h).
enum class Rescheduling : std::uint8_t { kOff, kAdvise, kAuto };

// Of the GPUs of one type.
struct GpuShare {
  std::int64_t own = 0;     // the queue's
  std::int64_t borrow = 0;  // of others' that they leave idle, at most
  friend bool operator==(const GpuShare&, const GpuShare&) = default;
};

struct QueueRules {
  std::int64_t max_pending = 0;                  // Jobs that may wait; 0 = no limit
  double fallback_after_s = kDefaultFallback_s;  // before a less preferred GPU type is taken
  bool scale_up = false;  // tasks that no present node could ever run are left to an autoscaler
  double notice_s = 0;    // between telling the pods of a run that it is stopped, and the stop
  Rescheduling rescheduling = Rescheduling::kAdvise;
  bool preemptible = true;                  // its running tasks may be stopped for others, or moved
  ResizeMode resize = ResizeMode::kAdvise;  // where neither the Job nor its namespace says
  std::int64_t max_running = 0;             // tasks that run at a time; 0 = no limit
  std::map<std::string, GpuShare, std::less<>> shares{};  // by GPU type as written
  // That its tasks wait, at most, for the runs that use what it owns.
  double give_back_within_s = kDefaultGiveBack_s;
  // Another queue, which has none: what both and its other children use is bounded by its shares.
  std::string parent{};
  // In order of preference, of tasks that name none; empty: any.
  std::vector<GpuType> gpu_types{};

  friend bool operator==(const QueueRules&, const QueueRules&) = default;
};

// The rules of every queue.
struct QueueRulebook {
  QueueRules defaults;
  std::map<std::string, QueueRules, std::less<>> named;

  const QueueRules& of(std::string_view account) const {
    const auto at = named.find(account);
    return at == named.end() ? defaults : at->second;
  }
  // Of a task of that queue and namespace.
  const QueueRules& of(const std::string& queue, const std::string& ns) const {
    return of(account(queue, ns));
  }
  bool any_shares() const {
    return std::any_of(named.begin(), named.end(),
                       [](const auto& queue) { return !queue.second.shares.empty(); });
  }
  // Under which name a task of that queue and namespace is counted: for shares, for limits, and for
  // what it makes others lose. Only a configured queue counts, and whoever names one may use it;
  // any other name is a tag that anybody may invent.
  const std::string& account(const std::string& queue, const std::string& ns) const {
    return named.contains(queue) ? queue : ns;
  }
  friend bool operator==(const QueueRulebook&, const QueueRulebook&) = default;
};

}  // namespace slackline
