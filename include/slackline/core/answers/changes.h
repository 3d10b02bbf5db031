// changes: the single changes of a waiting task, or around it, that would help it. Each one is
// planned with, and played forward beside the unchanged task in the same futures; what helps
// nothing is not told.
//
// Pure; times are epoch seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/core/answers/explain.h"
#include "slackline/core/answers/trials.h"
#include "slackline/core/answers/variants.h"

namespace slackline::core {

enum class ChangeKind : std::uint8_t {
  kFewerGpus,
  kOtherType,
  kFreeShape,
  kLaterDeadline,
  kHigherClass,
  kGiveWay,
  kQuota,
};
// "FewerGpus", stable.
std::string_view to_string(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kFewerGpus;
  std::string what;               // for people: "gpu-types: A100"
  std::optional<ObjectKey> by{};  // of kGiveWay: the task that would be stopped
  Forecast outlook{};             // with the change
};

struct ChangeOptions {
  bool may_be_urgent = false;  // the one who asks may use the class
  Expected expected{};
  StopAsked stop{};  // what is not tried then is counted
};

struct Changes {
  std::vector<Change> helpful;        // the most helpful first
  std::optional<Forecast> unchanged;  // in the same futures; unset: it never starts, or no time
  int tried = 0;
  int not_tried = 0;  // for lack of time
};

// The Job or pod after the change; empty where the change is not one of the task itself. It is what
// the trial planned with.
struct Proposal {
  ChangeKind kind = ChangeKind::kFewerGpus;
  std::string what;
  Variant variant;
};
// Every change of the task itself that makes sense, smallest first within a kind.
std::vector<Proposal> proposals(const ExplainQuestion& question, const ChangeOptions& options);

// `queue` as it was made for `queue_options` (of the question's snapshot); `menus` as make_queue
// takes them.
Changes find_changes(const ExplainQuestion& question, const QueueOptions& queue_options,
                     const Policy& policy, TaskMenus& menus, const ChangeOptions& options);

}  // namespace slackline::core
