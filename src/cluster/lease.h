// LeaderElection: at most one replica plans, by a coordination.k8s.io Lease.
//
// Every replica looks at the Lease each retry_s. The holder renews it; anybody takes one that is
// free, or that has not changed for its duration on the taker's own steady clock: no time in the
// Lease is ever compared. A write carries the resourceVersion it was decided on, so of two takers
// one gets a conflict. The term is leaseTransitions, which grows with every taking, also by the
// same replica after a restart; every plan carries it (hand-over rule 2).
//
// A leader that could not renew within renew_within_s of its last renewal leads no more, though
// nobody may have noticed: before the Lease expires for others. A stopped leader frees the Lease.
//
// Thread-safety: start() once, then stop() and join(); term() at any time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/api_client.h"
#include "cluster/kube_source.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"
#include "wire/lease_codec.h"

namespace slackline::cluster {

struct LeaseOptions {
  ObjectKey key{"slackline-system", "slackline"};
  std::string identity;        // of this life of this replica; empty: host name and a random suffix
  double duration_s = 15;      // after which others take it
  double renew_within_s = 10;  // after which the holder gives up; less than duration_s
  double retry_s = 2;
};

class LeaderElection {
 public:
  // `changed` is told, on the election's thread, when this replica begins or ceases to lead; it
  // must not block.
  LeaderElection(KubeEndpoint endpoint, LeaseOptions options, std::function<void()> changed,
                 const Clock& clock = system_clock());

  void start() {
    worker_.start([this] { run(); });
  }
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }

  // The term in which this replica leads now; nullopt: it does not.
  std::optional<std::int64_t> term() const;
  // Who held the Lease when it was seen last; empty: nobody, or it has expired.
  std::string holder() const;

 private:
  void run();
  void look();
  Result<wire::LeaseRecord> read();
  void write(wire::LeaseRecord lease, double asked_s);
  void lead(std::optional<std::int64_t> term, double renewed_s);
  void hold(const std::string& holder);

  ApiClient client_;
  const LeaseOptions options_;
  const std::function<void()> changed_;
  const Clock& clock_;

  // Of the thread alone: the Lease as it was seen last, and since when it has been so.
  std::string seen_version_;
  double seen_since_s_ = 0;
  bool told_leading_ = false;

  mutable Mutex mutex_;
  std::optional<std::int64_t> term_ SLACKLINE_GUARDED_BY(mutex_);
  double renewed_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::string holder_ SLACKLINE_GUARDED_BY(mutex_);

  Worker worker_;  // last: its thread ends first
};

// Fails when the kubeconfig cannot be used.
Result<std::unique_ptr<LeaderElection>> make_leader_election(const KubeAccess& access,
                                                             LeaseOptions options,
                                                             std::function<void()> changed);

// How long ago the Lease was renewed, by its holder's and our wall clock: good enough for minutes.
// Infinity where there is none.
Result<double> lease_age_s(const KubeAccess& access, const ObjectKey& key, const Clock& clock);

}  // namespace slackline::cluster
