// The order in which pods of one task get their nodes where they differ: the largest first.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/pod.h"

namespace slackline::core {

// `pods`: pointers; equal ones keep their order.
template <class Pods>
void sort_largest_first(Pods& pods) {
  const auto size = [](const Pod& pod) {
    return std::tuple(primary_gpu_count(pod.requests), pod.requests.cpu_milli,
                      pod.requests.memory_bytes);
  };
  std::stable_sort(pods.begin(), pods.end(),
                   [&](const auto& a, const auto& b) { return size(*a) > size(*b); });
}

}  // namespace slackline::core
