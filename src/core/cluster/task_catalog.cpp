#include "slackline/core/cluster/task_catalog.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "gang_intent.h"
#include "slackline/base/saturating.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

constexpr std::int64_t kUsualGang = 64;

bool asks_for_gpus(const Job& job) {
  return !job.finished && job.pod_requests.wants_gpus();
}

const std::string* gang_label(const std::shared_ptr<const TaskIntent>& intent) {
  return intent && intent->gang ? &*intent->gang : nullptr;
}

class Grouper {
 public:
  explicit Grouper(const ClusterSnapshot& snapshot) : snapshot_(snapshot) {}

  std::vector<TaskParts> group() {
    std::size_t most = snapshot_.jobs.size() + snapshot_.unbound.size();
    for (const NodeStatePtr& state : snapshot_.nodes)
      most += state->pods.size();
    parts_.reserve(most);
    of_job_.reserve(snapshot_.jobs.size());
    for (const JobPtr& job : snapshot_.jobs)
      add(job);
    for (const NodeStatePtr& state : snapshot_.nodes)
      for (const PodPtr& pod : state->pods)
        add(pod);
    for (const PodPtr& pod : snapshot_.unbound)
      add(pod);
    std::erase_if(parts_, [](const TaskParts& parts) {
      return parts.bound.empty() && parts.unbound.empty() &&
             (!parts.job || !asks_for_gpus(*parts.job));
    });
    return std::move(parts_);
  }

 private:
  std::size_t begin(TaskKind kind, ObjectKey key, Uid uid) {
    TaskParts& parts = parts_.emplace_back();
    parts.kind = kind;
    parts.key = std::move(key);
    parts.uid = std::move(uid);
    return parts_.size() - 1;
  }

  void add(const JobPtr& job) {
    if (job->owner_gang && job->deleting) return;  // an earlier attempt
    const std::size_t place = place_of(*job);
    of_job_.emplace(job.get(), place);
    TaskParts& parts = parts_[place];
    if (!parts.job || !asks_for_gpus(*parts.job)) parts.job = job;
    if (!asks_for_gpus(*job)) return;
    parts.pods_of_jobs += job->wanted_pods();
    if (job->suspended) return;
    parts.pods_asked += job->wanted_pods();
    parts.pods_done += std::min(job->parallelism, job->completions.value_or(job->parallelism)) -
                       job->wanted_pods();
  }

  void add(const PodPtr& pod) {
    if (pod->terminal()) return;
    if (!pod->requests.wants_gpus()) return add_without_gpus(pod);
    TaskParts& parts = parts_[place_of(*pod)];
    std::vector<PodPtr>& pods = pod->bound() ? parts.bound : parts.unbound;
    if (pods.empty() && parts.pods_of_jobs > 1)
      pods.reserve(static_cast<std::size_t>(std::min(parts.pods_of_jobs, kUsualGang)));
    pods.push_back(pod);
  }

  void add_without_gpus(const PodPtr& pod) {
    if (pod->deleting || gang_label(pod->intent) != nullptr) return;
    if (const auto& gang = owner_gang_of(*pod, job_of(*pod)))
      parts_[of_gang(pod->key.ns, gang)].without_gpus.push_back(pod);
  }

  std::size_t place_of(const Job& job) {
    const std::string* label = starts_as_whole(job) ? nullptr : gang_label(job.intent);
    if (label != nullptr) return of_gang(job.key.ns, *label);
    if (job.owner_gang) return of_gang(job.key.ns, job.owner_gang);
    return begin(TaskKind::kJob, job.key, job.uid);
  }

  std::size_t place_of(const Pod& pod) {
    const Job* job = job_of(pod);
    if (const std::string* gang = gang_label_of(pod, job)) return of_gang(pod.key.ns, *gang);
    if (const auto& gang = owner_gang_of(pod, job)) return of_gang(pod.key.ns, gang);
    if (job != nullptr) return of_job_.at(job);
    if (!pod.owner) return begin(TaskKind::kPod, pod.key, pod.uid);
    const auto [at, first] =
        of_controller_.try_emplace(Controller{pod.owner->kind, pod.key.ns, pod.owner->name});
    if (first) {
      at->second = begin(TaskKind::kController, {pod.key.ns, pod.owner->name}, pod.owner->uid);
      parts_.back().controller = pod.owner->kind;
    }
    return at->second;
  }

  // Pods of a Job mostly come one after the other.
  const Job* job_of(const Pod& pod) {
    if (!pod.owner || pod.owner->kind != "Job") return nullptr;
    if (last_job_ == nullptr || last_job_->uid != pod.owner->uid)
      last_job_ = owning_job(snapshot_, pod);
    return last_job_;
  }

  std::size_t of_gang(const std::string& ns, const std::string& gang) {
    const auto [at, first] = of_gang_.try_emplace(Gang{ns, gang});
    if (first) at->second = begin(TaskKind::kGang, {ns, gang}, Uid{});
    return at->second;
  }

  std::size_t of_gang(const std::string& ns, const std::shared_ptr<const OwnerGang>& gang) {
    const auto [at, first] = of_owner_gang_.try_emplace(
        MadeGang{gang->kind, ns, gang->name, gang->uid.str(), gang->part});
    if (first) {
      at->second = begin(TaskKind::kGang, {ns, gang->name}, gang->uid);
      parts_.back().gang = gang;
      if (const GangSpec* spec = snapshot_.spec_of_gang(object_of(ns, *gang)))
        parts_.back().spec = *spec;
    }
    return at->second;
  }

  // Views of names in the snapshot.
  using Gang = std::pair<std::string_view, std::string_view>;  // ns, label
  using Controller =
      std::tuple<std::string_view, std::string_view, std::string_view>;  // kind first
  using MadeGang = std::array<std::string_view, 5>;

  const ClusterSnapshot& snapshot_;
  std::vector<TaskParts> parts_;
  const Job* last_job_ = nullptr;
  std::unordered_map<const Job*, std::size_t> of_job_;
  std::map<Gang, std::size_t> of_gang_;
  std::map<MadeGang, std::size_t> of_owner_gang_;
  std::map<Controller, std::size_t> of_controller_;
};

}  // namespace

std::int64_t written_pods(const Job& job) {
  return job.original ? job.original->parallelism.value_or(job.parallelism) : job.parallelism;
}

bool is_written_gang(const Job& job) {
  return job.indexed && job.completions == job.parallelism && written_pods(job) > 1;
}

bool goes_on_in_its_shape(const Job& job) {
  return job.suspended && job.original && job.succeeded > 0 && job.indexed &&
         job.completions == job.parallelism;
}

bool starts_one_by_one(const Job& job) {
  const bool as_one = job.original && job.original->parallelism;  // any number of pods will do
  const std::int64_t ends = as_one ? written_pods(job) : job.completions.value_or(1);
  return !is_written_gang(job) && (written_pods(job) != 1 || ends > 1);
}

bool is_opening(const Job& job, double now_wall_s) {
  constexpr double kOpensWithin_s = 10;
  return starts_one_by_one(job) && job.managed && !job.finished && !job.suspended && !job.plan &&
         job.succeeded + job.failed == 0 &&
         now_wall_s <= job.started_s.value_or(now_wall_s) + kOpensWithin_s;
}

std::int64_t waves_left(const Job& job) {
  const std::int64_t left = job.completions.value_or(0) - job.succeeded;
  const std::int64_t at_a_time = std::max<std::int64_t>(1, job.parallelism);
  return starts_one_by_one(job) && left > at_a_time ? (left + at_a_time - 1) / at_a_time : 1;
}

bool starts_as_whole(const Job& job) {
  return job.suspended || job.plan || is_written_gang(job);
}

const std::string* gang_label_of(const Pod& pod, const Job* job) {
  return job != nullptr && starts_as_whole(*job) ? nullptr : gang_label(pod.intent);
}

const std::shared_ptr<const OwnerGang>& owner_gang_of(const Pod& pod, const Job* job) {
  return job != nullptr && job->owner_gang ? job->owner_gang : pod.owner_gang;
}

TaskState task_state(bool planned, std::int64_t bound, std::int64_t wanted) {
  if (bound >= wanted) return TaskState::kRunning;
  return planned || bound > 0 ? TaskState::kStarting : TaskState::kWaiting;
}

Uid lasting_name(const ClusterSnapshot& snapshot, const Job* whole, const Pod& member) {
  if (whole != nullptr) return whole->uid;
  const Job* job = owning_job(snapshot, member);
  if (const std::string* label = gang_label_of(member, job))
    return Uid(ObjectKey{member.key.ns, *label}.str());
  const auto& gang = owner_gang_of(member, job);
  if (!gang) return member.uid;
  return gang->uid.empty() ? Uid(ObjectKey{member.key.ns, gang->name}.str()) : gang->uid;
}

Uid refused_as(const ClusterSnapshot& snapshot, const Job* whole, const Pod& member) {
  Uid name = lasting_name(snapshot, whole, member);
  if (name != member.uid || !member.owner || !spread_of(member.constraints.get()).most) return name;
  const Job* job = owning_job(snapshot, member);
  return job == nullptr || !is_written_gang(*job) ? member.owner->uid : name;
}

Resources planned_requests(const Job& job) {
  Resources pod = job.pod_requests;
  if (job.plan && !job.plan->nodes.empty() && std::ssize(job.plan->nodes) == job.parallelism)
    pod.set_gpus(primary_gpu_resource(pod), job.plan->shape.gpus() / job.parallelism);
  return pod;
}

OriginalShape counted_original(const Job& job) {
  if (!job.original) return {};
  OriginalShape original = *job.original;
  const OriginalShape::Given& given = original.given;
  const std::int64_t gpus = primary_gpu_count(job.pod_requests);
  if (given.gpus && *given.gpus != gpus) original.gpus.reset();
  if (!job.amounts || (given.amounts && !same_amounts(*given.amounts, *job.amounts)))
    original.amounts.reset();
  return original;
}

PodRequests written_requests(const Job& job) {
  const PodPtr pod = written_pod(job);
  const std::optional<ContainerAmounts> amounts = counted_original(job).amounts;
  return {pod->requests.cpu_milli, amounts ? limited_cpu_milli(*amounts) : job.cpu_limit_milli,
          pod->requests.memory_bytes};
}

PodPtr written_pod(const Job& job) {
  auto pod = std::make_shared<Pod>();
  pod->key.ns = job.key.ns;
  pod->owner = OwnerRef{"Job", job.key.name, job.uid};
  pod->priority = job.priority;
  pod->requests = job.pod_requests;
  pod->constraints = job.constraints;
  if (!job.original) return pod;
  const OriginalShape original = counted_original(job);
  if (original.gpus) pod->requests.set_gpus(primary_gpu_resource(job.pod_requests), *original.gpus);
  if (original.amounts) change_amounts(pod->requests, *job.amounts, *original.amounts);
  if (original.affinity_terms) {
    auto own = job.constraints ? *job.constraints : SchedulingConstraints{};
    own.affinity_terms = *original.affinity_terms;
    pod->constraints = std::make_shared<const SchedulingConstraints>(std::move(own));
  }
  return pod;
}

bool has_replacements(std::size_t bound, const std::vector<PodPtr>& unbound) {
  return bound > 0 &&
         std::any_of(unbound.begin(), unbound.end(), [](const PodPtr& pod) { return pod->gated; });
}

bool awaits_replacements(const Job* job, std::size_t bound, const std::vector<PodPtr>& unbound) {
  if (has_replacements(bound, unbound)) return true;
  if (job == nullptr || !job->plan || bound == 0) return false;
  const auto there = std::max(static_cast<std::int64_t>(bound + unbound.size()), job->active);
  const std::int64_t wanted = std::min(job->wanted_pods(), std::ssize(job->plan->nodes));
  return there + job->terminating < wanted;
}

PlanNote plan_of_run(const ClusterSnapshot& snapshot, std::vector<NodeName> nodes,
                     std::int64_t gpus_per_pod) {
  std::sort(nodes.begin(), nodes.end());
  PlanNote note;
  if (const auto node = snapshot.find_node(nodes.front().str()))
    note.gpu_type = snapshot.node(*node).node->gpu_type;
  const std::set<NodeName> distinct(nodes.begin(), nodes.end());
  const auto wide = std::ssize(distinct);
  note.shape = clamped_placement(wide, saturating_mul(gpus_per_pod, std::ssize(nodes)) / wide);
  note.nodes = std::move(nodes);
  return note;
}

TaskCatalog::TaskCatalog(const ClusterSnapshot& snapshot)
    : snapshot_(snapshot), parts_(Grouper(snapshot).group()) {}

std::vector<Task> TaskCatalog::tasks() const {
  std::vector<Task> tasks;
  tasks.reserve(parts_.size());
  for (const TaskParts& parts : parts_)
    tasks.push_back(describe(parts));
  std::sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
    return std::forward_as_tuple(a.key, a.kind_name(), a.kind) <
           std::forward_as_tuple(b.key, b.kind_name(), b.kind);
  });
  return tasks;
}

std::optional<Task> TaskCatalog::find(const ObjectKey& key) const {
  const TaskParts* named = nullptr;
  for (const TaskParts& parts : parts_)
    if (parts.key == key && (named == nullptr || parts.kind < named->kind)) named = &parts;
  if (named == nullptr) named = gang_with_job(key);
  if (named != nullptr) return describe(*named);
  for (const TaskParts& parts : parts_)
    for (const auto* pods : {&parts.bound, &parts.unbound})
      for (const PodPtr& pod : *pods) {
        if (pod->key != key) continue;
        if (parts.is_whole()) return describe(parts);
        TaskParts alone;
        alone.key = pod->key;
        alone.uid = pod->uid;
        (pod->bound() ? alone.bound : alone.unbound).push_back(pod);
        return describe(alone);
      }
  return std::nullopt;
}

const TaskParts* TaskCatalog::gang_with_job(const ObjectKey& key) const {
  const Job* job = snapshot_.find_job(key.ns, key.name);
  if (job == nullptr || !job->owner_gang) return nullptr;
  for (const TaskParts& parts : parts_)
    if (parts.gang && parts.key == ObjectKey{key.ns, job->owner_gang->name}) return &parts;
  return nullptr;
}

namespace {

// What is not there yet counts as the largest member.
void count_gpus(const TaskParts& parts, Task& task) {
  std::int64_t unit = task.gpus_per_pod;
  std::int64_t there = 0;
  for (const auto* pods : {&parts.bound, &parts.unbound})
    for (const PodPtr& pod : *pods) {
      const std::int64_t gpus = pod->requests.gpu_count(task.gpu_resource);
      unit = std::gcd(unit, gpus);
      there = saturating_add(there, gpus);
    }
  const std::int64_t missing = task.pods_wanted - task.pods_bound - task.pods_unbound;
  task.all_gpus = saturating_add(there, saturating_mul(missing, task.gpus_per_pod));
  const bool alike = task.all_gpus == saturating_mul(task.pods_wanted, task.gpus_per_pod);
  if (parts.kind == TaskKind::kGang && !alike) task.gpus_unit = unit;
}

}  // namespace

Task TaskCatalog::describe(const TaskParts& parts) const {
  const Job* job = parts.job && asks_for_gpus(*parts.job) ? parts.job.get() : nullptr;
  const Pod* first = !parts.bound.empty()     ? parts.bound.front().get()
                     : !parts.unbound.empty() ? parts.unbound.front().get()
                                              : nullptr;
  Task task;
  task.kind = parts.kind;
  task.controller = parts.controller;
  task.key = parts.key;
  task.uid = parts.uid;
  task.job = parts.job;
  task.gang = parts.kind == TaskKind::kGang || (job != nullptr && job->is_gang());
  if (job != nullptr) {
    task.gpu_resource = primary_gpu_resource(job->pod_requests);
    task.created_s = job->created_s;
    task.priority = job->priority;
    task.gpus_per_pod = job->pod_requests.gpu_count(task.gpu_resource);
  } else if (first != nullptr) {
    task.gpu_resource = primary_gpu_resource(first->requests);
    task.created_s = first->created_s;
    task.priority = first->priority;
  }
  for (const auto* pods : {&parts.bound, &parts.unbound})
    for (const PodPtr& pod : *pods) {
      task.created_s = std::min(task.created_s, pod->created_s);
      task.priority = std::max(task.priority, pod->priority);
      task.gpus_per_pod = std::max(task.gpus_per_pod, pod->requests.gpu_count(task.gpu_resource));
    }
  const Pod* speaks =
      parts.kind == TaskKind::kGang ? who_speaks({&parts.bound, &parts.unbound}) : first;
  if (speaks != nullptr) task.intent = effective_intent(snapshot_, *speaks);
  if (job != nullptr) {  // every pod repeats what is wrong in its Job
    const TaskIntent of_job = job->intent ? *job->intent : TaskIntent{};
    if (first == nullptr) task.intent = of_job;
    task.intent.problems = of_job.problems;
  }
  task.member = !parts.unbound.empty() ? parts.unbound.front()
                : first != nullptr     ? parts.bound.front()
                                       : written_pod(*job);
  for (const PodPtr& pod : parts.bound)
    task.nodes.push_back(pod->node);
  std::sort(task.nodes.begin(), task.nodes.end());
  task.nodes.erase(std::unique(task.nodes.begin(), task.nodes.end()), task.nodes.end());
  task.pods_bound = static_cast<std::int64_t>(parts.bound.size());
  task.pods_unbound = static_cast<std::int64_t>(parts.unbound.size());
  task.pods_wanted =
      std::max({task.pods_bound + task.pods_unbound, parts.pods_of_jobs, std::int64_t{1}});
  if (const auto size = gang_size(parts, task.intent))
    task.pods_wanted = std::max(task.pods_wanted, *size);
  count_gpus(parts, task);
  const bool may_change = parts.kind == TaskKind::kJob && job != nullptr && parts.bound.empty();
  task.nodes_may_change = may_change && job->nodes_may_change();
  task.gpus_may_change = may_change && job->gpus_may_change() && !starts_one_by_one(*job);
  // The plan of a suspended Job is void.
  const bool planned = task.member->plan || (task.job && task.job->plan && !task.job->suspended);
  task.state = task_state(planned, task.pods_bound, task.pods_wanted);
  return task;
}

std::optional<std::int64_t> gang_size(const TaskParts& parts, const TaskIntent& intent) {
  if (parts.kind != TaskKind::kGang) return std::nullopt;
  std::optional<std::int64_t> size = intent.gang_size;
  if (parts.gang) {
    size.reset();
    if (std::all_of(parts.bound.begin(), parts.bound.end(),
                    [](const auto& pod) { return pod->deleting; }))
      size = parts.spec.pods;
    if (parts.gang->size) size = *parts.gang->size - std::ssize(parts.without_gpus);
    if (parts.gang->of_jobs && parts.pods_asked > 0)
      size = std::max(size.value_or(0) - parts.pods_done, parts.pods_asked);
  }
  if (size) size = std::min(*size, kMaxGang);
  return size;
}

std::int64_t gang_pods(const ClusterSnapshot& snapshot, const Pod& pod, const TaskIntent& intent) {
  if (intent.gang && intent.gang_size)
    return std::clamp<std::int64_t>(*intent.gang_size, 1, kMaxGang);
  const Job* job = owning_job(snapshot, pod);
  if (job != nullptr && job->is_gang()) return std::min(job->parallelism, kMaxGang);
  return 1;
}

}  // namespace slackline::core
