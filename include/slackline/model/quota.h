// ResourceQuota: what the pods of a namespace may ask for together (core/v1), as far as it concerns
// pods that Slackline plans. Immutable in a snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

struct QuotaLimit {
  // "pods", "count/pods" (ended ones too), "cpu" (milli), "memory" (bytes), or the name of a
  // resource with a domain, whose requests are limited ("nvidia.com/gpu").
  std::string resource;
  std::int64_t hard = 0;  // of the spec
  std::int64_t used = 0;  // of the status: as the API server counts it
};

struct ResourceQuota {
  Uid uid;
  ObjectKey key;
  std::vector<QuotaLimit> limits;    // sorted by resource; one may stand there twice
  bool needs_cpu_or_memory = false;  // scope NotBestEffort: pods that request one of them
  bool other_scopes = false;         // it may not apply to Slackline's pods: never planned against
  std::vector<std::string> must_state{};  // what each container must state: "limits.memory"; sorted
};

}  // namespace slackline
