// LeaseSight: what an onlooker knows of a Lease (cluster/lease/lease_watch.h). A plain value.
#pragma once

#include <string>

namespace slackline::cluster {

// client-go's, and ours: a holder that has not renewed for so long has lost the Lease.
inline constexpr double kLeaseDuration_s = 15;

struct LeaseSight {
  bool exists = false;
  bool changed = false;    // since the look before
  std::string holder;      // empty: it is free
  double unchanged_s = 0;  // how long every look has found the same, on the own steady clock
  double duration_s = kLeaseDuration_s;  // unchanged for so long it is lost

  // Its holder, if there was one, leads no more.
  bool lost() const { return unchanged_s >= duration_s; }
};

}  // namespace slackline::cluster
