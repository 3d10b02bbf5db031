#include "slackline/core/handover/begin_starts.h"

#include <algorithm>
#include <map>
#include <set>

#include "notices.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/budgets.h"
#include "slackline/core/cluster/each_pod.h"
#include "slackline/core/cluster/later_members.h"
#include "slackline/core/cluster/quota_menu.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/handover/return_to_scheduler.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/model/band.h"
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

// Of pods that differ: the run names a node for each unit of their GPUs.
std::vector<NodeName> nodes_of_each(const ClusterSnapshot& snapshot, const QueuePool& pool,
                                    const Run& run, const std::vector<std::int64_t>& of_each,
                                    int gpus_of_unit) {
  std::vector<NodeName> nodes;
  std::size_t unit = 0;
  for (const std::int64_t gpus : of_each) {
    nodes.push_back(snapshot.node(pool.nodes[run.nodes[unit]]).node->name);
    unit += static_cast<std::size_t>(gpus / gpus_of_unit);
  }
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
              const Queue& queue, const GpuCatalog& catalog, PlanStamp& stamp, double now_steady_s,
              double now_wall_s)
      : snapshot_(snapshot),
        queue_(queue),
        catalog_(catalog),
        stamp_(stamp),
        now_wall_s_(now_wall_s),
        shares_(queue.state().shares()),
        quotas_(snapshot),
        room_(snapshot, now_steady_s, now_wall_s),
        ending_(room_.ending().pods()),
        disruptions_(snapshot, ending_, now_wall_s) {
    for (const JobPtr& job : snapshot.jobs)
      if (job->preemptions && job->suspended && unanswered.contains(job->uid))
        for (const NodeName& name : job->preemptions->nodes)
          if (const auto node = snapshot.find_node(name.str())) uncertain_.insert(*node);
    for (const PodPtr& pod : ending_)
      if (was_evicted(*pod) && unanswered.contains(pod->uid))
        if (const auto node = snapshot.find_node(pod->node.str())) uncertain_.insert(*node);
    quotas_.charge_released(snapshot, now_steady_s, now_wall_s);
  }

  // `stopped`: the runs that end so that it fits. Where they may not be stopped, or it may not
  // start, nobody starts on their nodes: what the plan does next may need that room.
  void begin(TaskIndex index, const Run& run, const std::vector<const Effect*>& stopped) {
    const bool ends = queue_.task(index).plan != nullptr;  // this plan has stopped it before
    if (ends && placed_again_.contains(index)) shares_.begin(use_of(index, run));
    if (ends || !begins(index, run, stopped)) keep_room_of(stopped);
  }

  // The queue's state is that after the plan; shares are used as before it until writes say
  // otherwise. Whoever gives back, and is started again by the same plan where nobody is stopped
  // for it: its place there is kept.
  void look_ahead(const Plan& plan) {
    for (const Effect& effect : plan.effects) {
      if (effect.begun) shares_.end(use_of(effect.task, *effect.begun));
      if (effect.ended) shares_.begin(use_of(effect.task, *effect.ended));
    }
    std::set<TaskIndex> given_back;
    bool takes_room = false;
    for (const Effect& effect : plan.effects) {
      if (effect.gives_back) given_back.insert(effect.task);
      if (effect.ended) takes_room = true;
      if (!effect.is_start()) continue;
      if (!takes_room && given_back.contains(effect.task))
        placed_again_[effect.task] = &*effect.begun;
      takes_room = false;
    }
  }

  // In the place that is kept for it, once its pods are gone.
  void go_on(TaskIndex index) {
    const QueueTask& task = queue_.task(index);
    const Run& run = queue_.state().progress(index).run;
    const Choice& choice = queue_.state().choice(index, run.choice);
    if (task.hindrance || !may_start(task)) return;
    const QuotaDemand demand = demand_of(task, choice.shape);
    if (!quotas_.admits(task.key.ns, demand.pod, demand.pods)) return;
    quotas_.charge(task.key.ns, demand.pod, demand.pods);
    shares_.end(use_of(index, run));  // its place counts already
    (void)takes_room(task, places_of(index, run));
    start(index, run);
  }

  std::vector<OwnWrite> writes;

 private:
  bool begins(TaskIndex index, const Run& run, const std::vector<const Effect*>& stopped) {
    const QueueTask& task = queue_.task(index);
    if (!may_start(task)) return false;
    const Choice& choice = queue_.state().choice(index, run.choice);
    const QuotaDemand demand = demand_of(task, choice.shape);
    if (!quotas_.admits(task.key.ns, demand.pod, demand.pods)) return false;
    if (any_of_later_term(stopped)) return false;
    for (const Effect* effect : stopped)
      leave_room(*effect);
    if (!takes_room(task, places_of(index, run))) return false;
    if (meets_sibling(task, queue_.pools()[choice.pool].nodes[run.nodes.front()])) return false;
    const auto is_on = [&](const std::set<NodeIndex>& nodes) {
      return std::any_of(run.nodes.begin(), run.nodes.end(), [&](PoolNode node) {
        return nodes.contains(queue_.pools()[choice.pool].nodes[node]);
      });
    };
    if (is_on(kept_)) {  // they stop once it can start, and are told until then
      if (disruptions_.allow(queue_.bound_pods(tasks_of(stopped))))
        (void)told_in_time(queue_, tasks_of(stopped), task, now_wall_s_, writes);
      return false;
    }
    if (!may_disrupt(stopped)) return false;
    quotas_.charge(task.key.ns, demand.pod, demand.pods);
    if (!told_in_time(queue_, tasks_of(stopped), task, now_wall_s_, writes)) return false;
    for (const Effect* effect : stopped)
      stop(*effect, task);
    if (!is_on(uncertain_)) start(index, run);
    return true;
  }

  // Who goes on with fewer GPUs takes a part of it again.
  void leave_room(const Effect& stopped) {
    const QueueTask& task = queue_.task(stopped.task);
    for (const PodPtr& pod : task.bound)
      if (const auto node = snapshot_.find_node(pod->node.str()))
        room_.give_back(*node, besides_gpus(*pod));
    if (stopped.begun) (void)takes_room(task, places_of(stopped.task, *stopped.begun));
  }

  // False: another start of this plan has taken what its pods need besides GPUs, or what is stopped
  // for it does not leave enough. Pods that differ were placed one by one.
  bool takes_room(const QueueTask& task, const std::vector<NodeName>& nodes) {
    std::unordered_set<Uid> pods;
    for (const PodPtr& pod : task.pods)
      pods.insert(pod->uid);
    std::set<NodeIndex> on;
    for (const NodeName& name : nodes)
      on.insert(*snapshot_.find_node(name.str()));
    Room room = room_.without(hold_identity(*task.member, task.job.get()), pods, on);
    const bool differ = !task.request.of_each.empty();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Resources rest = besides_gpus(i < task.pods.size() ? *task.pods[i] : *task.member);
      if (!differ && !room.fits(*snapshot_.find_node(nodes[i].str()), rest)) return false;
      room.take(nodes[i], rest);
    }
    room_.claim(room);
    return true;
  }

  // Whoever borrowed is stopped against disruption budgets once they have delayed the owner for
  // long enough. Of pods that are evicted the API server has the last word.
  bool may_disrupt(const std::vector<const Effect*>& stopped) {
    std::vector<TaskIndex> overdue;
    std::vector<TaskIndex> others;
    for (const Effect* effect : stopped)
      (effect->overdue ? overdue : others).push_back(effect->task);
    return disruptions_.add(queue_.bound_pods(others), queue_.bound_pods(overdue));
  }

  static std::string_view reason_of(const Effect& effect) {
    if (effect.gives_back) return reason::kBorrowedAskedBack;
    return effect.begun ? reason::kShrunk : reason::kPreempted;
  }

  // Of pods that start by themselves and may not share a node, another one has been sent there by
  // this plan: the next one knows where that is (refused_nodes.h).
  bool meets_sibling(const QueueTask& task, NodeIndex node) {
    if (task.job || !task.member->owner || !task.request.spread.most || task.request.pods > 1)
      return false;
    return !sent_.insert({task.member->owner->uid, node}).second;
  }

  // A Job's resourceVersion tells as much.
  bool any_of_later_term(const std::vector<const Effect*>& stopped) const {
    return std::any_of(stopped.begin(), stopped.end(), [&](const Effect* effect) {
      const QueueTask& task = queue_.task(effect->task);
      return !task.job && task.plan->epoch > stamp_.epoch;
    });
  }

  static std::vector<TaskIndex> tasks_of(const std::vector<const Effect*>& stopped) {
    std::vector<TaskIndex> tasks;
    for (const Effect* effect : stopped)
      tasks.push_back(effect->task);
    return tasks;
  }

  void keep_room_of(const std::vector<const Effect*>& stopped) {
    for (const Effect* effect : stopped)
      for (const PodPtr& pod : queue_.task(effect->task).bound)
        if (const auto node = snapshot_.find_node(pod->node.str())) kept_.insert(*node);
  }

  void stop(const Effect& effect, const QueueTask& asker) {
    const QueueTask& task = queue_.task(effect.task);
    const Run& ended = *effect.ended;
    const TaskProgress& progress = queue_.state().progress(effect.task);
    const Choice& choice = queue_.state().choice(effect.task, ended.choice);
    const double left = effect.begun ? effect.begun->left : progress.left;
    const double lost = wasted_gpu_s(ended, ended.observed_work_s, left, choice.gpus, now_wall_s_);
    shares_.end(use_of(effect.task, ended));
    if (effect.begun) shares_.begin(use_of(effect.task, *effect.begun));
    for (const PodPtr& pod : task.bound)
      if (const auto node = snapshot_.find_node(pod->node.str())) cleared_[*node].insert(task.uid);
    if (task.job)
      stop_job(effect, task, asker, left, lost);
    else
      evict(effect, task, asker, lost);
  }

  void stop_job(const Effect& effect, const QueueTask& task, const QueueTask& asker, double left,
                double lost_gpu_s) {
    StopJob stop{.lost_gpu_s = lost_gpu_s,
                 .asker = asker.key,
                 .gain = effect.gain,
                 .risks_deadline = effect.risks_deadline,
                 .qos = task.intent->qos_class.value_or(QosClass::kNormal)};
    PreemptionNote note = note_of_stop(task, left, lost_gpu_s, now_wall_s_);
    if (effect.begun) note.goes_on = going_on(effect.task, *effect.begun);
    if (const auto again = placed_again_.find(effect.task); again != placed_again_.end())
      note.goes_on = going_on(effect.task, *again->second);
    if (!effect.gives_back) charge(note, asker.account, lost_gpu_s, now_wall_s_);
    stop.preemptions = std::make_shared<const PreemptionNote>(std::move(note));
    writes.push_back(
        job_write(*task.job, std::move(stop),
                  {.verb = Verb::kSuspend, .reason = reason_of(effect), .plan_id = task.plan->id}));
  }

  PreemptionNote::GoesOn going_on(TaskIndex index, const Run& begun) const {
    const Choice& choice = queue_.state().choice(index, begun.choice);
    const QueuePool& pool = queue_.pools()[choice.pool];
    return {.shape = choice.shape,
            .gpu_type = pool.pool.type,
            .nodes = nodes_of(snapshot_, pool, begun, choice.shape.d_node),
            .from = queue_.task(index).plan->shape};
  }

  void evict(const Effect& effect, const QueueTask& task, const QueueTask& asker,
             double lost_gpu_s) {
    const Pod& pod = *task.bound.front();
    EvictPod evict{.lost_gpu_s = lost_gpu_s,
                   .asker = asker.key,
                   .gain = effect.gain,
                   .risks_deadline = effect.risks_deadline,
                   .qos = task.intent->qos_class.value_or(QosClass::kNormal),
                   .controller = pod.owner->uid,
                   .queue = effect.gives_back ? std::string() : asker.account};
    writes.push_back(
        pod_write(pod, std::move(evict), {.verb = Verb::kSuspend, .reason = reason_of(effect)}));
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
    if (task.length_is_told() && task.length_known_in(choice))
      note.predicted_s = queue_.state().lat_s(index, choice);
    note.checkpoint_interval_s = task.intent->checkpoint_interval_s;
    note.work_s = choice.work_s;
    note.asked = asked_of(*task.intent, task.types_of_queue);
    note.resize = resize_note(index, choice, pool.pool.type);
    note.nodes = places_of(index, run);
    if (!task.job) put_last_who_comes_later(task, note);
    note.band = band_of(index, run);
    const auto plan = std::make_shared<const PlanNote>(std::move(note));
    const std::size_t first = writes.size();
    if (task.job)
      release(index, run, plan);
    else
      for (const PodPtr& pod : task.pods)
        if (!is_to_come(*pod))
          writes.push_back(pod_write(*pod, PlanPod{plan}, {.verb = Verb::kPlan}));
    const std::vector<Uid> after = stopped_on(pool, run);
    for (std::size_t i = first; i < writes.size(); ++i)
      writes[i].after = after;
  }

  static void put_last_who_comes_later(const QueueTask& task, PlanNote& note) {
    std::vector<NodeName> there;
    std::vector<NodeName> later;
    for (std::size_t i = 0; i < note.nodes.size(); ++i) {
      const bool comes_later = i < task.pods.size() && is_to_come(*task.pods[i]);
      (comes_later ? later : there).push_back(std::move(note.nodes[i]));
    }
    note.later = std::ssize(later);
    there.insert(there.end(), later.begin(), later.end());
    note.nodes = std::move(there);
  }

  // A node for each of its pods.
  std::vector<NodeName> places_of(TaskIndex index, const Run& run) const {
    const QueueTask& task = queue_.task(index);
    const Choice& choice = queue_.state().choice(index, run.choice);
    const QueuePool& pool = queue_.pools()[choice.pool];
    const std::vector<std::int64_t>& of_each = task.request.of_each;
    return of_each.empty() ? nodes_of(snapshot_, pool, run, task.pods_in(choice.shape))
                           : nodes_of_each(snapshot_, pool, run, of_each, choice.shape.d_gpn);
  }

  SharedUse use_of(TaskIndex index, const Run& run) const {
    return queue_.state().use_of(index, queue_.state().choice(index, run.choice));
  }

  // The band of its pods, whose run uses its share from now on; empty: they have none.
  std::string band_of(TaskIndex index, const Run& run) {
    const QueueTask& task = queue_.task(index);
    const PlanState& state = queue_.state();
    const bool is_own = shares_.is_own(use_of(index, run));
    shares_.begin(use_of(index, run));
    const int level =
        std::min(kHighestBandLevel, state.tasks()[index].level + state.progress(index).stops);
    const std::string band = PriorityBand{is_own, level}.name();
    const bool has_bands = snapshot_.admission && snapshot_.admission->bands.contains(band);
    const bool takes_one = task.job && task.job->priority_class.empty();
    return has_bands && takes_one ? band : std::string();
  }

  std::optional<ResizeNote> resize_note(TaskIndex index, const Choice& choice,
                                        const GpuType& type) const {
    const QueueTask& task = queue_.task(index);
    const SizedType* sized = task.resizing ? task.resizing->on(type) : nullptr;
    if (sized == nullptr || !sized->changes()) return std::nullopt;
    ResizeNote note{.asked = task.resizing->asked, .shape = sized->shape};
    note.amounts = sized->amounts;
    note.trial = task.resizing->trial;
    note.expected_s = task.length == LengthSource::kModel ? queue_.state().lat_s(index, choice)
                                                          : sized->expected_s;
    return note;
  }

  // The Jobs and pods that this plan stops on the nodes of a run.
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
    if (task.opens) {  // its pods get plans of their own
      writes.push_back(job_write(job, OpenJob{.shape = first_shape(job)}));
      return;
    }
    ReleaseJob start{.plan = plan};
    // A Job whose pods exist keeps its template.
    if (job.suspended && stamp_.pin_pods_by == nullptr) {
      shape(index, run, plan->resize ? plan->resize->amounts : std::nullopt, start.shape);
      start.shape.band = plan->band;
    }
    if (job.suspended && stamp_.pin_pods_by != nullptr)
      shape_beside_template(index, run, start.shape);
    writes.push_back(job_write(job, std::move(start), {.verb = Verb::kPlan}));
  }

  // Fields are written where they differ from the Job's present ones; what was written first stays
  // in `original`.
  void shape(TaskIndex index, const Run& run, const std::optional<ContainerAmounts>& amounts,
             ShapeChange& change) const {
    const QueueTask& task = queue_.task(index);
    const Job& job = *task.job;
    const Choice& choice = queue_.state().choice(index, run.choice);
    OriginalShape original = counted_original(job);
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
      original.given.gpus = gpus;
    }
    change_amounts(job, amounts, original, change);
    pin_type(index, run, original, change);
    if (original.changed() || job.original)
      change.original = std::make_shared<const OriginalShape>(std::move(original));
  }

  // What was written first comes back byte for byte where nothing else is wanted.
  static void change_amounts(const Job& job, const std::optional<ContainerAmounts>& wanted,
                             OriginalShape& original, ShapeChange& change) {
    if (!job.amounts) return;
    const ContainerAmounts written = original.amounts ? *original.amounts : *job.amounts;
    const ContainerAmounts& now = wanted ? *wanted : written;
    if (now != *job.amounts) change.amounts = AmountsChange{job.gpu_container, now};
    original.amounts = wanted ? std::optional(written) : std::nullopt;
    original.given.amounts = wanted;
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
    if (!offers_several_types(menu) && !task.types_of_queue && !original.affinity_terms) return;
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
  std::set<std::pair<Uid, NodeIndex>> sent_;  // pods that may not share a node, by controller
  ShareUse shares_;                           // with what this plan starts and stops
  QuotaBook quotas_;
  RoomTable room_;  // the same
  const std::vector<PodPtr> ending_;
  Disruptions disruptions_;
  std::set<NodeIndex> uncertain_;  // whose room is made by an earlier stop that may still fail
  std::set<NodeIndex> kept_;       // the same by one that was only told, or that may not be
  std::map<TaskIndex, const Run*> placed_again_;
  std::map<NodeIndex, std::set<Uid>> cleared_;  // Jobs and pods that this plan stops, by node
};

}  // namespace

std::int64_t latest_epoch(const ClusterSnapshot& snapshot) {
  std::int64_t latest = 0;
  const auto see = [&](const auto& object) {
    if (object.plan) latest = std::max(latest, object.plan->epoch);
  };
  for (const JobPtr& job : snapshot.jobs)
    see(*job);
  each_pod(snapshot, see);
  return latest;
}

std::string PlanStamp::next_id() {
  return format("p{}-{}", epoch, next_number++);
}

std::vector<OwnWrite> begin_starts(const ClusterSnapshot& snapshot,
                                   const std::unordered_set<Uid>& unanswered, const Queue& queue,
                                   const Plan& plan, const GpuCatalog& catalog, PlanStamp& stamp,
                                   double now_steady_s, double now_wall_s) {
  StartWriter writer(snapshot, unanswered, queue, catalog, stamp, now_steady_s, now_wall_s);
  writer.look_ahead(plan);
  writer.writes = stop_disrupted(queue, now_wall_s);
  for (OwnWrite& write : stop_too_small(snapshot, queue, now_wall_s))
    writer.writes.push_back(std::move(write));
  for (const JobPtr& job : queue.to_open())
    writer.writes.push_back(job_write(*job, OpenJob{.shape = first_shape(*job)}));
  for (const PodPtr& pod : queue.to_let_go())
    writer.writes.push_back(pod_write(*pod, LiftGate{}));
  for (const TaskIndex task : queue.going_on())
    writer.go_on(task);
  std::set<Uid> ended;
  for (const Effect& effect : plan.effects)
    if (effect.ended) ended.insert(queue.task(effect.task).uid);
  for (OwnWrite& write : take_back_stops(snapshot, ended))
    writer.writes.push_back(std::move(write));
  std::vector<const Effect*> stopped;  // for the next start
  for (const Effect& effect : plan.effects) {
    if (effect.ended) stopped.push_back(&effect);
    if (!effect.is_start()) continue;
    writer.begin(effect.task, *effect.begun, stopped);
    stopped.clear();
  }
  return std::move(writer.writes);
}

}  // namespace slackline::core
