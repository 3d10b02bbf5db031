#include "slackline/core/handover/take_on.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "slackline/base/saturating.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

bool lacks_a_plan(const Job& job) {
  return job.managed && job.topmost() && !job.suspended && !job.finished && !job.deleting &&
         !job.plan && job.plan_doubt == PlanDoubt::kNone && job.pod_requests.wants_gpus() &&
         job.problems.empty() && (is_written_gang(job) || written_pods(job) == 1);
}

// Where the plans of one turn find room for pods that are missing.
class Taker {
 public:
  Taker(const ClusterSnapshot& snapshot, PlanStamp& stamp) : snapshot_(snapshot), stamp_(stamp) {}

  // A missing pod is named with a node that has room for it, one of the others' first; where there
  // is none, it is left out.
  PlanNote plan_of(const Job& job, std::vector<NodeName> nodes) {
    std::sort(nodes.begin(), nodes.end());
    const std::string resource = primary_gpu_resource(job.pod_requests);
    const std::int64_t gpus = job.pod_requests.gpu_count(resource);
    PlanNote note;
    note.id = stamp_.next_id();
    note.epoch = stamp_.epoch;
    if (const auto node = snapshot_.find_node(nodes.front().str()))
      note.gpu_type = snapshot_.node(*node).node->gpu_type;
    for (auto missing = job.wanted_pods() - static_cast<std::int64_t>(nodes.size()); missing > 0;
         --missing)
      if (const auto node = home(note.gpu_type, resource, gpus, nodes)) nodes.push_back(*node);
    std::sort(nodes.begin(), nodes.end());
    const std::set<NodeName> distinct(nodes.begin(), nodes.end());
    const auto wide = static_cast<std::int64_t>(distinct.size());
    const std::int64_t all = saturating_mul(gpus, static_cast<std::int64_t>(nodes.size()));
    note.shape = clamped_placement(wide, all / wide);
    note.nodes = std::move(nodes);
    return note;
  }

 private:
  std::optional<NodeName> home(const GpuType& type, const std::string& resource, std::int64_t gpus,
                               const std::vector<NodeName>& nodes) {
    std::optional<NodeIndex> best;
    for (NodeIndex i = 0; i < snapshot_.nodes.size(); ++i) {
      const Node& node = *snapshot_.node(i).node;
      if (node.gpu_type != type || node.unschedulable || !node.ready || free(i, resource) < gpus)
        continue;
      const bool joins = std::find(nodes.begin(), nodes.end(), node.name) != nodes.end();
      if (!best || joins) best = i;
      if (joins) break;
    }
    if (!best) return std::nullopt;
    given_[*best] += gpus;
    return snapshot_.node(*best).node->name;
  }

  std::int64_t free(NodeIndex node, const std::string& resource) {
    const NodeState& state = snapshot_.node(node);
    std::int64_t left =
        state.node->allocatable.gpu_count(resource) - state.used.gpu_count(resource) - given_[node];
    for (const Hold& hold : snapshot_.holds_on(node))
      left -= hold.amount.gpu_count(resource);
    return left;
  }

  const ClusterSnapshot& snapshot_;
  PlanStamp& stamp_;
  std::map<NodeIndex, std::int64_t> given_;  // by this turn
};

}  // namespace

std::vector<OwnWrite> take_on(const ClusterSnapshot& snapshot, PlanStamp& stamp) {
  std::unordered_map<Uid, std::vector<NodeName>> nodes;  // of the pods of Jobs without a plan
  for (const JobPtr& job : snapshot.jobs)
    if (lacks_a_plan(*job)) nodes.try_emplace(job->uid);
  if (nodes.empty()) return {};
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods) {
      const auto at = pod->owner ? nodes.find(pod->owner->uid) : nodes.end();
      if (at == nodes.end() || pod->terminal()) continue;
      if (pod->plan)  // it started by itself
        nodes.erase(at);
      else
        at->second.push_back(pod->node);
    }
  Taker taker(snapshot, stamp);
  std::vector<OwnWrite> writes;
  for (const JobPtr& job : snapshot.jobs) {
    const auto at = nodes.find(job->uid);
    const bool whole = at != nodes.end() && job->wanted_pods() <= std::ssize(at->second);
    if (at == nodes.end() || at->second.empty() || whole) continue;
    auto plan = std::make_shared<const PlanNote>(taker.plan_of(*job, std::move(at->second)));
    writes.push_back(job_write(*job, ReleaseJob{.plan = std::move(plan)}, {.verb = Verb::kPlan}));
  }
  return writes;
}

}  // namespace slackline::core
