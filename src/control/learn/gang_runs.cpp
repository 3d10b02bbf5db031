#include "control/learn/gang_runs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::control {
namespace {

constexpr double kGangsEvery_s = 1;  // a list has many pods

}  // namespace

GangRuns::Name GangRuns::name_of(const std::string& ns, const OwnerGang& gang) {
  return {gang.kind, ns, gang.name, gang.uid, gang.part};
}

std::optional<GangRuns::Name> GangRuns::name_of(const Pod& pod, const Job* job) {
  const bool of_job = pod.owner && pod.owner->kind == "Job";
  if (of_job && pod.requests.wants_gpus()) return std::nullopt;
  if (!of_job)
    if (const std::string* label = core::gang_label_of(pod, job))
      return Name{to_string(TaskKind::kGang), pod.key.ns, *label, Uid(), ""};
  const auto& gang = core::owner_gang_of(pod, job);
  return gang ? std::optional(name_of(pod.key.ns, *gang)) : std::nullopt;
}

GangRuns::Gang& GangRuns::gang_of(const Name& name) {
  const auto [at, first] = gangs_.try_emplace(name);
  if (!first) return at->second;
  at->second.order = next_order_++;
  at->second.run.kind = std::get<0>(name);
  at->second.run.key = {std::get<1>(name), std::get<2>(name)};
  at->second.run.id = std::get<3>(name).str() + "/" + std::get<4>(name);
  if (gangs_.size() <= kMaxRuns) return at->second;
  gangs_.erase(std::min_element(gangs_.begin(), gangs_.end(), [](const auto& a, const auto& b) {
    return a.second.order < b.second.order;
  }));
  return at->second;
}

void GangRuns::note(Gang& gang, const Pod& pod, bool ended) const {
  Member& member = gang.members[pod.uid];
  member.started_s = *pod.started_s;
  if (ended && member.end == End::kNone) {
    member.ended_s = pod.ended_s.value_or(clock_.wall_s());
    member.end = !pod.terminal() || pod.deleting     ? End::kDeleted
                 : pod.phase == PodPhase::kSucceeded ? End::kSucceeded
                                                     : End::kFailed;
    gang.last_end_s = clock_.steady_s();
  }
  const std::string resource = core::primary_gpu_resource(pod.requests);
  if (resource.empty()) return;
  GangRun& run = gang.run;
  RunSeen::Member& seen = run.seen.pods[pod.uid];
  seen.node = pod.node;
  seen.gpus = pod.requests.gpu_count(resource);
  seen.whole = catalog_.is_whole(resource);
  seen.shared = catalog_.is_shared(resource);
  seen.started_s = member.started_s;
  seen.name = pod.key.name;
  if (member.end != End::kNone) seen.ended_s = member.ended_s;
  const auto age = [](const Pod& one) { return std::tie(one.created_s, one.uid); };
  if (run.first == nullptr || age(pod) <= age(*run.first))
    run.first = std::make_shared<const Pod>(pod);
}

void GangRuns::see(const Pod& pod, bool ended) {
  if (!pod.started_s) return;
  const SnapshotPtr snapshot = source_->snapshot();
  const auto name = name_of(pod, owning_job(*snapshot, pod));
  if (!name) return;
  {
    MutexLock lock(mutex_);
    if (!told_.contains(pod.uid)) note(gang_of(*name), pod, ended);
    if (clock_.steady_s() < next_look_s_) return;
    next_look_s_ = clock_.steady_s() + kGangsEvery_s;
  }
  settle();
}

bool GangRuns::runs(const Gang& gang) {
  return std::any_of(gang.members.begin(), gang.members.end(),
                     [](const auto& member) { return member.second.end == End::kNone; });
}

GangRun GangRuns::concluded(Gang gang) {
  GangRun run = std::move(gang.run);
  run.created_s = run.first->created_s;
  double last_start_s = 0;
  double success_s = 0;
  for (const auto& [uid, member] : gang.members) {
    last_start_s = std::max(last_start_s, member.started_s);
    if (member.end == End::kSucceeded) success_s = std::max(success_s, member.ended_s);
  }
  bool failed = false;
  bool stopped = success_s == 0;
  for (const auto& [uid, member] : gang.members) {
    failed = failed || (member.end == End::kFailed && last_start_s < member.ended_s);
    stopped = stopped || (member.end == End::kDeleted && member.ended_s > success_s + kCleanUp_s);
  }
  for (const auto& [uid, pod] : run.seen.pods)
    run.finished_s = std::max(run.finished_s, *pod.ended_s);
  run.succeeded = !failed && !stopped;
  run.deleted = !failed && stopped;
  return run;
}

// Those that are over, no longer kept here.
std::map<GangRuns::Name, GangRuns::Gang> GangRuns::take_over(const ClusterSnapshot& snapshot) {
  std::map<Name, Gang> over;
  const double before_s = clock_.steady_s() - kGangOver_s;
  const auto is_quiet = [&](const auto& entry) {
    return entry.second.last_end_s <= before_s && !runs(entry.second);
  };
  if (!snapshot.synced || std::none_of(gangs_.begin(), gangs_.end(), is_quiet)) return over;
  std::set<Name> there;
  const core::TaskCatalog catalog(snapshot);
  for (const core::TaskParts& parts : catalog.parts()) {
    if (parts.gang)
      there.insert(name_of(parts.key.ns, *parts.gang));
    else if (parts.kind == TaskKind::kGang)
      there.insert({std::string(to_string(parts.kind)), parts.key.ns, parts.key.name, Uid(), ""});
  }
  for (auto at = gangs_.begin(); at != gangs_.end();) {
    const auto next = std::next(at);
    if (is_quiet(*at) && !there.contains(at->first)) over.insert(gangs_.extract(at));
    at = next;
  }
  return over;
}

void GangRuns::settle() {
  const SnapshotPtr snapshot = source_->snapshot();
  std::map<Name, Gang> over;
  {
    MutexLock lock(mutex_);
    over = take_over(*snapshot);
  }
  for (auto& [name, gang] : over) {
    // A launcher without workers is no run on GPUs.
    const bool taken = gang.run.first == nullptr || tell_(concluded(gang));
    MutexLock lock(mutex_);
    if (!taken) {
      gangs_.emplace(name, std::move(gang));
      continue;
    }
    if (told_.size() > kMaxRuns) told_.clear();  // the store drops what it has
    for (const auto& [uid, member] : gang.members)
      told_.insert(uid);
  }
}

}  // namespace slackline::control
