#include "queue_tasks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "eligibility.h"
#include "gang_intent.h"
#include "gangs/placed_gang.h"
#include "slackline/base/duration.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/depends.h"
#include "slackline/core/cluster/disrupted_jobs.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/cluster/later_members.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/contract.h"

namespace slackline::core {
namespace {

bool may_wait(const Pod& pod) {
  return pod.managed && !pod.in_pod_group && !pod.deleting && pod.problems.empty() && !pod.plan;
}

// A group of a LeaderWorkerSet that is its leader alone for as long waits for it to run
// (startupPolicy LeaderReady): nothing on the pods says so.
constexpr double kLeaderAloneAfter_s = 10;

// A controller has made all pods of a gang of unknown size once it makes no more for as long.
constexpr double kGangIsWholeAfter_s = 2;

// Its pods start one by one. A time limit would run behind their gates, and what a quota refuses
// waits nowhere.
bool opens_with_its_first_pod(const ClusterSnapshot& snapshot, const Job& job) {
  if (!starts_one_by_one(job)) return false;
  return job.active_deadline_s || is_within_a_quota(snapshot, job.key.ns, job.pod_requests);
}

// Its controller would make none, and not end it either.
bool asks_for_no_pods(const Job& job) {
  return written_pods(job) == 0 && job.completions.value_or(1) > job.succeeded;
}

// As it was written, before we changed its shape.
QueueTask task_of_job(const JobPtr& job) {
  QueueTask task;
  task.kind = TaskKind::kJob;
  task.key = job->key;
  task.uid = job->uid;
  task.job = job;
  task.member = written_pod(*job);
  const std::string resource = primary_gpu_resource(job->pod_requests);
  const bool goes_on = goes_on_in_its_shape(*job);
  const std::int64_t left = goes_on ? job->wanted_pods() : written_pods(*job) - job->succeeded;
  const Resources& pod = goes_on ? job->pod_requests : task.member->requests;
  task.request = {resource, std::max<std::int64_t>(1, left), pod.gpu_count(resource),
                  job->nodes_may_change(), job->gpus_may_change() && !goes_on};
  task.request.spread = spread_of(job->constraints.get());
  static const auto kNothingSaid = std::make_shared<const TaskIntent>();
  task.intent = job->intent ? job->intent : kNothingSaid;
  task.request.limit_s = job->run_limit_s();
  task.created_s = job->created_s;
  task.shape_is_free = shape_is_free(*task.intent, task.request);
  task.plan = job->plan;
  return task;
}

class TaskFinder {
 public:
  TaskFinder(const ClusterSnapshot& snapshot, const std::unordered_set<Uid>* held_off,
             const StopAsked& stop, double now_wall_s)
      : snapshot_(snapshot),
        held_off_(held_off),
        stop_(stop),
        now_s_(now_wall_s),
        dependencies_(snapshot),
        disrupted_(snapshot, now_wall_s) {}

  FoundTasks find() {
    const TaskCatalog catalog(snapshot_);
    found_.waiting.reserve(snapshot_.jobs.size());
    for (const TaskParts& parts : catalog.parts()) {
      if (is_asked(stop_)) break;
      find_plans(parts);
      if (parts.kind == TaskKind::kGang)
        add_gang(parts);
      else if (parts.is_whole())
        add_job(parts);
      else
        add_each(parts);
    }
    find_launchers();
    return std::move(found_);
  }

 private:
  static bool waits_at_our_gate(const Pod& pod) {
    return pod.our_gate && !pod.foreign_gate && may_wait(pod);
  }

  // Without a plan: it was released, has lost it, or was there before Slackline.
  static bool runs_unplanned(const Pod& pod) {
    return pod.bound() && !pod.terminal() && may_wait(pod);
  }

  static std::vector<PodPtr> gated_of(const TaskParts& parts) {
    std::vector<PodPtr> gated;
    for (const PodPtr& pod : parts.unbound)
      if (waits_at_our_gate(*pod)) gated.push_back(pod);
    return gated;
  }

  void add_job(const TaskParts& parts) {
    const JobPtr& job = parts.job;
    if (job->finished || !job->pod_requests.wants_gpus() || !job->problems.empty()) return;
    if (job->deleting && (job->suspended || parts.bound.empty())) return;
    if (!job->suspended) {
      if (job->plan) {
        found_.running.push_back(task_of_job(job));
        found_.running.back().pods = parts.unbound;
        found_.running.back().bound = parts.bound;
        // A calibration run that others disturb measures nothing any more: it fails.
        if (!job->is_calibration())
          found_.running.back().disruption = disrupted_.of(*job, parts.bound);
      } else {
        if (parts.bound.empty()) add_job_with_pods(job, gated_of(parts));
        add_unplanned(parts);
      }
      return;
    }
    if (!job->suspended_by_us) return add_held_job(job, "suspended");
    if (asks_for_no_pods(*job)) return add_held_job(job, "parallelism 0");
    if (held_off_ != nullptr && held_off_->contains(job->uid)) return;
    const bool ends = still_ends(*job, parts.bound);
    if (starts_one_by_one(*job) && !opens_with_its_first_pod(snapshot_, *job) &&
        !is_held(job->intent) && !dependencies_.of(*job)) {
      if (job->halted && !ends) found_.to_open.push_back(job);
      return;
    }
    QueueTask task = task_of_job(job);
    task.plan = nullptr;  // that of a suspended Job is void
    if (ends) task.hindrance = Hindrance{reason::kPodsEnding, silent_nodes_of(parts.bound)};
    if (opens_with_its_first_pod(snapshot_, *job)) wait_for_first_pod(task);
    wait(std::move(task));
  }

  static bool is_held(const std::shared_ptr<const TaskIntent>& intent) {
    return intent && intent->hold.value_or(false);
  }

  static void wait_for_first_pod(QueueTask& task) {
    task.opens = true;
    task.request.pods = 1;
    task.request.nodes_may_change = task.request.gpus_may_change = false;
    task.shape_is_free = false;
  }

  // Suspended by somebody else, or without pods: it joins the queue once it is resumed.
  void add_held_job(const JobPtr& job, std::string how) {
    if (!job->managed || !job->topmost()) return;
    QueueTask task = task_of_job(job);
    task.plan = nullptr;
    task.hindrance = Hindrance{reason::kHeldByUser, std::move(how)};
    found_.waiting.push_back(std::move(task));
  }

  // A pod that is overdue is waited for no longer, unless the Job controller waits for it.
  bool still_ends(const Job& job, const std::vector<PodPtr>& bound) const {
    return job.active > 0 || job.terminating > 0 ||
           std::any_of(bound.begin(), bound.end(), [&](const PodPtr& pod) {
             return now_s_ <= pod->gone_by_s.value_or(kNever) + kOverdue_s;
           });
  }

  // "no answer from n1, n2"; empty: all are ready.
  std::string silent_nodes_of(const std::vector<PodPtr>& bound) const {
    std::set<std::string> silent;
    for (const PodPtr& pod : bound) {
      const auto node = snapshot_.find_node(pod->node.str());
      if (!node || !snapshot_.node(*node).node->ready) silent.insert(pod->node.str());
    }
    if (silent.empty()) return "";
    return format("no answer from {}", join({silent.begin(), silent.end()}, ", "));
  }

  // Its pods exist: their shape is what it is.
  void add_job_with_pods(const JobPtr& job, std::vector<PodPtr>&& gated) {
    if (gated.empty()) return;
    QueueTask task = task_of_job(job);
    task.pods = std::move(gated);
    task.request = {task.request.resource, job->parallelism - job->succeeded,
                    job->pod_requests.gpu_count(task.request.resource), false, false};
    task.request.spread = spread_of(job->constraints.get());
    task.shape_is_free = false;
    wait(std::move(task));
  }

  void wait(QueueTask&& task) {
    if (is_held(task.intent))
      task.hindrance = Hindrance{reason::kHeldByUser, std::string(contract::kHold)};
    if (const std::string why = refusal_of(task); !task.hindrance && !why.empty())
      task.hindrance = Hindrance{reason::kPodsRejected, why};
    if (task.hindrance) {
      found_.waiting.push_back(std::move(task));
      return;
    }
    task.hindrance = dependencies_.of(task);
    found_.waiting.push_back(std::move(task));
  }

  // Of pods that do not exist yet.
  static std::string refusal_of(const QueueTask& task) {
    const Pod& pod = task.job && !task.pods.empty() ? *task.pods.front() : *task.member;
    return pod.constraints ? pod.constraints->refused : std::string();
  }

  void add_each(const TaskParts& parts) {
    if (parts.job && parts.job->deleting) return;
    if (parts.job && has_just_opened(parts)) {
      QueueTask task = task_of_job(parts.job);
      wait_for_first_pod(task);
      return wait(std::move(task));
    }
    for (const PodPtr& pod : parts.unbound) {
      if (waits_at_our_gate(*pod))
        wait(task_of_pod(pod));
      else if (was_let_go(*pod))
        found_.let_go.push_back(task_of_pod(pod));
    }
    add_unplanned(parts);
  }

  // What nobody plans, and kube-scheduler runs or will: a Job that starts as a whole or is one pod,
  // and each bound pod of others.
  void add_unplanned(const TaskParts& parts) {
    const JobPtr& job = parts.job;
    if (job && job->finished) return;
    std::vector<PodPtr> bound;
    std::copy_if(parts.bound.begin(), parts.bound.end(), std::back_inserter(bound),
                 [](const PodPtr& pod) { return runs_unplanned(*pod); });
    const bool one = parts.kind == TaskKind::kJob && job->managed && job->problems.empty() &&
                     !starts_one_by_one(*job);
    if (!one) {
      for (PodPtr& pod : bound) {
        QueueTask task = task_of_pod(pod);
        task.bound.swap(task.pods);
        run_unplanned(std::move(task));
      }
    } else if (!bound.empty() || !is_found_by_its_pods(parts)) {
      QueueTask task = task_of_job(job);
      task.bound = std::move(bound);
      task.pods = parts.unbound;
      run_unplanned(std::move(task));
    }
  }

  static bool is_found_by_its_pods(const TaskParts& parts) {
    const auto is_found = [&](const PodPtr& pod) {
      return pod->plan || waits_at_our_gate(*pod) ||
             (was_let_go(*pod) && !is_written_gang(*parts.job));
    };
    return std::any_of(parts.unbound.begin(), parts.unbound.end(), is_found) ||
           std::any_of(parts.bound.begin(), parts.bound.end(), is_found);
  }

  void run_unplanned(QueueTask&& task) {
    found_.running.push_back(running_unplanned(snapshot_, std::move(task)));
  }

  // A gang is planned once it is complete; replacements of one that runs come pod by pod.
  void add_gang(const TaskParts& parts) {
    add_unplanned(parts);
    keep_launchers(parts);
    std::vector<PodPtr> gated = gated_of(parts);
    if (gated.empty()) return;
    const auto runs = [&](const PodPtr& pod) { return !parts.gang || !pod->deleting; };
    if (std::any_of(parts.bound.begin(), parts.bound.end(), runs)) {
      for (const PodPtr& pod : gated)
        found_.waiting.push_back(task_of_pod(pod));
      return;
    }
    const auto& unbound = parts.unbound;
    if (std::any_of(unbound.begin(), unbound.end(), [](const auto& pod) { return pod->plan; }))
      return;
    QueueTask task = task_of(std::move(gated), TaskKind::kGang, parts.key, parts.uid);
    task.gang = parts.gang;
    const std::int64_t there = std::ssize(task.pods);
    await_later_members(parts, task);
    if (!task.hindrance) {
      tell_apart(task);
      wait_for_members(parts, there, task);
    }
    wait(std::move(task));
  }

  // Those that could run only on a GPU type of their own come pod by pod.
  void await_later_members(const TaskParts& parts, QueueTask& task) const {
    LaterPods later = later_members(snapshot_, parts, *task.pods.front());
    if (later.count == 0) return;
    std::vector<PodPtr> all = task.pods;
    all.insert(all.end(), later.pods.begin(), later.pods.end());
    const CommonType type = common_type(all);
    if (type == CommonType::kNone) return;
    const std::int64_t pods = saturating_add(task.request.pods, later.count);
    task.request.pods = std::min(pods, kMaxGang);
    task.request.gpus = std::max(task.request.gpus, later.most_gpus);
    if (type == CommonType::kOne && !later.too_many)
      task.pods = std::move(all);
    else
      task.hindrance = Hindrance{
          reason::kNoNodeFits,
          format("its controller makes {} of its {} pods later; all are planned together, and {}",
                 later.count, pods,
                 type == CommonType::kOne ? "no GPU type has usable nodes with as many GPUs"
                                          : "no usable node may take one of them")};
  }

  // Members without a GPU that were gated wait until no other member does.
  void keep_launchers(const TaskParts& parts) {
    if (std::none_of(parts.unbound.begin(), parts.unbound.end(),
                     [](const PodPtr& pod) { return pod->our_gate && !pod->deleting; }))
      return;
    for (const PodPtr& pod : parts.without_gpus)
      if (pod->our_gate) launchers_that_wait_.insert(pod->uid);
  }

  // Of a gang that waits for nothing, or whose controller is not known once the watches have had
  // their time.
  void find_launchers() {
    for (const PodPtr& pod : snapshot_.unbound)
      if (pod->our_gate && !pod->foreign_gate && !pod->deleting && !pod->requests.wants_gpus() &&
          !launchers_that_wait_.contains(pod->uid) &&
          now_s_ >= pod->created_s + kGangIsWholeAfter_s)
        found_.to_let_go.push_back(pod);
  }

  // `gated`: of its pods, those that are there.
  void wait_for_members(const TaskParts& parts, std::int64_t gated, QueueTask& task) const {
    const auto members = std::count_if(parts.unbound.begin(), parts.unbound.end(),
                                       [](const auto& pod) { return !pod->deleting; });
    std::int64_t size = gang_size(parts, *task.intent).value_or(members);
    if (parts.gang && parts.gang->size) size -= std::ssize(task.pods) - gated;
    const std::int64_t others = std::ssize(parts.without_gpus);
    const std::int64_t there = gated + others;
    if (is_leader_alone(parts) && !is_yet_to_be_read(parts) &&
        now_s_ >= newest_s(parts) + kLeaderAloneAfter_s)
      return;
    if (there < size + others) {
      task.request.pods = size;
      task.request.of_each.clear();  // those of the others are not known
      task.hindrance =
          Hindrance{reason::kGangIncomplete, format("{} of {} pods", there, size + others)};
    } else if (parts.gang &&
               (is_yet_to_be_read(parts) || (!parts.gang->size && !parts.spec.pods &&
                                             now_s_ < newest_s(parts) + kGangIsWholeAfter_s))) {
      task.hindrance = Hindrance{reason::kGangIncomplete, format("{} pods so far", there)};
    } else if (const Pod* pod = without_a_node(parts.without_gpus)) {
      task.hindrance = Hindrance{reason::kNoNodeFits, pod->key.name};
    } else if (!task.request.of_each.empty() && common_type(task.pods) != CommonType::kOne) {
      task.hindrance = Hindrance{reason::kNoNodeFits, "no GPU type has nodes for all of its pods"};
    }
  }

  // What makes it may say that more pods come later. A dump knows nothing of it.
  bool is_yet_to_be_read(const TaskParts& parts) const {
    return snapshot_.gang_specs &&
           snapshot_.spec_of_gang(object_of(parts.key.ns, *parts.gang)) == nullptr;
  }

  // A plan is of one type. kNoNode: one of the pods could run on none.
  enum class CommonType : std::uint8_t { kNone, kNoNode, kOne };

  CommonType common_type(const std::vector<PodPtr>& pods) const {
    std::map<std::string, PodPtr> unlike;
    for (const PodPtr& pod : pods)
      unlike.try_emplace(format("{} {}", pod->requests.gpu_total(), eligibility_key(*pod)), pod);
    std::map<GpuType, std::size_t> could_run;  // how many of these on nodes of a type
    for (const auto& [key, pod] : unlike) {
      std::set<GpuType> types;
      for (const NodeStatePtr& state : snapshot_.nodes)
        if (is_usable(*state->node) && !misfit(*pod, *state->node))
          types.insert(state->node->gpu_type);
      if (types.empty()) return CommonType::kNoNode;
      for (const GpuType& type : types)
        ++could_run[type];
    }
    const bool any = std::any_of(could_run.begin(), could_run.end(),
                                 [&](const auto& type) { return type.second == unlike.size(); });
    return any ? CommonType::kOne : CommonType::kNone;
  }

  // The workers are owned by a StatefulSet of the group's name.
  static bool is_leader_alone(const TaskParts& parts) {
    return parts.gang && parts.gang->kind == "LeaderWorkerSet" && parts.unbound.size() == 1 &&
           parts.without_gpus.empty() && parts.unbound.front()->owner &&
           parts.unbound.front()->owner->name != parts.gang->name;
  }

  // The first that asks for more than any usable node has; what else keeps it away is not known of
  // pods that ask for no GPU.
  const Pod* without_a_node(const std::vector<PodPtr>& pods) const {
    for (const PodPtr& pod : pods) {
      const bool fits_somewhere =
          pod->bound() ||
          std::any_of(snapshot_.nodes.begin(), snapshot_.nodes.end(),
                      [&](const NodeStatePtr& state) {
                        return is_usable(*state->node) &&
                               snapshot_.fits(pod->requests, state->node->allocatable);
                      });
      if (!fits_somewhere) return pod.get();
    }
    return nullptr;
  }

  static double newest_s(const TaskParts& parts) {
    double newest_s = 0;
    for (const auto* pods : {&parts.unbound, &parts.without_gpus})
      for (const PodPtr& pod : *pods)
        newest_s = std::max(newest_s, pod->created_s);
    return newest_s;
  }

  // The pods that carry one plan are one task; its pods beyond the first add nothing. That is one
  // without a node, if any: the task starts until all of them have theirs.
  void find_plans(const TaskParts& parts) {
    for (const auto* pods : {&parts.unbound, &parts.bound})
      for (const PodPtr& pod : *pods) {
        if (!pod->plan || was_evicted(*pod)) continue;
        if (!pod->bound() && parts.kind == TaskKind::kJob && parts.job->deleting) continue;
        if (!running_plans_.insert(pod->key.ns + "/" + pod->plan->id).second) continue;
        const bool gang = parts.kind == TaskKind::kGang &&
                          (pod->plan->nodes.size() > 1 || is_all_with_gpus(parts));
        QueueTask task =
            gang ? task_of({pod}, TaskKind::kGang, parts.key, parts.uid) : task_of_pod(pod);
        task.plan = pod->plan;
        task.request.pods = static_cast<std::int64_t>(pod->plan->nodes.size());
        if (gang) {
          task.gang = parts.gang;
          task.intent = intent_of(*who_speaks({&parts.bound, &parts.unbound}));
          task.began_s = first_start_s(parts.bound, pod->plan->id);
          for (const auto* members : {&parts.unbound, &parts.bound})
            for (const PodPtr& member : *members)
              task.created_s = std::min(task.created_s, created_of_s(*member));
          place_each(parts, task);
        }
        if (task.request.pods == 1 && pod->bound()) task.bound.swap(task.pods);
        found_.running.push_back(std::move(task));
      }
  }

  static std::optional<double> first_start_s(const std::vector<PodPtr>& pods,
                                             const std::string& plan) {
    std::optional<double> first_s;
    for (const PodPtr& pod : pods)
      if (pod->started_s && pod->plan && pod->plan->id == plan)
        first_s = std::min(first_s.value_or(kNever), *pod->started_s);
    return first_s;
  }

  // Such as the worker of a launcher.
  static bool is_all_with_gpus(const TaskParts& parts) {
    return parts.gang && parts.gang->size.value_or(2) > 1 &&
           parts.bound.size() + parts.unbound.size() == 1;
  }

  // Pods that differ are planned as they are, but for those that ask for several kinds of GPUs.
  static void tell_apart(QueueTask& task) {
    const std::string first = eligibility_key(*task.pods.front());
    const auto is_equal = [&](const PodPtr& pod) {
      return pod->requests.gpu_count(task.request.resource) == task.request.gpus &&
             eligibility_key(*pod) == first;
    };
    if (std::all_of(task.pods.begin(), task.pods.end(), is_equal)) return;
    std::vector<PodPtr> pods = task.pods;
    auto of_each = gpus_of_each(pods, task.request.resource);
    if (of_each.back() < 1) return;
    for (const PodPtr& pod : pods) {
      const OwnSpread spread = spread_of(pod->constraints.get());
      if (task.request.spread.together.empty()) task.request.spread.together = spread.together;
      if (spread.most)
        task.request.spread.most =
            std::min(*spread.most, task.request.spread.most.value_or(*spread.most));
      if (spread.skew)
        task.request.spread.skew =
            std::min(*spread.skew, task.request.spread.skew.value_or(*spread.skew));
    }
    task.pods = std::move(pods);
    task.member = *std::find_if_not(task.pods.begin(), task.pods.end(),
                                    [](const PodPtr& pod) { return is_to_come(*pod); });
    task.request.of_each = std::move(of_each);
  }

  bool has_just_opened(const TaskParts& parts) const {
    return parts.unbound.empty() && parts.bound.empty() && is_opening(*parts.job, now_s_) &&
           opens_with_its_first_pod(snapshot_, *parts.job);
  }

  std::shared_ptr<const TaskIntent> intent_of(const Pod& pod) const {
    return std::make_shared<const TaskIntent>(effective_intent(snapshot_, pod));
  }

  // Of a member of a gang: its Job's, which may be older.
  double created_of_s(const Pod& pod) const {
    const Job* job = owning_job(snapshot_, pod);
    return job != nullptr ? std::min(job->created_s, pod.created_s) : pod.created_s;
  }

  QueueTask task_of_pod(const PodPtr& pod) const {
    return task_of({pod}, TaskKind::kPod, pod->key, pod->uid);
  }

  QueueTask task_of(std::vector<PodPtr> pods, TaskKind kind, ObjectKey key, Uid uid) const {
    const Pod& first = *pods.front();
    QueueTask task;
    task.kind = kind;
    task.key = std::move(key);
    task.uid = std::move(uid);
    task.member = pods.front();
    task.intent = intent_of(*who_speaks({&pods}));
    task.created_s = first.created_s;
    task.request.resource = primary_gpu_resource(first.requests);
    task.request.pods = static_cast<std::int64_t>(pods.size());
    task.request.gpus = 0;
    task.request.spread = spread_of(first.constraints.get());
    for (const PodPtr& pod : pods) {
      task.request.gpus =
          std::max(task.request.gpus, pod->requests.gpu_count(task.request.resource));
      task.created_s =
          std::min(task.created_s, kind == TaskKind::kGang ? created_of_s(*pod) : pod->created_s);
    }
    task.pods = std::move(pods);
    return task;
  }

  const ClusterSnapshot& snapshot_;
  const std::unordered_set<Uid>* held_off_;
  const StopAsked& stop_;
  const double now_s_;
  const Dependencies dependencies_;
  const DisruptedJobs disrupted_;
  std::set<Uid> launchers_that_wait_;
  std::set<std::string> running_plans_;  // ordered: whoever writes a plan chooses its id
  FoundTasks found_;
};

}  // namespace

bool was_let_go(const Pod& pod) {
  return !pod.gated && pod.nominated_node.empty() && may_wait(pod);
}

QueueTask running_unplanned(const ClusterSnapshot& snapshot, QueueTask&& task) {
  std::vector<NodeName> nodes;
  for (const PodPtr& pod : task.bound)
    nodes.push_back(pod->node);
  PlanNote where;
  where.shape = clamped_placement(task.request.pods, task.request.gpus);
  if (!nodes.empty()) {
    const std::int64_t gpus = task.bound.front()->requests.gpu_count(task.request.resource);
    where = plan_of_run(snapshot, std::move(nodes), gpus);
  }
  task.plan = std::make_shared<const PlanNote>(std::move(where));
  return std::move(task);
}

bool replaces_no_pods(const Job& job, double now_wall_s) {
  if (job.deleting) return true;
  return !job.suspended && job.active_deadline_s && job.started_s &&
         now_wall_s >= *job.started_s + static_cast<double>(*job.active_deadline_s);
}

bool is_asker(const StopNotice& notice, const QueueTask& task) {
  return notice.asker == task.key && notice.asker_uid == task.uid;
}

std::optional<StopNotice> notice_of(const std::vector<PodPtr>& pods) {
  std::optional<StopNotice> latest;
  for (const PodPtr& pod : pods)
    if (pod->notice && (!latest || latest->at_s < pod->notice->at_s)) latest = *pod->notice;
  return latest;
}

FoundTasks find_queue_tasks(const ClusterSnapshot& snapshot,
                            const std::unordered_set<Uid>* held_off, const StopAsked& stop,
                            double now_wall_s) {
  return TaskFinder(snapshot, held_off, stop, now_wall_s).find();
}

}  // namespace slackline::core
