// NearEnds: since when runs have been close to their ends, as they show them by themselves.
//
// A run that is about to end is not stopped. Its end follows what it reports of its progress, and a
// run whose reports promise its end again and again would never be stopped. So the end that a run
// shows when it is first near is remembered; the protection lasts until then, a minute at least,
// once an attempt. For a planner that starts with an empty memory it begins again.
//
// Deterministic. Times are epoch seconds.
#pragma once

#include <optional>
#include <unordered_map>

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

class NearEnds {
 public:
  // After a plan: remembers the running tasks of the queue that end within `protect_s`, and forgets
  // tasks that do not run.
  void see(const Queue& queue, double protect_s, double now_s);

  // Of the attempt that started then: `protect_s` before the end that it showed first, or a little
  // later. nullopt: its end has not been near yet.
  std::optional<double> since_s(const Uid& task, double started_s) const;

 private:
  struct NearEnd {
    double started_s = 0;
    double since_s = 0;
  };

  std::unordered_map<Uid, NearEnd> ends_;
};

}  // namespace slackline::core
