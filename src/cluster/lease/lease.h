// LeaderElection: at most one replica plans, by a coordination.k8s.io Lease.
//
// Every replica looks at the Lease each retry_s. The holder renews it; anybody takes one that is
// free, or that has not changed for its duration (at least duration_s) on the taker's own steady
// clock: no time in the Lease is compared with a clock. A write carries the resourceVersion it was
// decided on, so of two takers one gets a conflict. The term is leaseTransitions, which grows with
// every taking, also by the same replica after a restart; every plan carries it
// (docs/RELIABILITY.md, rule 2).
//
// A leader that could not renew within renew_within_s of its last renewal stops leading, even if
// nobody has noticed: before the Lease expires for others. A stopped leader frees the Lease.
//
// Thread-safety: start() once, then stop() and join(); term() at any time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/lease/lease_client.h"
#include "cluster/lease/lease_sight.h"
#include "cluster/lease/lease_sighting.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/worker.h"
#include "wire/kube/lease_codec.h"

namespace slackline::cluster {

struct LeaseOptions {
  ObjectKey key{"slackline-system", "slackline"};
  std::string identity;  // of this life of this replica; empty: host name and a random suffix
  double duration_s = kLeaseDuration_s;  // after which others take it
  double renew_within_s = 10;            // after which the holder gives up; less than duration_s
  double retry_s = 2;
};

// Of this machine; in a pod, the pod's name.
std::string host_name();

// The leadership of this replica: its term, and since when on its own steady clock.
struct Leadership {
  std::int64_t term = 0;
  double since_s = 0;
};

class LeaderElection {
 public:
  // `changed` is called, on the election's thread, when this replica begins or ceases to lead; it
  // must not block. `client` outlives it.
  LeaderElection(ApiClient& client, LeaseOptions options, std::function<void()> changed,
                 const Clock& clock = system_clock());

  void start() {
    worker_.start([this] { run(); });
  }
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }

  // One check by the thread; and its last act: freeing the Lease if this replica holds it.
  void look();
  void step_down();

  // The term in which this replica leads now; nullopt: it does not.
  std::optional<std::int64_t> term() const;
  std::optional<Leadership> leadership() const;
  // The holder of the Lease when it was last seen; empty: nobody, or it has expired.
  std::string holder() const;

 private:
  void run();
  void write(wire::LeaseRecord lease, double asked_s);
  void lead(std::optional<std::int64_t> term, double renewed_s);
  void hold(const std::string& holder);

  const LeaseOptions options_;
  const std::function<void()> changed_;
  const Clock& clock_;

  // Used by the thread only:
  LeaseClient client_;
  LeaseSighting sighting_;
  bool told_leading_ = false;

  mutable Mutex mutex_;
  std::optional<std::int64_t> term_ SLACKLINE_GUARDED_BY(mutex_);
  double renewed_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  double since_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;  // of the term
  std::string holder_ SLACKLINE_GUARDED_BY(mutex_);

  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::cluster
