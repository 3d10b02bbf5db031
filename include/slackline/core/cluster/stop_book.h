// StopBook: what is known of the stops for other tasks beside what the notes of stopped Jobs say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "slackline/core/planning/loss_accounts.h"
#include "slackline/model/booked_stop.h"
#include "slackline/model/ids.h"
#include "slackline/model/own_write.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

struct StopBook {
  std::vector<BookedStop> stops;    // of the last day, in order of time
  std::unordered_set<Uid> refused;  // Jobs and pods that the API server would not stop a moment ago
  std::map<std::string, double> barred_until_s{};  // by account, as bars() says
  // Jobs that the API server does not let start: nobody is stopped for them for now.
  std::unordered_set<Uid> unreleased{};

  // Evictions of pods of this controller, within a day.
  std::int64_t count(const Uid& controller, double now_wall_s) const {
    return std::count_if(stops.begin(), stops.end(), [&](const BookedStop& each) {
      return each.controller == controller && each.at_s > now_wall_s - kAccountedFor_s;
    });
  }
  // Infinity where none is barred.
  double next_bar_ends_s(double now_wall_s) const {
    double next_s = std::numeric_limits<double>::infinity();
    for (const auto& [account, until_s] : barred_until_s)
      if (until_s > now_wall_s) next_s = std::min(next_s, until_s);
    return next_s;
  }
  friend bool operator==(const StopBook&, const StopBook&) = default;
};

// Null: nobody was.
inline bool was_refused(const StopBook* book, const Uid& job) {
  return book != nullptr && book->unreleased.contains(job);
}

// What is to be booked before this is written; nullopt: it stops nobody, or nobody pays for it.
std::optional<BookedStop> booked_stop(const OwnWrite& write, double now_wall_s);

// Without those that were booked and not made, because Slackline ended in between or the write
// failed: the Job, or the pod, is there as if nothing had been. O(pods) if any pod was evicted.
std::vector<BookedStop> made_stops(const std::vector<BookedStop>& booked,
                                   const ClusterSnapshot& snapshot);

// What became of the task for which others were stopped, as one looks at it again and again.
struct Asker {
  ObjectKey key;
  double asked_s = 0;  // epoch, when they were stopped
  bool is_job = false;
  bool started = false;
  bool ran = false;  // a pod of it was bound
};
enum class AskerFate {
  kOpen,
  kServed,  // it runs, or has ended by itself
  kInVain   // it was deleted or suspended by its owner, or its pods found no nodes
};
// Notes in `asker` what it sees. For protect_s after its pods were bound a task is expected to run.
AskerFate look_at(Asker& asker, const ClusterSnapshot& snapshot, double protect_s,
                  double now_wall_s);

// Until when accounts that had runs stopped in vain stop nobody, epoch seconds: for protect_s after
// the last time, twice as long for each earlier time within the day, and for a day at most.
std::map<std::string, double> bars(const std::vector<BookedStop>& stops, double protect_s,
                                   double now_wall_s);

}  // namespace slackline::core
