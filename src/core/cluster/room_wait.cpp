#include "slackline/core/cluster/room_wait.h"

#include <algorithm>
#include <set>

#include "slackline/core/cluster/ending_pods.h"

namespace slackline::core {
namespace {

void add(const ObjectKey& task, double until_s, RoomWait& wait) {
  const auto at = std::lower_bound(wait.tasks.begin(), wait.tasks.end(), task);
  if (at == wait.tasks.end() || *at != task) wait.tasks.insert(at, task);
  wait.until_s = std::max(wait.until_s, until_s);
}

// Its nodes on which a pod of it does not fit beside those that are there.
std::set<NodeName> full_nodes(const ClusterSnapshot& snapshot, const QueueTask& task) {
  std::set<NodeName> full;
  const Pod& pod = task.pods.empty() ? *task.member : *task.pods.front();
  for (const NodeName& name : task.plan->nodes) {
    const auto node = snapshot.find_node(name.str());
    if (node && !snapshot.fits(pod.requests, snapshot.node(*node).free())) full.insert(name);
  }
  return full;
}

RoomWait wait_of(const ClusterSnapshot& snapshot, const EndingPods& ending, const QueueTask& task) {
  RoomWait wait;
  const std::set<NodeName> full = full_nodes(snapshot, task);
  for (const PodPtr& pod : ending.pods()) {
    if (!full.contains(pod->node)) continue;
    const Job* job = owning_job(snapshot, *pod);
    const bool of_job = job != nullptr && job->preemptions;
    std::optional<double> stopped_s;  // nullopt: its Job was deleted since
    if (of_job)
      stopped_s = job->preemptions->at_s;
    else if (was_evicted(*pod))
      stopped_s = pod->notice->at_s;
    else if (!pod->gone_by_s)
      continue;
    add(of_job ? job->key : pod->key, pod->gone_by_s.value_or(stopped_s.value_or(0)), wait);
    if (stopped_s) wait.since_s = std::min(wait.since_s.value_or(*stopped_s), *stopped_s);
  }
  return wait;
}

}  // namespace

RoomWaits::RoomWaits(const ClusterSnapshot& snapshot, const Queue& queue, double now_wall_s) {
  const EndingPods ending(snapshot, now_wall_s);
  for (TaskIndex index = 0; index < queue.size(); ++index) {
    const QueueTask& task = queue.task(index);
    if (!task.plan) continue;
    const auto asker = queue.state().tasks()[index].promised_to;
    if (const auto told = notice_of(task.bound); told && asker)
      add(task.key, told->at_s, waits_[*asker]);
    const bool runs = task.pods.empty() && !task.bound.empty();
    if (runs || ending.pods().empty()) continue;
    if (RoomWait wait = wait_of(snapshot, ending, task); !wait.tasks.empty())
      waits_[index] = std::move(wait);
  }
}

const RoomWait* RoomWaits::of(TaskIndex asker) const {
  const auto at = waits_.find(asker);
  return at == waits_.end() ? nullptr : &at->second;
}

}  // namespace slackline::core
