#include "slackline/core/cluster/gang_places.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/saturating.h"
#include "slackline/core/cluster/each_pod.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/cluster/largest_first.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

constexpr double kMadeAgainAfter_s = 10;
constexpr double kAllComeWithin_s = 30;

// What is there of a gang that carries a plan.
struct PlannedGang {
  const Pod* runs = nullptr;      // one of its pods
  std::int64_t pods = 0;          // that run
  bool starts = false;            // a pod has no node yet
  std::vector<const Pod*> bound;  // of a plan whose last nodes are for those that came later
  std::map<NodeName, std::int64_t> still_held;

  bool runs_whole() const {
    return runs != nullptr && !starts && pods == std::ssize(runs->plan->nodes);
  }

  // With the nodes of the largest pods first, as they are planned.
  std::shared_ptr<const PlanNote> plan() const {
    if (runs->plan->later == 0) return runs->plan;
    auto plan = std::make_shared<PlanNote>(*runs->plan);
    std::vector<const Pod*> sorted = bound;
    sort_largest_first(sorted);
    plan->nodes.clear();
    for (const Pod* pod : sorted)
      plan->nodes.push_back(pod->node);
    return plan;
  }
};

std::map<Uid, PlannedGang> planned_gangs(const ClusterSnapshot& snapshot, double now_s) {
  std::map<Uid, PlannedGang> gangs;
  each_pod(snapshot, [&](const Pod& pod) {
    if (!pod.plan || pod.plan->nodes.empty() || pod.terminal()) return;
    const Uid name = lasting_name(snapshot, nullptr, pod);
    if (name == pod.uid) return;  // it stands alone
    PlannedGang& gang = gangs[name];
    if (pod.deleting) {
      if (pod.bound() && now_s <= pod.gone_by_s.value_or(now_s) + kOverdue_s)
        gang.still_held[pod.node] += pod.requests.gpu_total();
    } else if (pod.bound()) {
      gang.runs = &pod;
      ++gang.pods;
      if (pod.plan->later > 0) gang.bound.push_back(&pod);
    } else {
      gang.starts = true;
    }
  });
  return gangs;
}

double kept_until_s(const GangPlaces::Place& place) {
  if (!place.gone_s) return kNever;
  return place.comes_s ? *place.comes_s + kAllComeWithin_s : *place.gone_s + kMadeAgainAfter_s;
}

// Of gangs without a pod that carries their plan and runs.
struct Remains {
  std::set<Uid> over;  // a pod has succeeded
  std::set<Uid> run;   // without the plan, which was lost
  std::set<Uid> come;  // pods of them wait
};

Remains look_for(const std::set<Uid>& gone, const ClusterSnapshot& snapshot) {
  Remains found;
  each_pod(snapshot, [&](const Pod& pod) {
    if (pod.phase == PodPhase::kFailed || pod.deleting) return;
    Uid name = lasting_name(snapshot, nullptr, pod);
    if (!gone.contains(name)) return;
    if (pod.phase == PodPhase::kSucceeded)
      found.over.insert(std::move(name));
    else if (!pod.bound())
      found.come.insert(std::move(name));
    else if (pod.requests.wants_gpus())
      found.run.insert(std::move(name));
  });
  return found;
}

// Its pods come one after the other; all else that keeps it from starting is another matter.
bool may_go_on(const QueueTask& task) {
  return task.kind == TaskKind::kGang && !task.plan &&
         (!task.hindrance || task.hindrance->reason == reason::kGangIncomplete);
}

}  // namespace

void GangPlaces::see(const ClusterSnapshot& snapshot, double now_s) {
  std::map<Uid, PlannedGang> planned = planned_gangs(snapshot, now_s);
  for (const auto& [name, gang] : planned)
    if (gang.runs_whole())
      places_.insert_or_assign(name, Place{gang.plan(), primary_gpu_resource(gang.runs->requests)});
  std::erase_if(places_, [&](const auto& entry) {
    const auto at = planned.find(entry.first);
    return at != planned.end() && at->second.starts && at->second.runs == nullptr;  // anew
  });
  std::set<Uid> gone;
  for (const auto& [name, place] : places_)
    if (const auto at = planned.find(name); at == planned.end() || at->second.runs == nullptr)
      gone.insert(name);
  const Remains found = gone.empty() ? Remains() : look_for(gone, snapshot);
  for (auto& [name, place] : places_) {
    if (!gone.contains(name) || found.run.contains(name)) {
      place.gone_s = place.comes_s = std::nullopt;
      continue;
    }
    place.still_held = std::move(planned[name].still_held);
    const bool ends = !place.still_held.empty();
    if (!place.gone_s || ends) place.gone_s = now_s;
    if (!found.come.contains(name))
      place.comes_s.reset();
    else if (!place.comes_s || ends)
      place.comes_s = now_s;
  }
  std::erase_if(places_, [&](const auto& entry) {
    return found.over.contains(entry.first) || now_s > kept_until_s(entry.second);
  });
}

const GangPlaces::Place* GangPlaces::kept_for(const ClusterSnapshot& snapshot,
                                              const QueueTask& task) const {
  if (places_.empty() || !may_go_on(task)) return nullptr;
  const auto at = places_.find(lasting_name(snapshot, nullptr, *task.member));
  if (at == places_.end() || !at->second.gone_s || !at->second.still_held.empty()) return nullptr;
  return &at->second;
}

std::optional<PlannedRun> GangPlaces::run_again(const ClusterSnapshot& snapshot,
                                                const QueueTask& task, const PlacementMenu& menu,
                                                const std::vector<QueuePool>& pools) const {
  const Place* place = kept_for(snapshot, task);
  if (place == nullptr) return std::nullopt;
  QueueTask there = task;
  there.plan = place->plan;
  return planned_run(snapshot, there, menu, pools);
}

void GangPlaces::keep_room(const ClusterSnapshot& snapshot, const std::vector<QueuePool>& pools,
                           const std::set<Uid>& came, std::vector<std::vector<int>>& gpus) const {
  for (const auto& [name, place] : places_) {
    if (!place.gone_s || came.contains(name)) continue;
    std::map<NodeName, std::int64_t> wanted;
    const PlanNote& plan = *place.plan;
    for (const NodeName& node : plan.nodes)
      wanted[node] += plan.shape.gpus() / std::ssize(plan.nodes);  // of unlike pods the mean
    for (const auto& [node, held] : place.still_held)
      wanted[node] -= held;
    for (std::size_t p = 0; p < pools.size(); ++p) {
      const QueuePool& pool = pools[p];
      if (pool.pool.type != plan.gpu_type || pool.pool.resource != place.resource) continue;
      for (std::size_t i = 0; i < pool.nodes.size(); ++i)
        if (const auto at = wanted.find(snapshot.node(pool.nodes[i]).node->name);
            at != wanted.end() && at->second > 0)
          gpus[p][i] -= std::min(gpus[p][i], saturating_int(at->second));
    }
  }
}

double GangPlaces::next_end_s() const {
  double next_s = kNever;
  for (const auto& [name, place] : places_)
    next_s = std::min(next_s, kept_until_s(place));
  return next_s;
}

}  // namespace slackline::core
