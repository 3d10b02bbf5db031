#include "slackline/core/cluster/stop_book.h"

#include <cmath>
#include <set>
#include <utility>

namespace slackline::core {
namespace {

constexpr double kMostDoublings = 16;

std::unordered_set<Uid> undisturbed_pods(const ClusterSnapshot& snapshot) {
  std::unordered_set<Uid> uids;
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (!pod->deleting) uids.insert(pod->uid);
  return uids;
}

bool is_of(const Pod& pod, const ObjectKey& task) {
  if (pod.key.ns != task.ns) return false;
  return pod.key.name == task.name || (pod.intent && pod.intent->gang == task.name) ||
         (pod.owner_gang && pod.owner_gang->name == task.name);
}

struct Sight {
  enum { kGone, kWaits, kStarts, kRuns, kEnded } of = kGone;
  bool is_job = false;
  double stopped_s = 0;  // by Slackline, the last time
};

Sight see_pods(const ObjectKey& task, const ClusterSnapshot& snapshot) {
  Sight sight;
  const auto look = [&](const PodPtr& pod) {
    if (!is_of(*pod, task) || pod->deleting) return;
    const auto of = !pod->node.empty() ? Sight::kRuns : pod->plan ? Sight::kStarts : Sight::kWaits;
    sight.of = std::max(sight.of, of);
  };
  for (const PodPtr& pod : snapshot.unbound)
    look(pod);
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      look(pod);
  return sight;
}

bool has_bound_pod(const Job& job, const ClusterSnapshot& snapshot) {
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->owner && pod->owner->uid == job.uid && !pod->deleting) return true;
  return false;
}

Sight see(const ObjectKey& task, const ClusterSnapshot& snapshot) {
  const Job* job = snapshot.find_job(task.ns, task.name);
  if (job == nullptr) return see_pods(task, snapshot);
  Sight sight;
  sight.is_job = true;
  if (job->preemptions) sight.stopped_s = job->preemptions->at_s;
  if (job->finished) sight.of = Sight::kEnded;
  if (job->finished || job->deleting) return sight;
  if (job->suspended)
    sight.of = Sight::kWaits;
  else
    sight.of = has_bound_pod(*job, snapshot) ? Sight::kRuns : Sight::kStarts;
  return sight;
}

}  // namespace

std::optional<BookedStop> booked_stop(const OwnWrite& write, double now_wall_s) {
  BookedStop booked{.stopped = write.target.key, .uid = write.target.uid, .at_s = now_wall_s};
  if (const auto* evict = write.as<EvictPod>()) {
    booked.controller = evict->controller;
    booked.account = evict->queue;
    booked.gpu_s = evict->lost_gpu_s;
    booked.asker = evict->asker;
    return booked;
  }
  const auto* stop = write.as<StopJob>();
  if (stop == nullptr || stop->preemptions->charges.empty()) return std::nullopt;
  const PreemptionNote::Charge& charge = stop->preemptions->charges.back();
  if (charge.stop != stop->preemptions->count) return std::nullopt;
  booked.count = charge.stop;
  booked.account = charge.queue;
  booked.at_s = charge.at_s;
  booked.gpu_s = charge.gpu_s;
  // Whoever is moved, or stopped to grow, asked for itself, or for room that nobody waits for.
  if (!stop->move && stop->asker != write.target.key) booked.asker = stop->asker;
  return booked;
}

std::vector<BookedStop> made_stops(const std::vector<BookedStop>& booked,
                                   const ClusterSnapshot& snapshot) {
  const bool any_evicted = std::any_of(booked.begin(), booked.end(),
                                       [](const BookedStop& each) { return each.count == 0; });
  const std::unordered_set<Uid> there =
      any_evicted ? undisturbed_pods(snapshot) : std::unordered_set<Uid>();
  std::vector<BookedStop> made;
  for (const BookedStop& each : booked) {
    if (there.contains(each.uid)) continue;
    const Job* job =
        each.count > 0 ? snapshot.find_job(each.stopped.ns, each.stopped.name) : nullptr;
    const std::int64_t stops =
        job != nullptr && job->preemptions != nullptr ? job->preemptions->count : 0;
    if (job == nullptr || job->uid != each.uid || stops >= each.count) made.push_back(each);
  }
  return made;
}

AskerFate look_at(Asker& asker, const ClusterSnapshot& snapshot, double protect_s,
                  double now_wall_s) {
  const Sight sight = see(asker.key, snapshot);
  if (sight.of == Sight::kEnded || sight.stopped_s > asker.asked_s) return AskerFate::kServed;
  const bool is_gone = sight.of == Sight::kGone;
  asker.is_job = asker.is_job || sight.is_job;
  const bool is_protected = now_wall_s <= asker.asked_s + protect_s;
  if (asker.ran && !is_protected) return AskerFate::kServed;
  // A pod that ended may be gone before it is seen to have ended.
  if (is_gone) return asker.ran && !asker.is_job ? AskerFate::kServed : AskerFate::kInVain;
  asker.started = asker.started || sight.of == Sight::kStarts || sight.of == Sight::kRuns;
  asker.ran = asker.ran || sight.of == Sight::kRuns;
  return sight.of == Sight::kWaits && asker.started ? AskerFate::kInVain : AskerFate::kOpen;
}

std::map<std::string, double> bars(const std::vector<BookedStop>& stops, double protect_s,
                                   double now_wall_s) {
  struct Vain {
    std::set<std::pair<ObjectKey, double>> times;  // several runs are stopped for one start
    double last_s = 0;
  };
  std::map<std::string, Vain> by_account;
  for (const BookedStop& each : stops) {
    if (!each.in_vain_s || *each.in_vain_s < now_wall_s - kAccountedFor_s) continue;
    Vain& vain = by_account[each.account];
    vain.times.emplace(each.asker, each.at_s);
    vain.last_s = std::max(vain.last_s, *each.in_vain_s);
  }
  std::map<std::string, double> until;
  for (const auto& [account, vain] : by_account) {
    const double doublings = std::min(kMostDoublings, static_cast<double>(vain.times.size()) - 1);
    until[account] = vain.last_s + std::min(kAccountedFor_s, protect_s * std::exp2(doublings));
  }
  return until;
}

}  // namespace slackline::core
