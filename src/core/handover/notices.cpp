#include "notices.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/handover/begin_starts.h"
#include "slackline/model/queue_rules.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

// A pod that cannot be told is waited for no longer than this beyond the time of the others.
constexpr double kTellsWithin_s = 10;

// A time further away than any queue may ask for was written under another clock.
bool counts(const Pod& pod, double now_s) {
  return pod.notice && pod.notice->at_s <= now_s + kMostNotice_s + 1;
}

// What the pods of the runs were told, and who of them must be told still.
struct Told {
  double longest_s = 0;            // that a queue of them asks for
  std::optional<double> latest_s;  // that one of them was told
  bool every_run = true;           // a pod of each knows
  bool any_pod = false;            // is a run by itself: only what it was told says who ended it
  std::vector<PodPtr> untold;      // run by run
};

Told told_to(const Queue& queue, const std::vector<TaskIndex>& stopped, const QueueTask& asker,
             double now_s) {
  Told told;
  for (const TaskIndex index : stopped) {
    told.longest_s = std::max(told.longest_s, queue.task(index).notice_s);
    told.any_pod |= queue.task(index).job == nullptr;
    bool any_knows = false;
    for (const PodPtr& pod : queue.task(index).bound) {
      const bool knows = counts(*pod, now_s);
      if (knows) told.latest_s = std::max(told.latest_s.value_or(0), pod->notice->at_s);
      if (!knows || !is_asker(*pod->notice, asker)) told.untold.push_back(pod);
      any_knows |= knows;
    }
    told.every_run &= any_knows;
  }
  return told;
}

bool same_owner(const Pod& a, const Pod& b) {
  return a.owner && b.owner && a.owner->uid == b.owner->uid;
}

std::optional<OwnerRef> run_of(const Pod& pod) {
  return is_replaced(pod) ? OwnerRef{"Pod", pod.key.name, pod.uid} : pod.owner;
}

// One Event a run: with the last write to its pods.
template <class Write>
void mark_last_of_runs(const std::vector<PodPtr>& pods, std::vector<Write>& writes) {
  for (std::size_t i = 0; i < pods.size(); ++i)
    if (i + 1 == pods.size() || is_replaced(*pods[i]) || !same_owner(*pods[i], *pods[i + 1]))
      writes[i].of = run_of(*pods[i]);
}

template <class Write>
void append(const std::vector<PodPtr>& pods, std::vector<Write> wanted,
            std::vector<OwnWrite>& writes) {
  mark_last_of_runs(pods, wanted);
  for (std::size_t i = 0; i < pods.size(); ++i)
    writes.push_back(
        pod_write(*pods[i], std::move(wanted[i]), {.reason = reason::kPreemptionPlanned}));
}

// The pods of a Job that is stopped take what they were told with them.
bool must_forget(const ClusterSnapshot& snapshot, const Pod& pod, const std::set<Uid>& wanted) {
  if (!pod.notice && !pod.notice_doubted) return false;
  if (!pod.managed || pod.deleting || pod.terminal()) return false;
  if (pod.notice_doubted) return true;
  if (wanted.contains(pod.uid)) return false;
  const Job* job = owning_job(snapshot, pod);
  return job == nullptr || (!job->suspended && !wanted.contains(job->uid));
}

}  // namespace

bool told_in_time(const Queue& queue, const std::vector<TaskIndex>& stopped, const QueueTask& asker,
                  double now_wall_s, std::vector<OwnWrite>& writes) {
  const Told told = told_to(queue, stopped, asker, now_wall_s);
  const bool asked_for = told.longest_s > 0 || told.latest_s || told.any_pod;
  if (stopped.empty() || !asked_for) return true;
  const bool overdue = told.every_run && now_wall_s >= *told.latest_s + kTellsWithin_s;
  if (told.untold.empty() || overdue) return now_wall_s >= *told.latest_s;
  const double due_s =
      told.longest_s > 0 ? std::ceil(now_wall_s + told.longest_s) : std::floor(now_wall_s);
  const double at_s = std::max(told.latest_s.value_or(0), due_s);
  std::vector<TellOfStop> wanted;
  for (const PodPtr& pod : told.untold) {
    const double own_s = counts(*pod, now_wall_s) ? pod->notice->at_s : at_s;
    wanted.push_back({std::make_shared<const StopNotice>(
        StopNotice{.asker = asker.key, .asker_uid = asker.uid, .at_s = own_s})});
  }
  append(told.untold, std::move(wanted), writes);
  return false;
}

std::vector<OwnWrite> take_back_stops(const ClusterSnapshot& snapshot,
                                      const std::set<Uid>& wanted) {
  std::vector<PodPtr> pods;
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (must_forget(snapshot, *pod, wanted)) pods.push_back(pod);
  for (const PodPtr& pod : snapshot.unbound)
    if (must_forget(snapshot, *pod, wanted)) pods.push_back(pod);
  std::stable_sort(pods.begin(), pods.end(), [](const PodPtr& a, const PodPtr& b) {
    return (a->owner ? a->owner->uid : Uid()) < (b->owner ? b->owner->uid : Uid());
  });
  std::vector<TakeBackStop> taken_back;
  for (const PodPtr& pod : pods)
    taken_back.push_back({pod->notice ? pod->notice->asker : ObjectKey{}});
  std::vector<OwnWrite> writes;
  append(pods, std::move(taken_back), writes);
  return writes;
}

double next_told_stop_s(const ClusterSnapshot& snapshot, double now_wall_s) {
  double next_s = kNever;
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->notice && !pod->deleting && pod->notice->at_s > now_wall_s)
        next_s = std::min(next_s, pod->notice->at_s);
  return next_s;
}

}  // namespace slackline::core
