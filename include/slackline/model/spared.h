// Spared: why a run is not stopped so that another task starts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace slackline {

enum class Spared : std::uint8_t {
  kNo,
  kStopsNobody,
  kUnplanned,
  kCalibration,
  kGangOfPods,
  kNotReplaced,
  kStarting,
  kEnding,
  kApiRefused,
  kNotPreemptible,
  kDisruptionBudget,
  kNotAsPlanned,
  kUrgent,
  kGuaranteed,
  kStoppedOften,
  kProtected,
  kNearItsEnd,
};

struct SparedFact {
  Spared spared;
  std::string_view code;
  std::string_view meaning;  // a clause for people, without a full stop
};

// The one that holds first counts.
inline constexpr std::array<SparedFact, 17> kSpared = {{
    {Spared::kNo, "", "it may be stopped, if that pays"},
    {Spared::kStopsNobody, "StopsNobody", "the policy, or this mode, stops nobody"},
    {Spared::kUnplanned, "Unplanned", "kube-scheduler runs it without a plan of Slackline"},
    {Spared::kCalibration, "Calibration", "a calibration run ends by itself when somebody waits"},
    {Spared::kGangOfPods, "GangOfPods", "a gang of pods would not come back as one"},
    {Spared::kNotReplaced, "NotReplaced", "no controller would make its pod again"},
    {Spared::kStarting, "Starting", "not all of its pods are on their nodes"},
    {Spared::kEnding, "Ending", "it, or a pod of it, ends or has ended"},
    {Spared::kApiRefused, "ApiRefused", "the API server refused to stop it a moment ago"},
    {Spared::kNotPreemptible, "NotPreemptible", "its queue is not preemptible"},
    {Spared::kDisruptionBudget, "DisruptionBudget", "a PodDisruptionBudget allows no more"},
    {Spared::kNotAsPlanned, "NotAsPlanned", "its pods hold other GPUs than planned"},
    {Spared::kUrgent, "Urgent", "it is of class urgent"},
    {Spared::kGuaranteed, "Guaranteed",
     "it started out of the share of those that waited too long"},
    {Spared::kStoppedOften, "StoppedOften", "it was stopped as often as the policy may"},
    {Spared::kProtected, "Protected", "it started less than `protect` of the policy ago"},
    {Spared::kNearItsEnd, "NearItsEnd", "it is expected to end within `protect`"},
}};

std::string_view to_string(Spared spared);     // the code
std::vector<std::string_view> spared_codes();  // without that of kNo, in this order

}  // namespace slackline
