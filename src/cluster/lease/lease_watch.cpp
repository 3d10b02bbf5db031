#include "cluster/lease/lease_watch.h"

#include <optional>
#include <utility>

#include "cluster/api/removal.h"

namespace slackline::cluster {

LeaseWatch::LeaseWatch(ApiClient& client, const ObjectKey& key, double at_least_s,
                       const Clock& clock)
    : key_(key), at_least_s_(at_least_s), clock_(clock), client_(client, key, clock) {}

Result<LeaseSight> LeaseWatch::look() {
  const double asked_s = clock_.steady_s();
  const auto lease = client_.read();
  const bool none = !lease && lease.error().code == ErrorCode::kNotFound;
  if (!lease && !none) {
    sighting_.forget();
    return fail(lease.error().with_context("reading the Lease " + key_.str()));
  }
  if (asked_s > looked_s_ + kMaxGap_s) sighting_.forget();
  looked_s_ = clock_.steady_s();
  LeaseSight sight;
  sight.changed = sighting_.see(none ? std::nullopt : std::optional(*lease), asked_s, looked_s_);
  sight.exists = !none;
  sight.unchanged_s = sighting_.unchanged_s();
  sight.duration_s = at_least_s_;
  if (none) return sight;
  sight.holder = lease->holder;
  // An uninstallation that was given up holds it for an hour, and plans nothing.
  if (lease->holder != Removal::kHolder) sight.duration_s = lease_duration_s(*lease, at_least_s_);
  return sight;
}

}  // namespace slackline::cluster
