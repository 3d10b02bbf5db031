#include "control/query/node_views.h"

#include <algorithm>
#include <map>
#include <utility>

#include "slackline/core/cluster/pools.h"

namespace slackline::control {
namespace {

void add_use(std::vector<GpuUseView>& total, const GpuUseView& use) {
  for (GpuUseView& known : total) {
    if (known.resource != use.resource) continue;
    known.allocatable += use.allocatable;
    known.used += use.used;
    known.held += use.held;
    known.free += use.free;
    return;
  }
  total.push_back(use);
}

// The controller's name, or the pod's where it has none.
std::string task_name(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (const Job* job = owning_job(snapshot, pod)) return job->key.str();
  return pod.owner ? ObjectKey{pod.key.ns, pod.owner->name}.str() : pod.key.str();
}

// Empty: kube-scheduler, or Slackline.
std::string left_to(const ClusterSnapshot& snapshot, const Task& task) {
  if (task.job && task.job->kueue) return "Kueue, or another controller";
  const std::string& scheduler = task.job ? task.job->scheduler_name : task.member->scheduler_name;
  return snapshot.plans_for(scheduler) ? "" : scheduler;
}

}  // namespace

std::vector<GpuUseView> gpu_use(const ClusterSnapshot& snapshot, NodeIndex index,
                                const GpuCatalog& catalog, double now_steady_s) {
  const NodeState& state = snapshot.node(index);
  std::vector<GpuUseView> uses;
  for (const ResourceAmount& amount : state.node->allocatable.gpus) {
    GpuUseView use;
    use.resource = amount.resource;
    if (const GpuResourceRule* rule = catalog.resource(amount.resource))
      use.sharing = to_string(rule->sharing);
    use.allocatable = amount.count;
    use.used = state.used.gpu_count(amount.resource);
    std::int64_t ending = 0;  // for whom they are held
    for (const PodPtr& pod : state.pods)
      if (pod->deleting && !pod->terminal()) ending += pod->requests.gpu_count(amount.resource);
    for (const Hold& hold : snapshot.holds_on(index))
      if (hold.expires_s > now_steady_s) use.held += hold.amount.gpu_count(amount.resource);
    use.free = use.allocatable - use.used - std::max<std::int64_t>(0, use.held - ending);
    uses.push_back(std::move(use));
  }
  return uses;
}

NodeLister::NodeLister(const ClusterSnapshot& snapshot, const GpuCatalog& catalog,
                       const std::vector<std::string>& schedulers, double now_steady_s)
    : snapshot_(snapshot), catalog_(catalog), schedulers_(schedulers), now_steady_s_(now_steady_s) {
  if (snapshot.holds.empty()) return;
  for (const PodPtr& pod : snapshot.unbound)
    unbound_.emplace(pod->uid, pod.get());
  for (const JobPtr& job : snapshot.jobs)
    jobs_.emplace(job->uid, job.get());
}

std::string NodeLister::placed_by(const Pod& pod) const {
  if (effective_plan(snapshot_, pod) != nullptr) return "plan";
  const bool ours = schedulers_.empty() || std::find(schedulers_.begin(), schedulers_.end(),
                                                     pod.scheduler_name) != schedulers_.end();
  return ours ? "scheduler" : "other";
}

void NodeLister::add_hold(const Hold& hold, std::vector<GpuOccupantView>& to) const {
  GpuOccupantView one;
  one.by = "held";
  const auto job = jobs_.find(hold.task);
  if (const auto pod = unbound_.find(hold.pod); pod != unbound_.end()) {
    one.pod = pod->second->key.str();
    one.task = task_name(snapshot_, *pod->second);
  } else if (job != jobs_.end()) {
    one.task = job->second->key.str();
  } else {
    one.task = hold.gang;
  }
  for (const ResourceAmount& amount : hold.amount.gpus) {
    one.resource = amount.resource;
    one.gpus = amount.count;
    to.push_back(one);
  }
}

std::vector<GpuOccupantView> NodeLister::occupants(NodeIndex index) const {
  std::vector<GpuOccupantView> all;
  for (const PodPtr& pod : snapshot_.node(index).pods)
    for (const ResourceAmount& amount : pod->requests.gpus)
      all.push_back({task_name(snapshot_, *pod), pod->key.str(), amount.resource, amount.count,
                     placed_by(*pod)});
  for (const Hold& hold : snapshot_.holds_on(index))
    if (hold.expires_s > now_steady_s_) add_hold(hold, all);
  return all;
}

ListedNode NodeLister::row(NodeIndex index) const {
  return {snapshot_.nodes[index], gpu_use(snapshot_, index, catalog_, now_steady_s_),
          occupants(index), catalog_.block_name(snapshot_.nodes[index]->node->labels)};
}

std::vector<GpuPoolView> pool_views(const ClusterSnapshot& snapshot, const GpuCatalog& catalog,
                                    double now_steady_s) {
  std::map<std::string, GpuPoolView> pools;
  for (NodeIndex index = 0; index < snapshot.nodes.size(); ++index) {
    const Node& node = *snapshot.node(index).node;
    if (node.allocatable.gpus.empty() && node.unhealthy.empty()) continue;
    GpuPoolView& pool = pools[node.gpu_type.str()];
    pool.gpu_type = node.gpu_type;
    pool.cost = catalog.cost(node.gpu_type);
    ++pool.nodes;
    const bool usable = core::is_usable(node);
    if (usable) ++pool.nodes_usable;
    for (GpuUseView& use : gpu_use(snapshot, index, catalog, now_steady_s)) {
      if (!usable) use.free = std::min<std::int64_t>(use.free, 0);
      add_use(pool.gpus, use);
    }
  }
  std::vector<GpuPoolView> views;
  for (auto& [name, pool] : pools)
    if (!name.empty()) views.push_back(std::move(pool));
  if (const auto nameless = pools.find(""); nameless != pools.end())
    views.push_back(std::move(nameless->second));
  return views;
}

ListedTask listed_task(const ClusterSnapshot& snapshot, Task task,
                       std::optional<double> deadline_s) {
  ListedTask row{std::move(task), deadline_s};
  if (row.task.state == TaskState::kWaiting) row.left_to = left_to(snapshot, row.task);
  if (row.task.job) row.task.member.reset();  // made for this catalogue, and larger than the row
  if (!row.task.nodes.empty())
    if (const auto node = snapshot.find_node(row.task.nodes.front().str()))
      row.gpu_type = snapshot.node(*node).node->gpu_type;
  return row;
}

}  // namespace slackline::control
