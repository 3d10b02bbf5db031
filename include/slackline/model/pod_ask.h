// PodAsk: what the containers of a pod ask for, and what that makes of the pod, computed as
// Kubernetes computes it (component-helpers, resource.PodRequests):
//
//   running = sum over containers and sidecars (init containers with restartPolicy Always)
//   init    = max over init containers of itself plus the sidecars started before it
//   request = max(running, init), pod-level resources instead where given, plus overhead
#pragma once

#include <cstdint>
#include <vector>

#include "slackline/model/resources.h"

namespace slackline {

struct ContainerAsk {
  enum class Kind : std::uint8_t { kMain, kSidecar, kInit };
  Kind kind = Kind::kMain;
  Resources requests{};  // a request that is absent is its limit, as the API's defaults have it
  Resources limits{};
  bool zero = false;  // it states 0 of CPU or memory, which these do not tell from nothing
};

struct PodAsk {
  std::vector<ContainerAsk> containers{};  // those of one kind in their order
  Resources level_requests{};              // pod-level resources
  Resources level_limits{};
  Resources overhead{};
};

Resources requests_of(const PodAsk& ask);
// Of all containers, without pod-level resources and overhead.
Resources sum_of_requests(const PodAsk& ask);
Resources sum_of_limits(const PodAsk& ask);

// 2^50: no sum of a cluster's amounts can overflow.
inline constexpr std::int64_t kMaxAmount = std::int64_t{1} << 50;

}  // namespace slackline
