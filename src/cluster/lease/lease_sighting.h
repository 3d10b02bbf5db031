// LeaseSighting: how long a Lease has been seen unchanged, on the observer's steady clock.
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

// After how long without a change the Lease is lost: its own duration, but at least `at_least_s`
// and at most an hour, so that no typing error stops planning forever.
double lease_duration_s(const wire::LeaseRecord& lease, double at_least_s);

class LeaseSighting {
 public:
  // The record that was read between `asked_s` and `answered_s`; nullopt: there is no Lease, which
  // is a record like any other. True if it differs from the last one.
  bool see(const std::optional<wire::LeaseRecord>& lease, double asked_s, double answered_s);
  // This replica wrote it, or could not read it: the count starts again.
  void forget() { seen_ = false; }

  // Since the first check that found the same as the last one; 0 after only one check.
  double unchanged_s() const { return seen_ ? asked_s_ - since_s_ : 0; }

 private:
  bool seen_ = false;
  std::string record_;
  double since_s_ = 0;  // when the answer with this record was in
  double asked_s_ = 0;  // when it was last requested
};

}  // namespace slackline::cluster
