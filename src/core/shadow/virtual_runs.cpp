#include "virtual_runs.h"

#include <algorithm>
#include <map>
#include <set>

#include "slackline/base/text.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/task_menu.h"

namespace slackline::core {
namespace {

struct Place {
  GpuType gpu_type;
  Placement shape;
};

// nullopt: on several GPU types, or unevenly on its nodes.
std::optional<Place> place_of(const RealRun& real) {
  std::map<std::string, std::int64_t> gpus;
  for (const RealRun::Member& member : real.members) {
    if (member.gpu_type != real.members.front().gpu_type) return std::nullopt;
    gpus[member.node.str()] += member.gpus;
  }
  if (gpus.empty()) return std::nullopt;
  for (const auto& [node, count] : gpus)
    if (count != gpus.begin()->second) return std::nullopt;
  return Place{real.members.front().gpu_type,
               clamped_placement(static_cast<std::int64_t>(gpus.size()), gpus.begin()->second)};
}

std::optional<double> length_s(const TaskIntent& intent, const Place& place,
                               const Predictor& predictor) {
  const auto model = predictor.prepare(intent, place.gpu_type);
  const auto run = model ? predicted_run(*model, intent, place.shape) : std::nullopt;
  if (!run) return std::nullopt;
  return run->work_s + run->startup_s;
}

}  // namespace

NodeStatePtr only(const NodeState& state, const PodFilter& kept) {
  auto some = std::make_shared<NodeState>();
  some->node = state.node;
  for (const PodPtr& pod : state.pods) {
    if (!kept(pod)) continue;
    some->pods.push_back(pod);
    some->used += pod->requests;
  }
  return some;
}

bool is_same_ground(const NodeState& a, const NodeState& b) {
  return *a.node == *b.node &&
         std::equal(a.pods.begin(), a.pods.end(), b.pods.begin(), b.pods.end(),
                    [](const PodPtr& x, const PodPtr& y) { return x->uid == y->uid; });
}

std::vector<PodPtr> pods_of(const Job& job, const std::string& resource, std::int64_t gpus,
                            double started_s) {
  std::vector<PodPtr> pods;
  for (const NodeName& node : job.plan->nodes) {
    auto pod = std::make_shared<Pod>();
    pod->uid = Uid(format("{}#{}", job.uid.str(), pods.size()));
    pod->key = {job.key.ns, format("{}-{}", job.key.name, pods.size())};
    pod->owner = OwnerRef{"Job", job.key.name, job.uid};
    pod->node = node;
    pod->phase = PodPhase::kRunning;
    pod->managed = true;
    pod->priority = job.priority;
    pod->created_s = started_s;
    pod->started_s = started_s;
    pod->requests = job.pod_requests;
    pod->requests.set_gpus(resource, gpus);
    pods.push_back(std::move(pod));
  }
  return pods;
}

void add_pods(ClusterSnapshot& snapshot, const std::vector<PodPtr>& pods) {
  std::map<NodeIndex, std::vector<PodPtr>> by_node;
  for (const PodPtr& pod : pods)
    if (const auto node = snapshot.find_node(pod->node.str())) by_node[*node].push_back(pod);
  for (const auto& [node, added] : by_node) {
    auto state = std::make_shared<NodeState>(*snapshot.nodes[node]);
    state->pods.insert(state->pods.end(), added.begin(), added.end());
    std::sort(state->pods.begin(), state->pods.end(),
              [](const PodPtr& a, const PodPtr& b) { return a->uid < b->uid; });
    for (const PodPtr& pod : added)
      state->used += pod->requests;
    snapshot.nodes[node] = std::move(state);
  }
}

double length_ratio(const Job& job, const PlanNote& plan, const RealRun& real,
                    const QueueOptions& options) {
  const auto really = place_of(real);
  if (!really || job.intent == nullptr) return 1;
  const Place planned{plan.gpu_type, plan.shape};
  if (planned.gpu_type == really->gpu_type && planned.shape == really->shape) return 1;
  if (!options.catalog->is_whole(primary_gpu_resource(job.pod_requests))) return 1;
  const auto planned_s = length_s(*job.intent, planned, *options.predictor);
  const auto real_s = length_s(*job.intent, *really, *options.predictor);
  return planned_s && real_s && *real_s > 0 ? *planned_s / *real_s : 1;
}

}  // namespace slackline::core
