// StreamBoard: the signs of life of the watches, and what ails them, for health().
//
// Thread-safety: all methods.
#pragma once

#include <array>
#include <string>

#include "cluster/watch/resource.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/model/snapshot.h"

namespace slackline::cluster {

class StreamBoard {
 public:
  // `believes_all`: what tells whom to believe is not watched.
  StreamBoard(const Clock& clock, double stale_after_s, bool believes_all = false);

  // The server spoke: an answer, a frame, a bookmark. Ends the trouble.
  void alive(wire::KubeKind kind);
  // True when this is news: a trouble of another kind than the one already known.
  bool trouble(wire::KubeKind kind, std::string_view reason, std::string detail);

  // Of the required resources; a trouble of an optional one is not told here.
  CacheHealth health(bool synced) const;

 private:
  struct Entry {
    double alive_s = 0;
    std::string reason;  // empty = well
    std::string detail;
  };

  const Clock& clock_;
  const double stale_after_s_;
  const bool believes_all_;
  mutable Mutex mutex_;
  std::array<Entry, kResources.size()> entries_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::cluster
