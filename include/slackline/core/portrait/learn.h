// How a portrait learns, and how it is scored.
//
// Adding is pure and repeatable: a run that the portrait still remembers (`past`) replaces what it
// said before and is not counted again, so that a correction may tell it once more. A run that
// ended before all of 32 remembered ones is taken as counted. Runs that come in another order make
// the same portrait, but for `version`, `time_errors` and the rounding of sums, as long as none
// comes later than 31 that ended after it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "slackline/model/portrait.h"

namespace slackline::core {

inline constexpr std::size_t kEvidenceRuns = 3;   // the last ones of a GPU type
inline constexpr std::size_t kEvidenceTypes = 4;  // GPU types whose last runs are kept
inline constexpr std::size_t kPastRuns = 32;
inline constexpr std::size_t kShortages = 3;
inline constexpr double kLeastEvidence_s = 30 * 60;  // a run must be longer, by default
// A resized run that takes this many times as long as expected was made too small.
inline constexpr double kTooSlow = 1.15;
// The part of a run that must have been measured for its numbers to count.
inline constexpr double kLeastCoverage = 0.5;

// Whether a run says what its family needs: it succeeded and took long enough. A run that failed
// may have waited for its end with idle GPUs.
bool is_evidence(const PortraitRun& run, double least_s = kLeastEvidence_s);

// What a resized run shows of its size; kNone: nothing, or that it was large enough. One that
// others stopped meanwhile does not show that it was slow.
ResizeFailure failure_of(const PortraitRun& run);

// The part of the run in which `usage` was measured, 0..1.
double coverage(const PortraitRun& run, const std::optional<Usage>& usage);

// One window of a run, for the histograms alone; each is given once. GPUs that others shared are
// left out: the numbers are the device's.
void observe(Portrait& portrait, const UsageSample& window);

// A run that is over, for everything but the histograms. `least_s`: as is_evidence() takes it.
void add_run(Portrait& portrait, const PortraitRun& run, double least_s = kLeastEvidence_s);

// A resized run that is not over: it was stopped, and goes on as written. Repeatable.
void add_rollback(Portrait& portrait, const ResizeRollback& rollback);

// Whether the portrait still remembers the run.
bool remembers(const Portrait& portrait, const Uid& run);

// When something was last learnt of the family, epoch seconds: of windows alone to seven days.
double last_seen_s(const Portrait& portrait);

// The last runs on this GPU type that are evidence, oldest first: of the image that ran last; where
// it has none yet, of those before it.
std::vector<const PortraitRun*> evidence_on(const Portrait& portrait, const GpuType& gpu_type);

// The score, 0..1: mean GPU utilisation of the last three runs that are evidence, on the GPU type
// of the latest. nullopt: it was measured in none of them.
std::optional<double> score_of(const Portrait& portrait);

// 1 + floor(9 x score), 1..10; 5 where it is unknown. The higher, the better the family uses what
// it gets.
inline constexpr int kUnknownLevel = 5;
int level_of(std::optional<double> score);
// The level of a family, for whoever ranks tasks by it: policies (PlanTask::level), bands, REST.
// null: nothing is known of it.
int level_of(const Portrait* portrait);

}  // namespace slackline::core
