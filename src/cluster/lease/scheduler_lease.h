// SchedulerLease: since when the kube-scheduler of this host holds its Lease, for whoever gives
// something away only next to it (control/serve/share_account.h).
//
// kube-scheduler calls itself HOST_UUID; in a pod HOST is the pod's name, for all its containers.
// Its term is believed until the Lease's duration after a renewal that was seen, on this host's
// steady clock: a renewal is at least as young as the look before the one that first showed it. So
// the term ends here before anybody else can take the Lease, also if kube-scheduler or this process
// was stopped meanwhile and does not know it.
//
// Thread-safety: start() once, then stop() and join(); since() and holder() at any time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cluster/lease/lease_client.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"

namespace slackline::cluster {

// HOST of what kube-scheduler calls itself.
std::string host_of(const std::string& identity);

// What successive looks at a Lease tell of its holder. Pure; not thread-safe.
class SeenTerm {
 public:
  // The Lease, requested at `asked_s` and here at `answered_s`; steady, never decreasing.
  void see(const wire::LeaseRecord& lease, double asked_s, double answered_s);
  // There is no Lease.
  void see_none() { *this = {}; }

  // Empty: nobody, or it has not been seen.
  const std::string& holder() const { return lease_.holder; }
  // Since when this one has been seen to hold it; nullopt: no renewal was seen, or too long ago.
  std::optional<double> since(double now_s) const;

 private:
  wire::LeaseRecord lease_;
  double since_s_ = 0;
  double asked_s_ = 0;               // the last look
  std::optional<double> renewed_s_;  // not later than the last renewal
};

class SchedulerLease {
 public:
  static constexpr double kLook_s = 1;

  // `looked` is called after every look, on its thread. `client` outlives it.
  SchedulerLease(ApiClient& client, ObjectKey key, std::string host, std::function<void()> looked,
                 const Clock& clock = system_clock());

  void start();
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }
  // One look, by the thread.
  void look();

  // Since when the kube-scheduler of this host holds it, steady; or why it does not.
  Result<double> since() const;
  // On which host the kube-scheduler is that holds it; empty: it is not known.
  std::string host_of_holder() const;

 private:
  const ObjectKey key_;
  const std::string host_;
  const std::function<void()> looked_;
  const Clock& clock_;
  LeaseClient client_;  // used by the thread only

  mutable Mutex mutex_;
  SeenTerm term_ SLACKLINE_GUARDED_BY(mutex_);
  std::string trouble_ SLACKLINE_GUARDED_BY(mutex_);  // of the last look; empty: none

  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::cluster
