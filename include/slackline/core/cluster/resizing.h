// Resizing: what the past of its family makes of what a Job asks for (docs/RIGHT-SIZING.md). The
// one answer for the planner, the queue, `placements`, the webhook and the portraits.
//
// Advice (core/portrait/advice.h) is given for every GPU type that the Job may run on and on which
// its own family has evidence. It is applied where the mode is auto, unless
//   - the Job was made too small before, or a run of the family was within seven days
//   - the first resized run of the family has not ended well yet, and is another Job: the one that
//     runs so, else the oldest that waits
//   - the Job asks for something else than the family's last run: a person has changed it, and the
//     next run shows what it needs
//
// GPUs are changed only where the Job allows other shapes (`placements`), CPU and memory only of
// the template's single container, and no amount is added that is not there, nor one written that a
// LimitRange of the namespace refuses. Amounts change by a tenth at least. Requests that equal
// their limits stay equal.
//
// Pure. Times are epoch seconds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "slackline/core/cluster/situation.h"
#include "slackline/core/planning/cost.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/core/portrait/advice.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr double kResizeFrozen_s = 7 * 24 * 3600.0;
inline constexpr double kLeastChange = 0.1;  // of an amount that is asked for

// The advice is there, and a change of that much.
bool matters(const std::optional<AmountAdvice>& advice);

// The mode of a Job: its annotation, else its namespace's, else its queue's, else the
// configuration's.
ResizeMode resize_mode(const ClusterSnapshot& snapshot, const QueueRulebook* queues,
                       const std::string& ns, const TaskIntent& intent);

// Why advice is not applied.
enum class ResizeHold : std::uint8_t {
  kNone,
  kAdvise,
  kTooSmall,
  kFrozen,
  kTrial,
  kAskedAnew,
  kOthersChanged,
};
// "", "advise", "tooSmall", "frozen", "trial", "askedAnew", "othersChanged"
std::string_view to_string(ResizeHold hold);

// On one GPU type.
struct SizedType {
  GpuType gpu_type;
  Advice advice;
  double expected_s = 0;  // of the run in the advised shape, by the family's past; 0: not known
  // What is applied; nullopt: it stays as written.
  std::optional<Placement> shape;
  std::optional<ContainerAmounts> amounts;

  bool changes() const { return shape || amounts; }
};

struct Resizing {
  ResizeMode mode = ResizeMode::kAdvise;
  ResizeHold hold = ResizeHold::kNone;
  bool trial = false;            // its run would be the first resized one of its family
  Placement asked;               // as written
  std::vector<SizedType> types;  // never empty; by preference, then as pools are

  // nullptr: nothing is known of runs there.
  const SizedType* on(const GpuType& type) const;
  bool changes() const;
};
using ResizingPtr = std::shared_ptr<const Resizing>;

class Resizer {
 public:
  // Both outlive it. O(jobs) where portraits are known.
  Resizer(const ClusterSnapshot& snapshot, const Situation& situation);

  ResizeMode mode_of(const Job& job, const TaskIntent& intent) const;
  // Null: the mode is off, or the family's past says nothing. The Job need not be in the snapshot.
  ResizingPtr of(const Job& job, const TaskIntent& intent) const;

 private:
  struct Question;
  Question ask(const Job& job, const TaskIntent& intent, const PortraitPtr& portrait) const;
  std::vector<const Pool*> accepted_pools(const Question& question) const;
  // `trial` becomes true where the run would be one.
  ResizeHold hold_of(const Question& question, bool& trial) const;
  SizedType sized(const Question& question, const Pool& pool) const;
  // By a LimitRange of its namespace, once its container has these amounts.
  bool would_be_refused(const Job& job, const ContainerAmounts& amounts) const;
  std::vector<ShapeOffer> offers(const Question& question, const Pool& pool) const;

  const ClusterSnapshot& snapshot_;
  const Situation& situation_;
  std::vector<Pool> pools_;
  // By key of their family: Jobs that run resized, that wait to be, and whether one was too small.
  std::map<std::string, Uid> running_trial_;
  std::map<std::string, JobPtr> oldest_waiting_;
  std::unordered_set<std::string> too_small_;
};

// Of a run that is planned: what its plan says. Null: it was not resized.
std::vector<std::pair<GpuType, Placement>> sized_by(const PlanNote& plan);
// Where it is to run in another shape; empty: as written.
std::vector<std::pair<GpuType, Placement>> sized_by(const Resizing& resizing);

// What a pod of the Job may ask for at most on any of its GPU types.
PodPtr resized_member(const PodPtr& written, const Job& job, const Resizing& resizing);

// The amounts of a container by advice for its pod; as written where that changes less than a
// tenth.
ContainerAmounts advised_amounts(const ContainerAmounts& written, const Advice& advice);

// For people, of the first type: "asks for 4 GPUs; the last 3 runs used 1.2 of 4 GPUs ...". Empty:
// all that is asked for is used.
std::vector<std::string> suggestions(const Resizing& resizing);

}  // namespace slackline::core
