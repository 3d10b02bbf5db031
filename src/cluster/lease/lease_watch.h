// LeaseWatch: whether a replica leads, for those who do not take part in the election.
//
// A Lease that `slackline release --final` holds keeps nobody's planner alive: its own duration
// does not count.
//
// A check that failed, or that comes more than kMaxGap_s after the last one, starts the count
// again: an API server that cannot be reached keeps a living leader from renewing, too.
//
// Thread-safety: one call at a time.
#pragma once

#include "cluster/lease/lease_client.h"
#include "cluster/lease/lease_sight.h"
#include "cluster/lease/lease_sighting.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"

namespace slackline::cluster {

class LeaseWatch {
 public:
  static constexpr double kMaxGap_s = 10;

  LeaseWatch(ApiClient& client, const ObjectKey& key, double at_least_s = kLeaseDuration_s,
             const Clock& clock = system_clock());

  Result<LeaseSight> look();

 private:
  const ObjectKey key_;
  const double at_least_s_;
  const Clock& clock_;
  LeaseClient client_;
  LeaseSighting sighting_;
  double looked_s_ = 0;
};

}  // namespace slackline::cluster
