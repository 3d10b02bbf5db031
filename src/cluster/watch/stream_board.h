// StreamBoard: the last sign of life and the last error of each watch, for health().
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
  // `believes_all`: the resources that decide whose keys count are not watched.
  StreamBoard(const Clock& clock, double stale_after_s, bool believes_all = false);

  // A sign of life: an answer, a frame, a bookmark. Ends the trouble.
  void alive(wire::KubeKind kind);
  // True if this trouble is of another kind than the known one.
  bool trouble(wire::KubeKind kind, std::string_view reason, std::string detail);

  // Of the required resources; not of optional ones.
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
