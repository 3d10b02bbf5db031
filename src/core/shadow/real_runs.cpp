#include "slackline/core/shadow/real_runs.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

using PodUids = std::unordered_set<Uid>;

// Who is replaced once as many have started as it wants: one whose pod is no longer there. Where
// its node is gone as well, its run begins anew, as it does in a virtual cluster.
void drop_member(RealRun& run, const ClusterSnapshot& snapshot, const PodUids& there) {
  auto replaced = std::find_if(run.members.begin(), run.members.end(),
                               [&](const auto& member) { return !there.contains(member.pod); });
  if (replaced == run.members.end()) replaced = run.members.begin();
  if (!snapshot.find_node(replaced->node.str())) run.first_started_s.reset();
  run.members.erase(replaced);
}

void add_member(RealRun& run, const Pod& pod, const Node& node, const ClusterSnapshot& snapshot,
                const PodUids& there) {
  if (run.job->parallelism < 1) return;  // it ends those that are there
  const auto same = [&](const RealRun::Member& member) { return member.pod == pod.uid; };
  if (std::any_of(run.members.begin(), run.members.end(), same)) return;
  // Others replace those that a restart has ended.
  if (std::ssize(run.members) >= run.job->parallelism) drop_member(run, snapshot, there);
  run.members.push_back({pod.uid, NodeName(pod.node), node.gpu_type,
                         primary_gpu_count(pod.requests), *pod.started_s});
}

// True if it is news.
bool start(RealRun& run) {
  if (run.members.empty() || std::ssize(run.members) < run.job->parallelism) return false;
  const bool first = !run.started_s;
  for (const RealRun::Member& member : run.members)
    run.started_s = std::max(run.started_s.value_or(member.started_s), member.started_s);
  if (!run.first_started_s) run.first_started_s = run.started_s;
  return first;
}

}  // namespace

std::vector<RealEvent> RealRuns::observe(const ClusterSnapshot& snapshot, double now_s) {
  std::erase_if(runs_, [&](const auto& each) { return each.second.look < look_; });
  ++look_;
  std::vector<RealEvent> events;
  observe_jobs(snapshot, events);
  observe_pods(snapshot);
  std::vector<RealEvent> ended;
  for (const JobPtr& job : snapshot.jobs) {
    const auto at = runs_.find(job->uid);
    if (at == runs_.end() || !at->second.reported) continue;
    RealRun& run = at->second.run;
    if (!run.ended_s && start(run)) events.push_back({RealChange::kStarted, job->uid});
    if (run.ended_s || !job->finished) continue;
    run.succeeded = job->completed_s.has_value();
    run.ended_s = job->completed_s.value_or(now_s);
    ended.push_back({RealChange::kEnded, job->uid});
  }
  events.insert(events.end(), ended.begin(), ended.end());
  std::vector<RealEvent> gone;
  for (const auto& [uid, entry] : runs_)
    if (entry.look < look_ && entry.reported && !entry.run.ended_s)
      gone.push_back({RealChange::kGone, uid});
  std::sort(gone.begin(), gone.end(),
            [](const RealEvent& a, const RealEvent& b) { return a.job < b.job; });
  events.insert(events.end(), gone.begin(), gone.end());
  return events;
}

void RealRuns::observe_jobs(const ClusterSnapshot& snapshot, std::vector<RealEvent>& events) {
  for (const JobPtr& job : snapshot.jobs) {
    const auto at = runs_.find(job->uid);
    if (at == runs_.end() && !queues_as_one(snapshot, *job, scope_)) continue;
    Entry& entry = at == runs_.end() ? runs_[job->uid] : at->second;
    entry.run.job = job;
    entry.look = look_;
    const bool held_by_user = job->suspended && !job->suspended_by_us;
    if (entry.reported || job->finished || held_by_user) continue;
    entry.reported = true;
    events.push_back({RealChange::kArrived, job->uid});
  }
}

void RealRuns::observe_pods(const ClusterSnapshot& snapshot) {
  PodUids there;
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->owner && runs_.contains(pod->owner->uid)) there.insert(pod->uid);
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods) {
      if (!pod->owner) continue;
      const auto at = runs_.find(pod->owner->uid);
      if (at == runs_.end()) continue;
      RealRun& run = at->second.run;
      if (look_ == 1) run.began_unseen = true;
      if (pod->started_s) add_member(run, *pod, *state->node, snapshot, there);
    }
}

const RealRun* RealRuns::find(const Uid& job) const {
  const auto at = runs_.find(job);
  return at == runs_.end() ? nullptr : &at->second.run;
}

}  // namespace slackline::core
