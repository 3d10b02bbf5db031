#include "other_runs.h"

#include <algorithm>
#include <map>
#include <optional>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/run_progress.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/stated_duration.h"
#include "slackline/core/throughput/prediction.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

// For pods of one owner on one GPU type.
struct Length {
  std::optional<double> work_s;  // nullopt: unknown
  double startup_s = 0;
  double error = 0;
};

class Finder {
 public:
  Finder(const ClusterSnapshot& snapshot, const std::vector<QueuePool>& pools,
         const EndingPods& ending, const QueueOptions& options)
      : snapshot_(snapshot), pools_(pools), ending_(ending), options_(options) {}

  std::vector<OtherRun> find() {
    for (PoolIndex pool = 0; pool < pools_.size(); ++pool)
      for (PoolNode node = 0; node < pools_[pool].nodes.size(); ++node) {
        if (is_asked(options_.stop)) return std::move(runs_);
        for (const PodPtr& pod : snapshot_.node(pools_[pool].nodes[node]).pods)
          add(pod, pool, node);
      }
    return std::move(runs_);
  }

 private:
  void add(const PodPtr& of_node, PoolIndex pool, PoolNode node) {
    const Pod& pod = *of_node;
    const Pool& of = pools_[pool].pool;
    if (pod.terminal() || ending_.contains(pod) ||
        primary_gpu_resource(pod.requests) != of.resource)
      return;
    // More than any node has now: some of its GPUs have failed, and no plan of today is like its
    // own.
    const int held = countable_gpus(pod.requests.gpu_count(of.resource));
    const int gpus = std::min(held, of.gpus_per_node);
    const Job* job = owning_job(snapshot_, pod);
    const PlanNote* plan = plan_of(pod, job);
    const bool ends = job != nullptr && job->finished;  // it is no run of the queue any more
    if (gpus == held && plan != nullptr && is_of_pools(*plan) && !ends) return;
    OtherRun run;
    run.pod = of_node;
    run.part_of = fingerprint(lasting_name(snapshot_, job, pod).str());
    run.planned = plan != nullptr;
    run.node = node;
    run.started_s = options_.now_wall_s;
    if (pod.not_starting.empty() && pod.started_s)
      run.started_s = std::min(*pod.started_s, options_.now_wall_s);
    Length length = length_of(pod, of, gpus);
    if (plan != nullptr && plan->predicted_s) length = {plan->predicted_s, 0, length.error};
    if (job != nullptr && job->progress && job->progress->at_s >= run.started_s)
      run.told = job->progress;
    if (const auto shown_s = run.told ? run.told->work_s() : std::nullopt;
        shown_s && !length.work_s)
      length = {shown_s, 0, kStatedError};
    run.gone_by_s = pod.gone_by_s;
    if (ends && !run.gone_by_s) run.gone_by_s = options_.now_wall_s + pod.grace_s;
    run.known = length.work_s.has_value() || run.gone_by_s.has_value();
    const double elapsed_s = options_.now_wall_s - run.started_s;
    run.estimate = {pool,
                    {1, gpus},
                    1,
                    length.work_s.value_or(std::max(kUnknownRun_s, 2 * elapsed_s)),
                    length.startup_s,
                    length.error};
    runs_.push_back(run);
  }

  // Null: it has none.
  static const PlanNote* plan_of(const Pod& pod, const Job* job) {
    if (pod.plan != nullptr) return pod.plan.get();
    return job != nullptr ? job->plan.get() : nullptr;
  }

  // False: one of its nodes was cordoned, is not ready or is not of its GPU type any more.
  bool is_of_pools(const PlanNote& plan) const {
    return std::all_of(plan.nodes.begin(), plan.nodes.end(), [&](const NodeName& name) {
      const auto node = snapshot_.find_node(name.str());
      return node && is_usable(*snapshot_.node(*node).node) &&
             snapshot_.node(*node).node->gpu_type == plan.gpu_type;
    });
  }

  const Length& length_of(const Pod& pod, const Pool& pool, int gpus) {
    const Uid& owner = pod.owner ? pod.owner->uid : pod.uid;
    const auto [at, first] = lengths_.try_emplace({owner, pool.type});
    if (first) at->second = find_length(pod, pool, gpus);
    return at->second;
  }

  Length find_length(const Pod& pod, const Pool& pool, int gpus) const {
    const TaskIntent intent = effective_intent(snapshot_, pod);
    const Placement shape = clamped_placement(gang_pods(snapshot_, pod, intent), gpus);
    const auto model = options_.catalog->is_whole(pool.resource)
                           ? options_.predictor->prepare(intent, pool.type)
                           : std::nullopt;
    if (const auto estimate = model ? predicted_run(*model, intent, shape) : std::nullopt)
      return {estimate->work_s, estimate->startup_s, estimate->error};
    const StatedDuration stated(intent, *options_.catalog, pool.resource, *options_.predictor);
    if (const auto time_s = stated.on(pool.type, shape)) return {time_s, 0, kStatedError};
    const Job* job = owning_job(snapshot_, pod);
    const KnownPast past = past_of(options_.portraits.get(), job);
    if (past.portrait)
      if (const auto time = run_time_of(*past.portrait, pool.type, shape.gpus()))
        return {time->median_s, 0, error_of(past.similar ? borrowed(*time) : *time)};
    const bool alone = job != nullptr && !starts_one_by_one(*job);
    if (const auto limit_s = alone ? job->run_limit_s() : std::nullopt)
      return {static_cast<double>(*limit_s), 0, 0};
    return {std::nullopt, 0, kUnknownError};
  }

  const ClusterSnapshot& snapshot_;
  const std::vector<QueuePool>& pools_;
  const EndingPods& ending_;
  const QueueOptions& options_;
  std::map<std::pair<Uid, GpuType>, Length> lengths_;
  std::vector<OtherRun> runs_;
};

}  // namespace

std::vector<OtherRun> find_other_runs(const ClusterSnapshot& snapshot,
                                      const std::vector<QueuePool>& pools, const EndingPods& ending,
                                      const QueueOptions& options) {
  return Finder(snapshot, pools, ending, options).find();
}

ObjectKey known_as(const Pod& pod) {
  if (pod.plan && pod.plan->nodes.size() > 1) {
    if (const std::string* label = gang_label_of(pod, nullptr)) return {pod.key.ns, *label};
    if (pod.owner_gang) return {pod.key.ns, pod.owner_gang->name};
  }
  return pod.owner && pod.owner->kind == "Job" ? ObjectKey{pod.key.ns, pod.owner->name} : pod.key;
}

PlanTask task_of(const OtherRun& run, std::int64_t id, QueueNumber queue,
                 const std::vector<Pool>& pools) {
  PlanTask task;
  task.queue = queue;
  task.id = id;
  task.part_of = run.part_of;
  task.submit_s = run.started_s;
  task.request_gpus = run.estimate.shape.gpus();
  task.preemptible = false;
  task.keeps_gpus = true;
  task.endless = run.endless();
  task.menu = std::make_shared<const PlacementMenu>(make_menu({run.estimate}, pools, {}));
  return task;
}

std::vector<FreeGpus::ToCome> gpus_to_come(const std::vector<OtherRun>& runs, double now_s) {
  std::vector<FreeGpus::ToCome> to_come;
  to_come.reserve(runs.size());
  for (const OtherRun& other : runs) {
    if (other.endless()) continue;
    const double work_s = other.estimate.work_s;
    const double lasts_s = other.estimate.startup_s + work_s;
    Run run;
    run.started_s = other.started_s;
    run.observed_work_s = work_s;
    run.predicted_end_s = other.started_s + lasts_s;
    if (other.told) believe_progress(*other.told, work_s, run);
    if (other.gone_by_s) believe_end(*other.gone_by_s, now_s, work_s, run);
    const double end_s = other.known ? believed_end_s(run, lasts_s, now_s) : kNever;
    to_come.push_back({other.estimate.pool, other.node, other.estimate.shape.d_gpn, end_s});
  }
  return to_come;
}

FreeGpus without_lost_gpus(std::vector<std::vector<int>> gpus, const std::vector<QueuePool>& pools,
                           const RoomTable& room, const std::vector<OtherRun>& other_runs) {
  std::map<std::pair<PoolIndex, PoolNode>, int> lost;
  for (PoolIndex pool = 0; pool < pools.size(); ++pool)
    for (PoolNode node = 0; node < pools[pool].nodes.size(); ++node) {
      const Resources& free = room.free(pools[pool].nodes[node]);
      const std::int64_t count = free.gpu_count(pools[pool].pool.resource);
      if (count < 0) lost[{pool, node}] = countable_gpus(-count);
    }
  // Runs that count no more GPUs than a node has give none of the others back.
  for (const OtherRun& run : other_runs) {
    const PoolIndex pool = run.estimate.pool;
    const int held = countable_gpus(run.pod->requests.gpu_count(pools[pool].pool.resource));
    if (const auto of_node = lost.find({pool, run.node}); of_node != lost.end())
      of_node->second -= held - run.estimate.shape.d_gpn;
  }
  for (const auto& [at, count] : lost)
    gpus[at.first][at.second] = std::max(0, gpus[at.first][at.second] - std::max(0, count));
  FreeGpus free(gpus);
  for (const auto& [at, count] : lost)
    if (count > 0) free.owe(at.first, at.second, count);
  return free;
}

}  // namespace slackline::core
