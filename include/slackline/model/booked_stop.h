// BookedStop: a run that was stopped for a task, and who pays for what that loses. It is kept in a
// ConfigMap of Slackline's before the stop is written, so that it outlives the Job that was
// stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slackline/model/ids.h"

namespace slackline {

struct BookedStop {
  ObjectKey stopped;                  // the Job, or the pod that was evicted
  Uid uid;                            // of that
  std::int64_t count = 0;             // PreemptionNote::count of this stop; 0: an eviction
  Uid controller{};                   // of an evicted pod: it made another one
  std::string account{};              // that pays (QueueRulebook::account); empty: nobody
  double at_s = 0;                    // epoch seconds
  double gpu_s = 0;                   // that were lost
  ObjectKey asker{};                  // the task that got the room; empty: none
  std::optional<double> in_vain_s{};  // epoch seconds, when it was seen to make no use of it

  // One stop has one id, however often it is tried.
  bool is_same(const BookedStop& other) const { return uid == other.uid && count == other.count; }
  friend bool operator==(const BookedStop&, const BookedStop&) = default;
};

}  // namespace slackline
