// LeaseSighting: how long a Lease has been seen unchanged, on the own steady clock.
//
// The times in a Lease are another machine's wall clock: they are compared with themselves only.
// Whoever holds a Lease renews it, and every renewal changes the record; a record that has not
// changed for its duration has been lost by its holder, whatever any wall clock says.
//
// Pure; not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "wire/kube/lease_codec.h"

namespace slackline::cluster {

// After how long without a change the Lease is lost: what it says itself, but not less than
// `at_least_s`, and not more than an hour: nobody's typing error stops planning for ever.
double lease_duration_s(const wire::LeaseRecord& lease, double at_least_s);

class LeaseSighting {
 public:
  // What was read between `asked_s` and `answered_s`; nullopt: there is no Lease, which is a record
  // like any other. True where it differs from the last one.
  bool see(const std::optional<wire::LeaseRecord>& lease, double asked_s, double answered_s);
  // We wrote it ourselves, or could not look: what follows is counted anew.
  void forget() { seen_ = false; }

  // Since the first look that found what the last one found; 0 where there was one look only.
  double unchanged_s() const { return seen_ ? asked_s_ - since_s_ : 0; }

 private:
  bool seen_ = false;
  std::string record_;
  double since_s_ = 0;  // when the answer with this record was in
  double asked_s_ = 0;  // when it was asked for last
};

}  // namespace slackline::cluster
