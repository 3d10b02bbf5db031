#include "slackline/core/cluster/as_planned.h"

#include <algorithm>
#include <map>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/disrupted_jobs.h"

namespace slackline::core {
namespace {

// What the pods of a run hold: the same on each of these nodes, at least.
struct HeldPlace {
  Placement shape;
  std::vector<NodeName> nodes;
};

// nullopt: a pod is missing, or all have ended.
std::optional<HeldPlace> held_place(const QueueTask& task) {
  if (!task.is_planned()) return std::nullopt;
  if (!task.pods.empty() && !has_planned_pods(task)) return std::nullopt;
  std::map<NodeName, std::int64_t> gpus;
  for (const PodPtr& pod : task.bound)
    if (!pod->terminal()) gpus[pod->node] += pod->requests.gpu_count(task.request.resource);
  if (gpus.empty()) return std::nullopt;
  HeldPlace held;
  std::int64_t least = gpus.begin()->second;
  for (const auto& [node, count] : gpus) {
    held.nodes.push_back(node);
    least = std::min(least, count);
  }
  if (least < 1) return std::nullopt;
  held.shape = clamped_placement(std::ssize(held.nodes), least);
  return held;
}

const Choice* find_choice(const TaskMenu& menu, const std::vector<Pool>& pools,
                          const Placement& shape, const GpuType& type) {
  for (const Choice& choice : menu.menu->all)
    if (choice.shape == shape && pools[choice.pool].type == type) return &choice;
  return nullptr;
}

// As if it had asked for just that.
TaskMenu menu_of_place(const QueueTask& task, const Placement& shape, TaskMenus& menus) {
  TaskIntent intent = *task.intent;
  intent.gpu_types.clear();
  if (!task.plan->gpu_type.empty()) intent.gpu_types.push_back(task.plan->gpu_type);
  intent.any_placement = false;
  intent.placements.clear();
  TaskRequest request = task.request;
  request.pods = shape.d_node;
  request.gpus = shape.d_gpn;
  request.nodes_may_change = request.gpus_may_change = false;
  request.sized.clear();
  return menus.of(intent, request);
}

std::shared_ptr<const PlacementMenu> in_proportion(const PlacementMenu& menu, double ratio,
                                                   const std::vector<Pool>& pools, double theta) {
  std::vector<Estimate> estimates;
  for (const Choice& choice : menu.all)
    estimates.push_back({choice.pool, choice.shape, choice.throughput_samples_per_s / ratio,
                         choice.work_s * ratio, choice.startup_s, choice.error});
  return std::make_shared<const PlacementMenu>(make_menu(estimates, pools, {.theta = theta}));
}

std::optional<PlannedRun> run_on(const ClusterSnapshot& snapshot, const Placement& shape,
                                 const GpuType& gpu_type, const std::vector<NodeName>& names,
                                 const PlacementMenu& menu, const std::vector<QueuePool>& pools) {
  for (ChoiceIndex i = 0; i < menu.all.size(); ++i) {
    const Choice& choice = menu.all[i];
    const QueuePool& pool = pools[choice.pool];
    if (choice.shape != shape || pool.pool.type != gpu_type) continue;
    PlannedRun run{i, {}};
    for (const NodeName& name : names) {
      const auto index = snapshot.find_node(name.str());
      if (!index) return std::nullopt;
      const auto at = std::lower_bound(pool.nodes.begin(), pool.nodes.end(), *index);
      if (at == pool.nodes.end() || *at != *index) return std::nullopt;
      run.nodes.push_back(static_cast<PoolNode>(at - pool.nodes.begin()));
    }
    return run;
  }
  return std::nullopt;
}

// A node for each unit of the GPUs of its pods (planning/mixed_pods.h); nullopt for more units than
// a shape has.
std::optional<PlannedRun> run_of_mixed(const ClusterSnapshot& snapshot, const QueueTask& task,
                                       const PlacementMenu& menu,
                                       const std::vector<QueuePool>& pools) {
  const PlanNote& plan = *task.plan;
  if (task.request.all_gpus() != plan.shape.gpus()) return std::nullopt;
  std::vector<NodeName> names;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i)
    names.insert(names.end(), static_cast<std::size_t>(task.request.of_each[i] / plan.shape.d_gpn),
                 plan.nodes[i]);
  return run_on(snapshot, plan.shape, plan.gpu_type, names, menu, pools);
}

// At a gate, or on its way to its node.
bool is_yet_to_start(const Pod& pod) {
  return !pod.started_s && pod.phase == PodPhase::kPending && pod.not_starting.empty();
}

}  // namespace

std::string asked_of(const TaskIntent& intent, bool types_of_queue) {
  std::string text = format("{}|{}|{}|{}|{}", intent.workload().value_or(""),
                            intent.family.value_or(""), intent.batch_size.value_or(0),
                            intent.iterations.value_or(0), intent.model_parallel.value_or(0));
  text += format("|{}|{}", intent.expected_duration_s.value_or(0), intent.any_gpu_type);
  if (intent.expected_duration_on) text += "|on " + intent.expected_duration_on->str();
  if (!types_of_queue)
    for (const GpuType& type : intent.gpu_types)
      text += "|" + type.str();
  return format("{:016x}", fingerprint(text));
}

std::optional<double> checkpoint_interval_s(const PlanNote* plan, const TaskIntent& intent) {
  if (plan != nullptr && plan->checkpoint_interval_s) return plan->checkpoint_interval_s;
  return intent.checkpoint_interval_s;
}

bool has_planned_pods(const QueueTask& task) {
  return task.plan && task.bound.size() >= task.plan->nodes.size();
}

bool runs_as_planned(const QueueTask& task) {
  if (!task.job || !task.is_planned() || task.bound.empty() || task.disruption) return false;
  if (!task.pods.empty() && !has_planned_pods(task)) return false;
  if (task.job->deleting) return false;  // its controller looks after it no more
  return std::none_of(task.bound.begin(), task.bound.end(),
                      [](const PodPtr& pod) { return pod->deleting || pod->terminal(); });
}

std::optional<double> started_s(const QueueTask& task) {
  if (!task.job) return task.began_s ? task.began_s : task.member->started_s;
  if (!task.job->started_s) return std::nullopt;
  const double released_s = *task.job->started_s;
  double began_s = kNever;
  bool all_wait = true;
  bool first_waits = false;
  for (const auto* pods : {&task.bound, &task.pods})
    for (const PodPtr& pod : *pods) {
      if (!is_of_present_run(*pod, *task.job)) continue;
      const bool waits = is_yet_to_start(*pod);
      all_wait = all_wait && waits;
      if (pod->created_s > released_s + kStartLag_s) continue;  // in the place of one that was lost
      first_waits = first_waits || waits;
      began_s = std::min(began_s, pod->started_s.value_or(kNever));
    }
  if (began_s < kNever) return std::max(released_s, began_s);
  return all_wait && first_waits ? std::nullopt : std::optional(released_s);
}

std::optional<double> limit_end_s(const QueueTask& task) {
  const Job* job = task.job.get();
  if (job == nullptr || job->suspended || !job->started_s || !job->run_limit_s())
    return std::nullopt;
  return *job->started_s + static_cast<double>(*job->run_limit_s());
}

double limit_of_next_run_s(const QueueTask& task) {
  if (task.plan || !task.request.limit_s) return kNever;
  return static_cast<double>(*task.request.limit_s);
}

bool ends_unfinished(const QueueTask& task, double lasts_s) {
  return task.request.limit_s && task.length_known() && task.length != LengthSource::kAtMost &&
         static_cast<double>(*task.request.limit_s) < lasts_s;
}

const Pod* pod_not_starting(const QueueTask& task) {
  for (const PodPtr& pod : task.bound)
    if (!pod->not_starting.empty() && !pod->deleting) return pod.get();
  return nullptr;
}

std::optional<TaskMenu> menu_as_planned(const QueueTask& task, const TaskMenu& written,
                                        TaskMenus& menus, double theta) {
  if (!task.is_planned()) return std::nullopt;
  const PlanNote& plan = *task.plan;
  std::optional<TaskMenu> planned;
  const Choice* choice = find_choice(written, menus.pools(), plan.shape, plan.gpu_type);
  if (choice == nullptr) {
    const auto held = held_place(task);
    if (!held) return std::nullopt;
    planned = menu_of_place(task, held->shape, menus);
    choice = find_choice(*planned, menus.pools(), held->shape, plan.gpu_type);
    if (choice == nullptr) return std::nullopt;
  }
  const bool changed =
      !plan.asked.empty() && plan.asked != asked_of(*task.intent, task.types_of_queue);
  if (!changed || !plan.work_s || *plan.work_s <= 0 || choice->work_s <= 0) return planned;
  if (!planned) planned = written;
  if (!plan.predicted_s) planned->length = LengthSource::kUnknown;
  planned->menu =
      in_proportion(*planned->menu, *plan.work_s / choice->work_s, menus.pools(), theta);
  return planned;
}

std::optional<PlannedRun> planned_run(const ClusterSnapshot& snapshot, const Placement& shape,
                                      const GpuType& gpu_type, std::vector<NodeName> names,
                                      const PlacementMenu& menu,
                                      const std::vector<QueuePool>& pools) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() != static_cast<std::size_t>(shape.d_node)) return std::nullopt;
  return run_on(snapshot, shape, gpu_type, names, menu, pools);
}

std::optional<PlannedRun> planned_run(const ClusterSnapshot& snapshot, const QueueTask& task,
                                      const PlacementMenu& menu,
                                      const std::vector<QueuePool>& pools) {
  const PlanNote& plan = *task.plan;
  if (!task.request.of_each.empty()) return run_of_mixed(snapshot, task, menu, pools);
  if (auto run = planned_run(snapshot, plan.shape, plan.gpu_type, plan.nodes, menu, pools))
    return run;
  const auto held = held_place(task);
  if (!held) return std::nullopt;
  return planned_run(snapshot, held->shape, plan.gpu_type, held->nodes, menu, pools);
}

}  // namespace slackline::core
