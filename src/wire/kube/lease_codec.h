// coordination.k8s.io/v1 Lease: which replica plans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"

namespace slackline::wire {

struct LeaseRecord {
  std::string holder;  // empty: free
  double duration_s = 15;
  std::int64_t transitions = 0;
  double renewed_s = 0;          // epoch seconds, by its holder's clock; for people
  std::string resource_version;  // empty: it does not exist yet
};

Result<LeaseRecord> decode_lease(std::string_view json);

// With its resourceVersion as the precondition, if it has one.
std::string encode_lease(const ObjectKey& key, const LeaseRecord& lease);

}  // namespace slackline::wire
