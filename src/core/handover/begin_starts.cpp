#include "slackline/core/handover/begin_starts.h"

#include <algorithm>
#include <map>
#include <set>

#include "notices.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/budgets.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/cluster/quota_menu.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/model/reason.h"
#include "stops.h"
#include "type_pin.h"

namespace slackline::core {
namespace {

// One entry per pod; pods that share a node stand together.
std::vector<NodeName> nodes_of(const ClusterSnapshot& snapshot, const QueuePool& pool,
                               const Run& run, std::int64_t pods) {
  const std::size_t per_node = static_cast<std::size_t>(pods) / run.nodes.size();
  std::vector<NodeName> nodes;
  for (const PoolNode node : run.nodes)
    nodes.insert(nodes.end(), per_node, snapshot.node(pool.nodes[node]).node->name);
  return nodes;
}

std::vector<NodeSelectorTerm> written_terms(const QueueTask& task) {
  return task.member->constraints ? task.member->constraints->affinity_terms
                                  : std::vector<NodeSelectorTerm>{};
}

bool offers_several_types(const PlacementMenu& menu) {
  return std::any_of(menu.all.begin(), menu.all.end(),
                     [&](const Choice& choice) { return choice.pool != menu.all.front().pool; });
}

class StartWriter {
 public:
  StartWriter(const ClusterSnapshot& snapshot, const std::unordered_set<Uid>& unanswered,
              const Queue& queue, const GpuCatalog& catalog, PlanStamp& stamp, double now_wall_s)
      : snapshot_(snapshot),
        queue_(queue),
        catalog_(catalog),
        stamp_(stamp),
        now_wall_s_(now_wall_s),
        quotas_(snapshot),
        ending_(EndingPods(snapshot, now_wall_s).pods()),
        disruptions_(snapshot, ending_) {
    for (const JobPtr& job : snapshot.jobs)
      if (job->preemptions && job->suspended && unanswered.contains(job->uid))
        for (const NodeName& name : job->preemptions->nodes)
          if (const auto node = snapshot.find_node(name.str())) uncertain_.insert(*node);
    quotas_.charge_released(snapshot);
  }

  // `stopped`: the runs that end so that it fits. False where they may not be stopped: what the
  // plan does next may need that room.
  bool begin(TaskIndex index, const Run& run, const std::vector<const Effect*>& stopped) {
    const QueueTask& task = queue_.task(index);
    const bool ends = task.plan != nullptr;                // this plan has stopped it before
    if (ends || !may_start(task)) return stopped.empty();  // its place is kept
    const Choice& choice = queue_.state().choice(index, run.choice);
    const QuotaDemand demand = demand_of(task, choice.shape);
    if (!quotas_.admits(task.key.ns, demand.pod, demand.pods)) return stopped.empty();
    if (!disruptions_allow(stopped)) return false;
    quotas_.charge(task.key.ns, demand.pod, demand.pods);
    if (!told_in_time(queue_, tasks_of(stopped), task, now_wall_s_, writes)) {
      for (const Effect* effect : stopped)
        keep_room_of(queue_.task(effect->task));
      return true;
    }
    for (const Effect* effect : stopped)
      stop(*effect, task);
    const auto is_certain = [&](PoolNode node) {
      return !uncertain_.contains(queue_.pools()[choice.pool].nodes[node]);
    };
    if (std::all_of(run.nodes.begin(), run.nodes.end(), is_certain)) start(index, run);
    return true;
  }

  std::vector<OwnWrite> writes;

 private:
  bool disruptions_allow(const std::vector<const Effect*>& stopped) {
    Disruptions disruptions = disruptions_;
    for (const Effect* effect : stopped) {
      const QueueTask& task = queue_.task(effect->task);
      if (!disruptions.allow(task.bound)) return false;
      disruptions.add(task.bound);
    }
    disruptions_ = std::move(disruptions);
    return true;
  }

  static std::vector<TaskIndex> tasks_of(const std::vector<const Effect*>& stopped) {
    std::vector<TaskIndex> tasks;
    for (const Effect* effect : stopped)
      tasks.push_back(effect->task);
    return tasks;
  }

  // Of a task that was told of its stop: nobody but the asker starts there.
  void keep_room_of(const QueueTask& task) {
    for (const PodPtr& pod : task.bound)
      if (const auto node = snapshot_.find_node(pod->node.str())) uncertain_.insert(*node);
  }

  void stop(const Effect& effect, const QueueTask& asker) {
    const QueueTask& task = queue_.task(effect.task);
    const Run& ended = *effect.ended;
    const TaskProgress& progress = queue_.state().progress(effect.task);
    const Choice& choice = queue_.state().choice(effect.task, ended.choice);
    const double left = effect.begun ? effect.begun->left : progress.left;
    StopJob stop{.asker = asker.key,
                 .gain = effect.gain,
                 .risks_deadline = effect.risks_deadline,
                 .qos = task.intent->qos_class.value_or(QosClass::kNormal)};
    stop.lost_gpu_s = wasted_gpu_s(ended, ended.observed_work_s, left, choice.gpus, now_wall_s_);
    PreemptionNote note = note_of_stop(task, left, stop.lost_gpu_s, now_wall_s_);
    charge(note, queue_of(*asker.intent, asker.key.ns), stop.lost_gpu_s, now_wall_s_);
    for (const NodeName& name : note.nodes)
      if (const auto node = snapshot_.find_node(name.str()))
        cleared_[*node].push_back(task.job->uid);
    stop.preemptions = std::make_shared<const PreemptionNote>(std::move(note));
    writes.push_back(job_write(
        *task.job, std::move(stop),
        {.verb = Verb::kSuspend, .reason = reason::kPreempted, .plan_id = task.plan->id}));
  }

  void start(TaskIndex index, const Run& run) {
    const QueueTask& task = queue_.task(index);
    const Choice& choice = queue_.state().choice(index, run.choice);
    const QueuePool& pool = queue_.pools()[choice.pool];
    PlanNote note;
    note.id = stamp_.next_id();
    note.epoch = stamp_.epoch;
    note.shape = choice.shape;
    note.gpu_type = pool.pool.type;
    note.promoted = run.promoted;
    if (task.length_known) note.predicted_s = queue_.state().lat_s(index, choice);
    note.nodes = nodes_of(snapshot_, pool, run, task.pods_in(choice.shape));
    const auto plan = std::make_shared<const PlanNote>(std::move(note));
    const std::size_t first = writes.size();
    if (task.job)
      release(index, run, plan);
    else
      for (const PodPtr& pod : task.pods)
        writes.push_back(pod_write(*pod, PlanPod{plan}, {.verb = Verb::kPlan}));
    const std::vector<Uid> after = stopped_on(pool, run);
    for (std::size_t i = first; i < writes.size(); ++i)
      writes[i].after = after;
  }

  // The Jobs that this plan stops on the nodes of a run.
  std::vector<Uid> stopped_on(const QueuePool& pool, const Run& run) const {
    std::set<Uid> jobs;
    for (const PoolNode node : run.nodes)
      if (const auto at = cleared_.find(pool.nodes[node]); at != cleared_.end())
        jobs.insert(at->second.begin(), at->second.end());
    return {jobs.begin(), jobs.end()};
  }

  void release(TaskIndex index, const Run& run, const std::shared_ptr<const PlanNote>& plan) {
    const QueueTask& task = queue_.task(index);
    const Job& job = *task.job;
    ReleaseJob start{.plan = plan};
    // A Job whose pods exist keeps its template.
    if (job.suspended && stamp_.pin_pods_by == nullptr) shape(index, run, start.shape);
    if (job.suspended && stamp_.pin_pods_by != nullptr)
      shape_beside_template(index, run, start.shape);
    writes.push_back(job_write(job, std::move(start), {.verb = Verb::kPlan}));
  }

  // Fields are written where they differ from the Job's present ones; what was written first stays
  // in `original`.
  void shape(TaskIndex index, const Run& run, ShapeChange& change) const {
    const QueueTask& task = queue_.task(index);
    const Job& job = *task.job;
    const Choice& choice = queue_.state().choice(index, run.choice);
    OriginalShape original = job.original ? *job.original : OriginalShape{};
    const std::int64_t pods = task.pods_in(choice.shape);
    const std::int64_t gpus = task.gpus_per_pod_in(choice.shape);
    const bool other_gpus = gpus != job.pod_requests.gpu_count(task.request.resource);
    if (task.request.nodes_may_change && (pods != job.parallelism || other_gpus)) {
      change.reshape = Reshape{pods, gpus, task.request.resource, ""};
      if (!original.parallelism) original.parallelism = job.parallelism;
    } else if (other_gpus) {
      change.reshape = Reshape{job.parallelism, gpus, task.request.resource, ""};
    }
    if (other_gpus) {
      change.reshape->container = job.gpu_container;
      if (!original.gpus) original.gpus = job.pod_requests.gpu_count(task.request.resource);
    }
    pin_type(index, run, original, change);
    if (original.changed())
      change.original = std::make_shared<const OriginalShape>(std::move(original));
  }

  // The pods learn their GPU count from the plan, at their creation.
  void shape_beside_template(TaskIndex index, const Run& run, ShapeChange& change) const {
    const QueueTask& task = queue_.task(index);
    const Job& job = *task.job;
    const Choice& choice = queue_.state().choice(index, run.choice);
    const std::int64_t pods = task.pods_in(choice.shape);
    if (!task.request.nodes_may_change || pods == job.parallelism) return;
    change.reshape = Reshape{pods, task.gpus_per_pod_in(choice.shape), task.request.resource, "",
                             /*in_template=*/false};
    OriginalShape original = job.original ? *job.original : OriginalShape{};
    if (!original.parallelism) original.parallelism = job.parallelism;
    change.original = std::make_shared<const OriginalShape>(std::move(original));
  }

  void pin_type(TaskIndex index, const Run& run, OriginalShape& original,
                ShapeChange& change) const {
    const QueueTask& task = queue_.task(index);
    const PlacementMenu& menu = *queue_.state().tasks()[index].menu;
    const QueuePool& pool = queue_.pools()[menu.all[run.choice].pool];
    if (!offers_several_types(menu) && !original.affinity_terms) return;
    std::vector<NodeIndex> planned;
    for (const PoolNode node : run.nodes)
      planned.push_back(pool.nodes[node]);
    const auto type = type_requirement(snapshot_, catalog_, pool.nodes, planned);
    if (!type) return;
    if (!original.affinity_terms) original.affinity_terms = written_terms(task);
    change.affinity_terms = narrowed(*original.affinity_terms, *type);
  }

  const ClusterSnapshot& snapshot_;
  const Queue& queue_;
  const GpuCatalog& catalog_;
  PlanStamp& stamp_;
  const double now_wall_s_;
  QuotaBook quotas_;
  const std::vector<PodPtr> ending_;
  Disruptions disruptions_;
  // Whose room is made by an earlier stop that may still fail, or by one that was only told.
  std::set<NodeIndex> uncertain_;
  std::map<NodeIndex, std::vector<Uid>> cleared_;  // Jobs that this plan stops, by node
};

}  // namespace

std::string PlanStamp::next_id() {
  return format("p{}-{}", epoch, next_number++);
}

std::vector<OwnWrite> begin_starts(const ClusterSnapshot& snapshot,
                                   const std::unordered_set<Uid>& unanswered, const Queue& queue,
                                   const Plan& plan, const GpuCatalog& catalog, PlanStamp& stamp,
                                   double now_wall_s) {
  StartWriter writer(snapshot, unanswered, queue, catalog, stamp, now_wall_s);
  writer.writes = stop_disrupted(queue, now_wall_s);
  for (const JobPtr& job : queue.to_open())
    writer.writes.push_back(job_write(*job, OpenJob{}));
  for (const PodPtr& pod : queue.to_let_go())
    writer.writes.push_back(pod_write(*pod, LiftGate{}));
  std::set<Uid> ended;
  for (const Effect& effect : plan.effects)
    if (effect.ended) ended.insert(queue.task(effect.task).uid);
  for (OwnWrite& write : take_back_stops(snapshot, ended))
    writer.writes.push_back(std::move(write));
  std::vector<const Effect*> stopped;  // for the next start
  for (const Effect& effect : plan.effects) {
    if (effect.ended) stopped.push_back(&effect);
    if (!effect.is_start()) continue;
    if (!writer.begin(effect.task, *effect.begun, stopped)) break;
    stopped.clear();
  }
  return std::move(writer.writes);
}

}  // namespace slackline::core
