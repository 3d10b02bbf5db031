#include "slackline/core/cluster/calibration.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "losses/past_losses.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

constexpr double kDay_s = 86400;
constexpr double kLeastTrial_s = 60;  // less time is not worth a start
constexpr std::size_t kMostStem = 40;

bool is_calibration(const QueueTask& task) {
  return task.job && task.job->is_calibration();
}

// Unique for what is measured and how often; the same after another replica has taken over.
std::string name_of(const Trial& trial) {
  std::string stem = trial.from->key.name.substr(0, kMostStem);
  while (!stem.empty() && (stem.back() == '-' || stem.back() == '.'))
    stem.pop_back();
  const std::string what = format("{} {} {} {}", trial.from->uid.str(), trial.gpu_type.str(),
                                  trial.shape.str(), trial.tries);
  return format("{}-cal-{:08x}", stem, fingerprint(what) & 0xffffffffU);
}

// As one pod of the run will be.
PodPtr member_of(const Trial& trial, const std::string& resource) {
  Pod member = *written_pod(*trial.from);
  member.requests.set_gpus(resource, trial.shape.d_gpn);
  return std::make_shared<const Pod>(std::move(member));
}

class Beginner {
 public:
  Beginner(const ClusterSnapshot& snapshot, const QueueOptions& options, const Queue& queue,
           const CalibrationRules& rules)
      : snapshot_(snapshot),
        queue_(queue),
        rules_(rules),
        room_(snapshot, options.now_steady_s, options.now_wall_s),
        free_(queue.state().free()),
        quotas_(snapshot),
        left_gpu_s_(calibration_gpu_s_left(snapshot, rules, options.now_wall_s)) {
    quotas_.charge_released(snapshot, options.now_steady_s, options.now_wall_s);
  }

  void begin(const Trial& trial) {
    const std::string resource = primary_gpu_resource(trial.from->pod_requests);
    const double run_s = std::min(rules_.most_run_s, left_gpu_s_ / trial.shape.gpus());
    if (run_s < std::min(kLeastTrial_s, rules_.most_run_s)) return;
    const PodPtr member = member_of(trial, resource);
    const std::string& ns = trial.from->key.ns;
    if (!quotas_.admits(ns, member->requests, trial.shape.d_node)) return;
    for (PoolIndex p = 0; p < queue_.pools().size(); ++p) {
      const QueuePool& pool = queue_.pools()[p];
      if (pool.pool.type != trial.gpu_type || pool.pool.resource != resource) continue;
      EligibleNodes eligible;
      eligible.by_pool.resize(p + 1);
      eligible.by_pool[p] = usable_nodes(snapshot_, room_, *member, pool.nodes);
      const std::vector<PoolNode> nodes = free_.find(p, trial.shape, &eligible);
      if (nodes.empty()) return;
      free_.take(p, nodes, trial.shape.d_gpn);
      quotas_.charge(ns, member->requests, trial.shape.d_node);
      left_gpu_s_ -= run_s * trial.shape.gpus();
      orders.push_back({.from = trial.from,
                        .name = name_of(trial),
                        .gpu_type = trial.gpu_type,
                        .gpu_resource = resource,
                        .shape = trial.shape,
                        .iterations = trial.iterations,
                        .deadline_s = static_cast<std::int64_t>(run_s),
                        .priority_class = rules_.priority_class});
      return;
    }
  }

  std::vector<CalibrationOrder> orders;

 private:
  const ClusterSnapshot& snapshot_;
  const Queue& queue_;
  const CalibrationRules& rules_;
  const RoomTable room_;
  FreeGpus free_;
  QuotaBook quotas_;
  double left_gpu_s_;
};

// The GPU types that somebody waits for, or that runs would be stopped on, each with the first who
// does.
std::map<GpuType, TaskIndex> asked_types(const Queue& queue, const Plan& plan) {
  std::map<GpuType, TaskIndex> types;
  const auto add = [&](TaskIndex task) {
    for (const Choice& choice : queue.state().tasks()[task].menu->all)
      types.emplace(queue.pools()[choice.pool].pool.type, task);
  };
  for (const TaskIndex task : queue.state().waiting())
    if (!is_calibration(queue.task(task))) add(task);
  for (const Effect& effect : plan.effects)
    if (effect.ended) add(effect.task);
  return types;
}

}  // namespace

double calibration_gpu_s_left(const ClusterSnapshot& snapshot, const CalibrationRules& rules,
                              double now_wall_s) {
  double used_gpu_s = 0;
  for (const JobPtr& job : snapshot.jobs) {
    if (!job->is_calibration()) continue;
    const double gpus = gpus_of(*job);
    const double most_s = static_cast<double>(
        job->active_deadline_s.value_or(static_cast<std::int64_t>(rules.most_run_s)));
    if (!job->finished)
      used_gpu_s += gpus * std::max(most_s, now_wall_s - job->started_s.value_or(now_wall_s));
    else if (job->started_s && job->ended_s && *job->ended_s > now_wall_s - kDay_s)
      used_gpu_s += gpus * std::max(0.0, *job->ended_s - *job->started_s);
  }
  return rules.gpu_minutes_per_day * 60 - used_gpu_s;
}

bool anybody_waits(const ClusterSnapshot& snapshot, const Queue& queue) {
  const TaskList& waiting = queue.state().waiting();
  if (std::any_of(waiting.begin(), waiting.end(),
                  [&](TaskIndex task) { return !is_calibration(queue.task(task)); }))
    return true;
  return std::any_of(snapshot.unbound.begin(), snapshot.unbound.end(), [&](const PodPtr& pod) {
    if (!pod->requests.wants_gpus() || pod->gated || pod->deleting) return false;
    const Job* job = owning_job(snapshot, *pod);
    return job == nullptr || !job->is_calibration();
  });
}

std::vector<CalibrationOrder> begin_calibrations(const ClusterSnapshot& snapshot,
                                                 const QueueOptions& options, const Queue& queue,
                                                 const std::vector<Trial>& trials,
                                                 const CalibrationRules& rules) {
  if (rules.gpu_minutes_per_day <= 0 || anybody_waits(snapshot, queue)) return {};
  Beginner beginner(snapshot, options, queue, rules);
  for (const Trial& trial : trials)
    if (trial.state == TrialState::kWanted) beginner.begin(trial);
  return std::move(beginner.orders);
}

InTheWay calibrations_in_the_way(const ClusterSnapshot& snapshot, const Queue& queue,
                                 const Plan& plan, double now_wall_s) {
  std::unordered_set<Uid> ended;
  InTheWay found;
  std::map<GpuType, TaskIndex> asked;
  for (const JobPtr& job : snapshot.jobs) {
    if (!job->is_calibration()) continue;
    if (asked.empty()) asked = asked_types(queue, plan);
    if (asked.empty()) return {};
    if (job->finished || (job->active_deadline_s && *job->active_deadline_s <= kEndedBy_s)) {
      ended.insert(job->uid);
    } else if (job->plan && !job->suspended) {
      const auto asker = asked.find(job->plan->gpu_type);
      if (asker == asked.end()) continue;
      found.to_end.push_back(
          job_write(*job, EndCalibration{queue.task(asker->second).key},
                    {.verb = Verb::kSuspend, .reason = reason::kCalibrationStopped}));
      found.any = true;
    }
  }
  if (ended.empty() || found.any) return found;
  for (const NodeStatePtr& node : snapshot.nodes) {
    if (!asked.contains(node->node->gpu_type)) continue;
    found.any |= std::any_of(node->pods.begin(), node->pods.end(), [&](const PodPtr& pod) {
      return pod->owner && ended.contains(pod->owner->uid) && !pod->terminal() &&
             now_wall_s <= pod->gone_by_s.value_or(kNever) + kOverdue_s;
    });
  }
  return found;
}

void leave_out_stops(Plan& plan) {
  const auto first = std::find_if(plan.effects.begin(), plan.effects.end(),
                                  [](const Effect& effect) { return effect.ended.has_value(); });
  plan.effects.erase(first, plan.effects.end());
}

std::vector<OwnWrite> remove_calibrations(const ClusterSnapshot& snapshot, double now_wall_s) {
  std::vector<OwnWrite> writes;
  for (const JobPtr& job : snapshot.jobs)
    if (job->is_calibration() && job->waits_with_us() &&
        now_wall_s > job->created_s + kCalibrationWaits_s)
      writes.push_back(job_write(*job, RemoveCalibration{}));
  return writes;
}

void hold_calibrations(std::vector<QueueTask>& tasks) {
  const bool others_wait = std::any_of(tasks.begin(), tasks.end(), [](const QueueTask& task) {
    return !task.plan && !task.hindrance && !is_calibration(task);
  });
  if (!others_wait) return;
  for (QueueTask& task : tasks)
    if (!task.plan && !task.hindrance && is_calibration(task))
      task.hindrance = Hindrance{reason::kCalibrationWaits, ""};
}

}  // namespace slackline::core
