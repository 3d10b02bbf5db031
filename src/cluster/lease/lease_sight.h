// LeaseSight: what an observer knows of a Lease (cluster/lease/lease_watch.h). A plain value.
#pragma once

#include <string>

namespace slackline::cluster {

// client-go's and Slackline's default: a holder that has not renewed for this long has lost the
// Lease.
inline constexpr double kLeaseDuration_s = 15;

struct LeaseSight {
  bool exists = false;
  bool changed = false;                  // since the previous check
  std::string holder;                    // empty: it is free
  double unchanged_s = 0;                // how long every check has found the same, steady
  double duration_s = kLeaseDuration_s;  // unchanged for this long it is lost

  // Its holder, if there was one, no longer leads.
  bool lost() const { return unchanged_s >= duration_s; }
};

}  // namespace slackline::cluster
