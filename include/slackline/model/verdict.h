// Verdict: whether a node can take a pod, and why not. "Cannot be scheduled" is a value, not an
// error.
//
// The vocabulary is fixed and free of numbers, because kube-scheduler counts nodes by identical
// text; REST reports what differs per node.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace slackline {

enum class Verdict : std::uint8_t {
  kPass,
  // Preemption or time may help (FailedNodes):
  kHeldForOthers,     // free minus holds of equal or higher rank is too small
  kInsufficientGpus,  // a resource that only Slackline counts is used up
  kNotPlanned,        // the pod's live plan names other nodes
  kNotYetObserved,    // the node is not in the cache, and only Slackline counts the resource
  // Nothing on that node will help (FailedAndUnresolvableNodes):
  kGpuTypeNotAccepted,  // gpu-types does not list the node's type
  kGpuTypeUnknown,      // gpu-types is given and the node has no known type
  kNodeTooSmall,        // fewer GPUs in all than one pod asks for
  kNodeUnreadable,      // the node's resources could not be parsed
};

inline constexpr std::size_t kVerdictCount = 9;

constexpr bool passes(Verdict verdict) {
  return verdict == Verdict::kPass;
}
// True where kube-scheduler need not try preemption on that node.
constexpr bool unresolvable(Verdict verdict) {
  return verdict >= Verdict::kGpuTypeNotAccepted;
}

// The sentence kube-scheduler shows ("0/4 nodes are available: 4 GPUs are held for ...").
std::string_view message(Verdict verdict);
// The stable code for metrics, journal and REST ("HeldForOthers").
std::string_view code(Verdict verdict);

}  // namespace slackline
