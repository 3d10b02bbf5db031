// What kube-scheduler sends when it asks about a GPU pod of a large cluster.
#pragma once

#include <string>

namespace slackline::bench {

inline constexpr const char* kFilterPath = "/v1/extender/filter";
inline constexpr const char* kPrioritizePath = "/v1/extender/prioritize";

// As long as real ones: "gpu-node-00017.cluster.example.internal".
std::string node_name(int index);

// About the 5.6 kB of a pending GPU pod as the API server prints it, then `names` of the `nodes`
// names that there are.
std::string scheduler_call(int names, int nodes);

}  // namespace slackline::bench
