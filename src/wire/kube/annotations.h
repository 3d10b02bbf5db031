// Reads the annotations and labels that people write (docs/OPERATIONS.md).
//
// What cannot be read is left unset and named in TaskIntent::problems: key, value and remedy. An
// unknown key with Slackline's prefix is such a problem, because it usually is a typing error.
// Pure.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/contract.h"
#include "slackline/model/task_intent.h"

namespace slackline::wire {

using contract::kGate;
using contract::kManagedLabel;
using contract::kPrefix;
inline constexpr std::string_view kKueueQueueLabel = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kKueuePodSetLabel = "kueue.x-k8s.io/podset";  // it wrote that
inline constexpr std::string_view kKueueLimitLabel = "kueue.x-k8s.io/max-exec-time-seconds";

using TextPairs = std::vector<std::pair<std::string_view, std::string_view>>;

// Null if neither map has a key that belongs to an intent. `gang` and `queue` are labels, the rest
// annotations; Kueue's queue label is read if Slackline's is absent.
std::shared_ptr<const TaskIntent> read_intent(const TextPairs& annotations,
                                              const TextPairs& labels);

// The `plan` annotation: {"id","epoch","shape":"2x4","type","nodes":[...],"promoted"}.
Result<PlanNote> read_plan(std::string_view text);

}  // namespace slackline::wire
