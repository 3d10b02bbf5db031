// TaskMenu: the placements in which a task of the live cluster may run, with their run times.
//
// Shapes. A task as written is `pods` pods of `gpus` GPUs each; its pods may share nodes evenly, so
// P pods of g GPUs offer the placements P/p x p g for every p that divides P. Where the task allows
// `placements` and names a model, each of its pods gets a node of its own and the shape is chosen:
// the node count only where the Job can change it (Indexed, parallelism = completions), the GPU
// count only where one container asks for GPUs.
//
// Pods that differ are packed one by one (PlanTask::mixed): one placement, their GPUs counted in
// the largest unit that all of them are multiples of. 8+2+1 GPUs are 11x1, and 8+4+4 are 4x4.
//
// Times. They come from the predictor, with the error that the model claims. If it does not know
// the model: `expected-duration`, for the written shape, on the types on which that says anything
// (stated_duration.h); on others it is taken to be kMostSlower times as long, and as uncertain as
// an unknown one. Else, for the written shape, what the family's own past says
// (core/portrait/run_time.h), with the interval that it has earned; on types on which it never ran
// the time of its last run, as uncertain as an unknown one. A family without a past borrows that of
// the nearest one of its namespace, as a guess. Else the time is unknown, and policies use
// kUnknownRun_s.
//
// Right-sizing (TaskRequest::sized). A model's placements with more GPUs are left out. Without a
// model the shape that was written is replaced by another one, which takes what the family took on
// as many GPUs; where it never ran on as many, what it took on those that were written.
//
// Types. `gpu-types` in order of preference; a type without nodes is skipped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/core/planning/menu.h"
#include "slackline/core/portrait/book.h"
#include "slackline/core/portrait/run_time.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/model/constraints.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

inline constexpr double kUnknownRun_s = 3600;
// Assumed standard deviations of ln(observed / stated): of times that people state, and of
// kUnknownRun_s. 9 of 10 runs end within 0.7 to 1.4 times, and within a fifth to five times as
// long.
inline constexpr double kStatedError = 0.2;
inline constexpr double kUnknownError = 1;
inline constexpr double kNineInTen = 1.2815515655446004;  // of these: nine of ten end before it
// On a type of which nobody knows how fast it is: the known one is not left for it without need.
inline constexpr double kMostSlower = 3;

// The request of a task, as it was written.
struct TaskRequest {
  std::string resource;  // of its GPUs
  std::int64_t pods = 1;
  std::int64_t gpus = 1;  // of one pod
  bool nodes_may_change = false;
  bool gpus_may_change = false;
  KnownPast past{};  // of its family, or of a similar one
  // Right-sizing: on nodes of these GPU types it runs in this shape, where its run time is
  // predicted by its model with as many GPUs at most. Each type once.
  std::vector<std::pair<GpuType, Placement>> sized{};
  OwnSpread spread{};  // of its pods, as written
  // It is ended by then, in seconds of its run: LengthSource::kAtMost where nothing else is known.
  std::optional<std::int64_t> limit_s{};
  // Where its pods differ: the GPUs of each, the largest first. `gpus` is then the first.
  std::vector<std::int64_t> of_each{};
  // GPU types of which no node takes its pods, by rules of their own, such as a node selector.
  std::vector<GpuType> out_of_reach{};

  std::int64_t all_gpus() const;
  std::optional<Placement> sized_on(const GpuType& type) const;
};

// Where the run time of a task comes from.
enum class LengthSource : std::uint8_t {
  kUnknown,
  kModel,
  kStated,        // for the types on which it runs
  kStatedForAll,  // people named no type: its types are taken as equal
  kHistory,
  kSimilar,  // the past of the nearest family, before the first run of its own
  kAtMost,   // an upper bound: Kubernetes ends it by then
};
// "", "model", "expected-duration", "expected-duration-for-all-types", "history", "similar",
// "at-most"
std::string_view to_string(LengthSource source);

constexpr bool is_stated(LengthSource source) {
  return source == LengthSource::kStated || source == LengthSource::kStatedForAll;
}

constexpr bool is_past(LengthSource source) {
  return source == LengthSource::kHistory || source == LengthSource::kSimilar;
}

// True if Slackline may change the shape at all: by a model, or by right-sizing.
bool shape_may_change(const TaskIntent& intent, const TaskRequest& request);
// True if Slackline chooses the shape.
bool shape_is_free(const TaskIntent& intent, const TaskRequest& request);

struct TaskMenu {
  std::shared_ptr<const PlacementMenu> menu;  // never null; empty: there is no node for the task
  std::vector<PoolIndex> preference;          // as PlanTask::preference
  std::optional<double> lat11_s;              // of reference_run() (eq 9)
  double error = 0;  // of the fastest placement, as Estimate::error; 0 without a model
  LengthSource length = LengthSource::kUnknown;
};

// As Estimate::error.
double error_of(const RunTimeFromHistory& time);

// The model's estimate of a run in this shape; nullopt if it has none, or the intent gives no
// iterations. Its pool is 0.
std::optional<Estimate> predicted_run(const PreparedModel& model, const TaskIntent& intent,
                                      const Placement& shape);

// Menus made so far, for one set of pools and one predictor; equal requests share one menu.
class TaskMenus {
 public:
  TaskMenus() = default;
  // `cluster_types`: as reference_run() takes them.
  TaskMenus(std::vector<Pool> pools, std::vector<GpuType> cluster_types, GpuCatalog catalog,
            std::shared_ptr<const Predictor> predictor, double theta);

  bool made_for(const std::vector<Pool>& pools, const std::vector<GpuType>& cluster_types,
                const Predictor* predictor, double theta) const {
    return predictor_.get() == predictor && theta_ == theta && pools_ == pools &&
           cluster_types_ == cluster_types;
  }
  const std::vector<Pool>& pools() const { return pools_; }
  const TaskMenu& of(const TaskIntent& intent, const TaskRequest& request);

  // The content of a menu: every placement that may be planned, by preference of its type.
  struct Offers {
    std::vector<Estimate> estimates;
    LengthSource length = LengthSource::kUnknown;
    std::vector<PoolIndex> pools;  // that are accepted, by preference
    bool any_type = false;
  };
  Offers offers(const TaskIntent& intent, const TaskRequest& request) const;

 private:
  TaskMenu make(const TaskIntent& intent, const TaskRequest& request) const;
  // `pools` by preference.
  std::vector<Estimate> by_model(const std::vector<PoolIndex>& pools, const TaskIntent& intent,
                                 const TaskRequest& request) const;
  // Stated, or unknown.
  void add_by_word(const TaskIntent& intent, const TaskRequest& request, Offers& offers) const;
  // Empty: its past says nothing of any of them.
  std::vector<Estimate> by_history(const std::vector<PoolIndex>& pools, const TaskIntent& intent,
                                   const TaskRequest& request) const;
  // Of a task whose run time no model predicts.
  static std::vector<Placement> written_shapes(const TaskIntent& intent, const TaskRequest& request,
                                               const Pool& pool);
  RunTimeRatio model_ratio(const TaskIntent& intent, int gpus, const Pool& pool) const;
  std::vector<Placement> shapes(const TaskIntent& intent, const TaskRequest& request,
                                const Pool& pool) const;

  std::vector<Pool> pools_;
  std::vector<GpuType> cluster_types_;
  GpuCatalog catalog_;
  std::shared_ptr<const Predictor> predictor_;
  double theta_ = kDefaultTheta;
  std::map<std::string, TaskMenu> made_;
};

}  // namespace slackline::core
