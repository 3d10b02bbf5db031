#include "slackline/core/shadow/virtual_cluster.h"

#include <algorithm>
#include <iterator>

#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/shadow/stock_queue.h"
#include "virtual_runs.h"

namespace slackline::core {
namespace {

bool promises(const TaskIntent* intent) {
  return intent != nullptr && (intent->deadline_s || intent->deadline_after_s);
}

}  // namespace

std::size_t VirtualCluster::count(Phase phase) const {
  return static_cast<std::size_t>(
      std::count_if(played_.begin(), played_.end(),
                    [&](const auto& each) { return each.second.phase == phase; }));
}

void VirtualCluster::look(const ClusterSnapshot& real, double now_s) {
  if (!looked_) time_s_ = now_s;
  Step step;
  step.time_s = now_s;
  for (const RealEvent& event : runs_.observe(real, now_s))
    take(event, step, now_s);
  quotas_.clear();
  for (const auto& quota : real.quotas) {
    auto unused = std::make_shared<ResourceQuota>(*quota);
    for (QuotaLimit& limit : unused->limits)
      limit.used = 0;  // really, also by tasks that are played
    quotas_.push_back(std::move(unused));
  }
  others_.clear();
  for (const JobPtr& job : real.jobs)
    if (!is_played(job->uid) && !job->suspended_by_us && !job->plan) others_.push_back(job);
  watch_ground(real, !step.arrived.empty(), step);
  looked_ = true;
  if (step.arrived.empty() && step.deleted.empty() && step.ground.empty()) return;
  changes_ += 1 + step.ground.size();
  steps_.push_back(std::move(step));
}

void VirtualCluster::take(const RealEvent& event, Step& step, double now_s) {
  const RealRun& run = *runs_.find(event.job);
  if (event.change == RealChange::kArrived) {
    if (run.began_unseen) {
      if (promises(run.job->intent.get()))
        censored_.push_back({event.job, queue_of(*run.job->intent, run.job->key.ns)});
      return;
    }
    Played& played = played_[event.job];
    played.job = as_waiting(*run.job);
    played.real = run;
    step.arrived.push_back(event.job);
    return;
  }
  const auto at = played_.find(event.job);
  if (at == played_.end()) return;
  at->second.real = run;
  if (event.change != RealChange::kGone) return;
  at->second.deleted_s = now_s;
  step.deleted.push_back(event.job);
}

void VirtualCluster::watch_ground(const ClusterSnapshot& real, bool anew, Step& step) {
  const auto foreign = [&](const PodPtr& pod) {
    return !pod->owner || !is_played(pod->owner->uid);
  };
  for (const NodeStatePtr& state : real.nodes) {
    SeenNode& seen = seen_[state->node->name.str()];
    if (seen.real == state && !anew) continue;
    seen.real = state;
    NodeStatePtr ground = only(*state, foreign);
    if (seen.ground != nullptr && is_same_ground(*seen.ground, *ground)) continue;
    seen.ground = ground;
    step.ground.emplace_back(state->node->name.str(), std::move(ground));
  }
  if (seen_.size() == real.nodes.size()) return;
  for (auto at = seen_.begin(); at != seen_.end();) {
    const bool there = real.find_node(at->first).has_value();
    if (!there) step.ground.emplace_back(at->first, nullptr);
    at = there ? std::next(at) : seen_.erase(at);
  }
}

VirtualNews VirtualCluster::advance(const QueueOptions& asked, const Policy& policy, double now_s) {
  VirtualNews news;
  news.ends = std::exchange(censored_, {});
  if (!looked_) return news;
  guess(asked, now_s);
  for (int plans = 0; plans < kStepsPerAdvance && !is_asked(asked.stop); ++plans) {
    const double at_s = next_s(asked);
    const double until_s = std::min(now_s, held_until_s(asked, now_s));
    if (at_s > until_s) {
      time_s_ = std::max(time_s_, until_s);
      break;
    }
    time_s_ = std::max(time_s_, at_s);
    end_runs(asked, news);
    perform_steps();
    end_runs(asked, news);
    wake_s_ = kNever;
    plan_starts(asked, policy, news);
  }
  std::erase_if(played_, [&](const auto& each) {
    return each.second.phase == Phase::kOver && runs_.find(each.first) == nullptr;
  });
  return news;
}

// The first moment that depends on a length which is not known yet.
double VirtualCluster::held_until_s(const QueueOptions& asked, double now_s) {
  double held_s = kNever;
  for (auto& [uid, played] : played_)
    if (played.phase == Phase::kRunning) held_s = std::min(held_s, may_end_s(played, asked, now_s));
  return held_s;
}

double VirtualCluster::may_end_s(Played& played, const QueueOptions& asked, double now_s) const {
  if (end_s(played, asked) < kNever) return kNever;
  const auto& began_s = played.real.first_started_s;
  const double so_far_s = began_s ? now_s - *began_s : 0;
  return played.started_s + std::max(0.0, so_far_s) * ratio(played, asked);
}

double VirtualCluster::next_s(const QueueOptions& asked) {
  double next_s = steps_.empty() ? wake_s_ : std::min(wake_s_, steps_.front().time_s);
  for (auto& [uid, played] : played_)
    if (played.phase == Phase::kRunning) next_s = std::min(next_s, end_s(played, asked));
  return next_s;
}

double VirtualCluster::end_s(Played& played, const QueueOptions& asked) const {
  double end_s = played.deleted_s.value_or(kNever);
  const RealRun& real = played.real;
  if (real.ended_s && real.first_started_s)
    end_s =
        std::min(end_s, played.started_s + std::max(0.0, *real.ended_s - *real.first_started_s) *
                                               ratio(played, asked));
  else if (played.guessed || real.ended_s)
    end_s = std::min(end_s, played.started_s + played.predicted_s);
  return std::max(end_s, played.started_s);
}

double VirtualCluster::ratio(Played& played, const QueueOptions& asked) const {
  if (played.ratio) return *played.ratio;
  if (!played.real.first_started_s) return 1;
  played.ratio = length_ratio(*played.job, *played.plan, played.real, asked);
  return *played.ratio;
}

// After a day of waiting for the length of a run, the predicted one is used.
void VirtualCluster::guess(const QueueOptions& asked, double now_s) {
  for (auto& [uid, played] : played_)
    if (played.phase == Phase::kRunning && may_end_s(played, asked, now_s) < now_s - kMostLag_s)
      played.guessed = true;
}

void VirtualCluster::perform_steps() {
  while (!steps_.empty() && steps_.front().time_s <= time_s_) {
    perform(steps_.front());
    changes_ -= 1 + steps_.front().ground.size();
    steps_.pop_front();
  }
}

void VirtualCluster::perform(Step& step) {
  for (auto& [name, state] : step.ground) {
    if (state == nullptr) {
      stop_runs_on(name);
      ground_.erase(name);
      names_ = nullptr;
      continue;
    }
    NodeStatePtr& at = ground_[name];
    if (at == nullptr) names_ = nullptr;
    at = std::move(state);
  }
  for (const Uid& job : step.arrived)
    played_.at(job).phase = Phase::kWaiting;
}

void VirtualCluster::stop_runs_on(const std::string& node) {
  for (auto& [uid, played] : played_) {
    if (played.phase != Phase::kRunning) continue;
    const auto& nodes = played.plan->nodes;
    if (std::none_of(nodes.begin(), nodes.end(),
                     [&](const NodeName& name) { return name.str() == node; }))
      continue;
    played.phase = Phase::kWaiting;
    played.job = as_waiting(*played.job);
    played.pods.clear();
    played.ratio.reset();
  }
}

void VirtualCluster::end_runs(const QueueOptions& asked, VirtualNews& news) {
  for (auto& [uid, played] : played_) {
    if (played.phase == Phase::kRunning && end_s(played, asked) <= time_s_)
      end(played, end_s(played, asked), news);
    else if (played.phase == Phase::kWaiting && played.deleted_s && *played.deleted_s <= time_s_)
      end(played, *played.deleted_s, news);
  }
}

void VirtualCluster::end(Played& played, double ended_s, VirtualNews& news) {
  played.phase = Phase::kOver;
  played.pods.clear();
  auto over = std::make_shared<Job>(*played.job);
  over->finished = true;
  over->suspended = false;
  over->plan = nullptr;
  if (played.real.succeeded) over->completed_s = ended_s;
  over->failed = played.real.succeeded ? 0 : 1;
  played.job = std::move(over);
  VirtualEnd end{played.job->uid, played.queue, played.deadline_s.has_value()};
  if (played.real.length_s() && !played.guessed && !played.deleted_s) {
    end.run = ShadowRun{played.started_s, ended_s, played.gpus};
    const auto verdict = [&](double end_s) {
      return end_s <= *played.deadline_s ? DeadlineVerdict::kMet : DeadlineVerdict::kMissed;
    };
    if (played.deadline_s) end.planned = verdict(ended_s);
    if (played.deadline_s) end.real = verdict(*played.real.ended_s);
  }
  if (end.run || end.had_deadline) news.ends.push_back(std::move(end));
}

void VirtualCluster::plan_starts(const QueueOptions& asked, const Policy& policy,
                                 VirtualNews& news) {
  if (waiting() == 0) return;
  const ClusterSnapshot virtually = snapshot();
  QueueOptions options = asked;
  options.now_wall_s = time_s_;
  options.now_steady_s = 0;
  options.held_off = nullptr;
  options.foresee = false;
  options.may_stop = false;  // runs end when the real ones do
  Queue queue = make_queue(virtually, options, menus_);
  if (queue.gave_up()) return;
  note_promises(queue);
  const Plan planned = plan(queue.state(), time_s_, policy);
  wake_s_ = planned.next_wake_s.value_or(kNever);
  std::map<Uid, const Effect*> begun;
  for (const Effect& effect : planned.effects)
    if (effect.is_start()) begun[queue.task(effect.task).uid] = &effect;
  for (OwnWrite& write : begin_starts(virtually, {}, queue, planned, *asked.catalog, stamp_,
                                      options.now_steady_s, options.now_wall_s)) {
    const auto at = begun.find(write.target.uid);
    const auto* release = write.as<ReleaseJob>();
    if (release == nullptr || at == begun.end()) continue;
    start(write.target.uid, release->plan, queue, at->second->task, *at->second->begun);
    news.starts.push_back({time_s_, std::move(write)});
  }
}

void VirtualCluster::note_promises(const Queue& queue) {
  for (TaskIndex index = 0; index < queue.size(); ++index) {
    const QueueTask& task = queue.task(index);
    const auto at = played_.find(task.uid);
    if (at == played_.end() || !at->second.queue.empty()) continue;
    at->second.queue = queue_of(*task.intent, task.key.ns);
    at->second.deadline_s = task.deadline_s;
  }
}

void VirtualCluster::start(const Uid& uid, const std::shared_ptr<const PlanNote>& plan,
                           const Queue& queue, TaskIndex index, const Run& run) {
  Played& played = played_.at(uid);
  const QueueTask& task = queue.task(index);
  played.phase = Phase::kRunning;
  played.plan = plan;
  played.started_s = time_s_;
  played.predicted_s = queue.state().choice(index, run.choice).lat_s;
  played.gpus = plan->shape.gpus();
  auto runs = std::make_shared<Job>(*played.job);
  runs->suspended = runs->halted = false;
  runs->plan = plan;
  runs->started_s = time_s_;
  played.job = std::move(runs);
  played.pods =
      pods_of(*played.job, task.request.resource, task.gpus_per_pod_in(plan->shape), time_s_);
}

ClusterSnapshot VirtualCluster::snapshot() {
  ClusterSnapshot virtually;
  virtually.synced = true;
  std::vector<PodPtr> pods;
  for (const auto& [uid, played] : played_) {
    if (played.phase == Phase::kComing) continue;
    virtually.jobs.push_back(played.job);
    pods.insert(pods.end(), played.pods.begin(), played.pods.end());
  }
  virtually.jobs.insert(virtually.jobs.end(), others_.begin(), others_.end());
  std::sort(virtually.jobs.begin(), virtually.jobs.end(),
            [](const JobPtr& a, const JobPtr& b) { return a->key < b->key; });
  for (const auto& [name, state] : ground_)
    virtually.nodes.push_back(state);
  virtually.quotas = quotas_;
  if (names_ == nullptr) names_ = std::make_shared<const NodeNames>(virtually.nodes);
  virtually.node_names = names_;
  add_pods(virtually, pods);
  virtually.node_table = make_node_table(virtually.nodes);
  return virtually;
}

}  // namespace slackline::core
