// LeaseClient: reads and writes one coordination.k8s.io Lease.
//
// Thread-safety: one call at a time.
#pragma once

#include "cluster/api/api_client.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/model/ids.h"
#include "wire/kube/lease_codec.h"

namespace slackline::cluster {

class LeaseClient {
 public:
  LeaseClient(ApiClient& client, ObjectKey key, const Clock& clock)
      : client_(client), key_(std::move(key)), clock_(clock) {}

  // kNotFound: there is none.
  Result<wire::LeaseRecord> read();
  // Creates the Lease if `lease` has no resourceVersion, else replaces the one that has it. Returns
  // the stored one. kConflict: somebody else was first. After any other error it may have happened.
  Result<wire::LeaseRecord> write(wire::LeaseRecord lease);

 private:
  ApiClient& client_;
  const ObjectKey key_;
  const Clock& clock_;
};

}  // namespace slackline::cluster
