// Whether a task could run here at all, and what is too large about it where not.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/answers/explain.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

class Fit {
 public:
  Fit(const ClusterSnapshot& snapshot, const Queue& queue, TaskIndex task)
      : snapshot_(snapshot),
        queue_(queue),
        task_(queue.task(task)),
        planned_(queue.state().tasks()[task]) {}

  bool any() const {
    const std::vector<Choice>& all = planned_.menu->all;
    return std::any_of(all.begin(), all.end(), [&](const Choice& choice) { return holds(choice); });
  }

  // The placement that needs the fewest nodes more than there are, and how many there are.
  std::pair<const Choice*, int> nearest() const {
    std::pair<const Choice*, int> nearest{nullptr, 0};
    for (const Choice& choice : planned_.menu->all) {
      const int nodes = nodes_for(choice, choice.shape.d_node);
      if (nearest.first == nullptr ||
          choice.shape.d_node - nodes < nearest.first->shape.d_node - nearest.second)
        nearest = {&choice, nodes};
    }
    return nearest;
  }

  // Enough nodes have the GPUs for it: something else is short.
  bool has_gpus(const Choice& choice) const {
    const auto nodes = static_cast<PoolNode>(queue_.pools()[choice.pool].nodes.size());
    int found = 0;
    for (PoolNode node = 0; node < nodes; ++node)
      found += gpus_of(choice.pool, node) >= choice.shape.d_gpn ? 1 : 0;
    return found >= choice.shape.d_node;
  }

  bool holds(const Choice& choice) const {
    const std::vector<std::int64_t>& of_each = task_.request.of_each;
    if (of_each.empty()) return nodes_for(choice, choice.shape.d_node) == choice.shape.d_node;
    // Of pods that differ in where they may go, at least the first has a node.
    if (planned_.mixed == nullptr || planned_.mixed->groups.size() > 1)
      return nodes_for(choice, 1) == 1;
    const bool alike = of_each.front() == of_each.back();
    std::vector<std::int64_t> gpus;
    for (PoolNode node = 0; node < queue_.pools()[choice.pool].nodes.size(); ++node) {
      std::int64_t pods = 0;
      while (pods < (alike ? task_.request.pods : 1) &&
             takes(choice.pool, node, pods + 1, (pods + 1) * of_each.front()))
        ++pods;
      if (pods > 0) gpus.push_back(alike ? pods * of_each.front() : gpus_of(choice.pool, node));
    }
    return have_room(of_each, gpus, most_on_node(task_.request.spread));
  }

 private:
  int nodes_for(const Choice& choice, int most) const {
    const bool alike = task_.request.of_each.empty();
    const std::int64_t gpus = alike ? choice.shape.d_gpn : task_.request.gpus;
    const std::int64_t pods = alike ? task_.pods_on_node(choice.shape) : 1;
    const auto nodes = static_cast<PoolNode>(queue_.pools()[choice.pool].nodes.size());
    int found = 0;
    for (PoolNode node = 0; node < nodes && found < most; ++node)
      found += takes(choice.pool, node, pods, gpus) ? 1 : 0;
    return found;
  }

  // Were it empty. What must be together, or apart, is so on the nodes for which it is planned.
  bool takes(PoolIndex pool, PoolNode index, std::int64_t pods, std::int64_t gpus) const {
    const Node& node = *snapshot_.node(queue_.pools()[pool].nodes[index]).node;
    const OwnSpread& spread = task_.request.spread;
    const bool inside = (spread.together.empty() && !spread.apart) ||
                        planned_.eligible == nullptr || planned_.eligible->contains(pool, index);
    return inside && gpus_of(pool, index) >= gpus && !misfit(*task_.member, node) &&
           snapshot_.fits(besides_gpus(*task_.member, pods), node.allocatable);
  }

  std::int64_t gpus_of(PoolIndex pool, PoolNode node) const {
    const QueuePool& of = queue_.pools()[pool];
    return snapshot_.node(of.nodes[node]).node->allocatable.gpu_count(of.pool.resource);
  }

  const ClusterSnapshot& snapshot_;
  const Queue& queue_;
  const QueueTask& task_;
  const PlanTask& planned_;
};

// In the placement that puts the fewest of them on one node.
std::int64_t pods_on_a_node(const QueueTask& task, const PlacementMenu& menu) {
  if (menu.all.empty() || !task.request.of_each.empty()) return 1;
  std::int64_t fewest = task.request.pods;
  for (const Choice& choice : menu.all)
    fewest = std::min(fewest, task.pods_on_node(choice.shape));
  return fewest;
}

// The most of each that a node has which its pods may use; nullopt: none of them has GPUs.
std::optional<Resources> most_of_nodes(const ClusterSnapshot& snapshot, const QueueTask& task) {
  Resources most;
  bool any = false;
  for (const NodeStatePtr& state : snapshot.nodes) {
    if (misfit(*task.member, *state->node)) continue;
    any = any || state->node->allocatable.gpu_count(task.request.resource) > 0;
    most = max_of(most, state->node->allocatable);
  }
  return any ? std::optional(most) : std::nullopt;
}

std::string nodes_text(std::int64_t count) {
  return count == 1 ? "a node" : format("{} nodes", count);
}

std::string rest_text(const QueueTask& task, std::int64_t pods) {
  const Resources rest = besides_gpus(*task.member, pods);
  return format("{} cpu and {} memory", amount_text({"cpu", amount_of(rest, "cpu")}),
                amount_text({"memory", amount_of(rest, "memory")}));
}

// Of GPUs, which every placement needs.
std::string too_many_gpus(const Fit& fit, const QueueTask& task, std::int64_t most) {
  if (task.request.gpus > most)
    return format("a pod asks for {}, and no node that it may use has more than {}",
                  counted(task.request.gpus, "GPU"), most);
  const std::vector<std::string>& together = task.request.spread.together;
  const std::string those =
      together.empty() ? "those that it may use" : "those with one " + join(together, " and one ");
  const auto [choice, nodes] = fit.nearest();
  if (choice == nullptr || !task.request.of_each.empty())
    return format(
        "its pods ask for {} together, each with {}; nodes of {} do not hold them, even "
        "empty",
        counted(task.request.all_gpus(), "GPU"), rest_text(task, 1), those);
  std::string each = counted(choice->shape.d_gpn, "GPU");
  for (const ResourceAmount& gpus : besides_gpus(*task.member).gpus)
    each += format(" and {} {}", gpus.count, gpus.resource);
  if (fit.has_gpus(*choice)) each += ", " + rest_text(task, task.pods_on_node(choice->shape));
  return format("it needs {} with {}{}, and {} of {} {} large enough",
                nodes_text(choice->shape.d_node), each, choice->shape.d_node == 1 ? "" : " each",
                nodes == 0 ? "none" : format("{}", nodes), those, nodes == 1 ? "is" : "are");
}

// By what its pods say of each other, whatever they ask for; empty: enough nodes may take them.
std::string too_few_nodes(const ExplainQuestion& question, const QueueTask& task) {
  const auto& most = task.request.spread.most;
  if (!most || *most < 1) return {};
  const std::int64_t needed = (task.request.pods + *most - 1) / *most;
  const AcceptedTypes accepted(*task.intent, question.catalog, task.request.resource);
  const auto& all = question.snapshot.nodes;
  const auto nodes = std::count_if(all.begin(), all.end(), [&](const NodeStatePtr& state) {
    return state->node->allocatable.gpu_count(task.request.resource) >= task.request.gpus &&
           accepted.preference(state->node->gpu_type) && !misfit(*task.member, *state->node);
  });
  if (nodes >= needed) return {};
  return format(
      "its anti-affinity or host ports allow {} of its pods on a node: it needs {}, and {} "
      "may take one",
      *most, nodes_text(needed), nodes == 0 ? "none" : nodes_text(nodes));
}

// With the taints that bar it.
std::string bar_text(const Pod& pod, const Node& node, Misfit bar) {
  std::string text(message(bar));
  if (bar != Misfit::kTaint && bar != Misfit::kResourceTaint) return text;
  std::vector<std::string> taints;
  for (const Taint& taint : node.taints)
    if (taint_misfit(pod, node, taint))
      taints.push_back(taint.key + (taint.value.empty() ? "" : "=" + taint.value));
  return format("{} ({})", text, printable(join(taints, ", "), 200));
}

// Where it may not go though the GPUs are of a type that it accepts: to any. Empty: to some.
std::string barred_text(const ExplainQuestion& question, const QueueTask& task) {
  const AcceptedTypes accepted(*task.intent, question.catalog, task.request.resource);
  std::map<std::string, std::int64_t> nodes;
  for (const NodeStatePtr& state : question.snapshot.nodes) {
    const Node& node = *state->node;
    const std::int64_t gpus = saturating_add(node.allocatable.gpu_count(task.request.resource),
                                             count_of(node.unhealthy, task.request.resource));
    if (gpus == 0 || !accepted.preference(node.gpu_type)) continue;
    if (const auto bar = misfit(*task.member, node))
      ++nodes[bar_text(*task.member, node, *bar)];
    else if (wants_several_shares(question, task.request.gpus, node))
      ++nodes[format("its GPUs are shared, and no pod is planned there that asks for {} shares",
                     task.request.gpus)];
    else
      return {};
  }
  std::vector<std::string> bars;
  for (const auto& [bar, count] : nodes)
    bars.push_back(format("{} ({})", bar, counted(count, "node")));
  if (bars.empty()) return {};
  return "no node with GPUs of a type that it accepts takes its pods: " + join(bars, "; ");
}

std::string what_is_too_large(const ExplainQuestion& question) {
  const QueueTask& task = question.queue.task(question.task);
  if (std::string barred = barred_text(question, task); !barred.empty()) return barred;
  const auto most = most_of_nodes(question.snapshot, task);
  if (!most) return {};
  std::vector<std::string> resources = {"cpu", "memory"};
  for (const ResourceAmount& other : task.member->requests.others)
    if (question.snapshot.node_table.lists(other.resource)) resources.push_back(other.resource);
  for (const ResourceAmount& gpus : besides_gpus(*task.member).gpus)
    resources.push_back(gpus.resource);
  const std::int64_t pods =
      pods_on_a_node(task, *question.queue.state().tasks()[question.task].menu);
  const std::string who = pods == 1 ? "a pod asks" : format("{} pods on one node ask", pods);
  for (const std::string& resource : resources) {
    const std::int64_t asked = saturating_mul(amount_of(task.member->requests, resource), pods);
    const std::int64_t there = amount_of(*most, resource);
    if (asked > there)
      return format("{} for {} {}, and no node that it may use has more than {}", who,
                    amount_text({resource, asked}), resource, amount_text({resource, there}));
  }
  if (std::string few = too_few_nodes(question, task); !few.empty()) return few;
  return too_many_gpus(Fit(question.snapshot, question.queue, question.task), task,
                       most->gpu_count(task.request.resource));
}

// Of nodes that it may use; empty: none.
std::string unhealthy_text(const ClusterSnapshot& snapshot, const QueueTask& task) {
  std::int64_t gpus = 0;
  std::vector<std::string> nodes;
  for (const NodeStatePtr& state : snapshot.nodes) {
    const std::int64_t there = count_of(state->node->unhealthy, task.request.resource);
    if (there == 0 || misfit(*task.member, *state->node)) continue;
    gpus = saturating_add(gpus, there);
    nodes.push_back(state->node->name.str());
  }
  if (nodes.empty()) return {};
  return format("{} of {} {} unhealthy, or the device plugin is down", counted(gpus, "GPU"),
                nodes.size() == 1 ? nodes.front() : nodes_text(std::ssize(nodes)),
                gpus == 1 ? "is" : "are");
}

}  // namespace

bool wants_several_shares(const ExplainQuestion& question, std::int64_t gpus, const Node& node) {
  const std::string& resource = question.queue.task(question.task).request.resource;
  return gpus > 1 &&
         (question.catalog.is_share(node.gpu_type) || question.catalog.is_shared(resource));
}

bool could_ever_fit(const ClusterSnapshot& snapshot, const Queue& queue, TaskIndex task) {
  return Fit(snapshot, queue, task).any();
}

bool could_ever_fit(const ClusterSnapshot& snapshot, const Queue& queue, TaskIndex task,
                    const Choice& choice) {
  return Fit(snapshot, queue, task).holds(choice);
}

std::string too_large(const ExplainQuestion& question) {
  std::vector<std::string> parts = {
      what_is_too_large(question),
      unhealthy_text(question.snapshot, question.queue.task(question.task))};
  std::erase(parts, "");
  return join(parts, "; ");
}

}  // namespace slackline::core
