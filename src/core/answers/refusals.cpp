#include "slackline/core/answers/refusals.h"

#include <algorithm>
#include <map>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

constexpr std::size_t kMostSaid = 240;
constexpr std::size_t kMostNodes = 5;

// "n1 (again 2026-11-27T18:00:00Z), n2 (...): its words"; one part for nodes of the same words.
std::string detail_of(const ExplainQuestion& question, const TaskRefusals& refusals) {
  std::map<std::string, std::vector<std::string>> by_words;
  for (const auto& [node, refusal] : refusals) {
    const double again_s = question.now_s + refusal.until_s - question.now_steady_s;
    by_words[shortened(refusal)].push_back(
        format("{} (again {})", node.str(), format_rfc3339(again_s)));
  }
  std::vector<std::string> parts;
  for (auto& [words, nodes] : by_words) {
    const std::size_t all = nodes.size();
    nodes.resize(std::min(all, kMostNodes));
    if (all > kMostNodes) nodes.push_back(format("{} more", all - kMostNodes));
    parts.push_back(join(nodes, ", ") + (words.empty() ? "" : ": " + words));
  }
  return join(parts, "; ");
}

}  // namespace

const TaskRefusals* refusals_of(const ClusterSnapshot& snapshot, const RefusedNodes* refused,
                                const QueueTask& task) {
  if (refused == nullptr || refused->empty()) return nullptr;
  const auto at = refused->find(refused_as(snapshot, task.job.get(), *task.member));
  return at == refused->end() || at->second.empty() ? nullptr : &at->second;
}

double first_again_s(const TaskRefusals& refusals) {
  const auto first = std::min_element(
      refusals.begin(), refusals.end(),
      [](const auto& a, const auto& b) { return a.second.until_s < b.second.until_s; });
  return first->second.until_s;
}

std::optional<NodesLeft> lacking_nodes(const ClusterSnapshot& snapshot, const Queue& queue,
                                       TaskIndex task, const RefusedNodes* refused) {
  const TaskRefusals* refusals = refusals_of(snapshot, refused, queue.task(task));
  if (refusals == nullptr) return std::nullopt;
  const PlanTask& planned = queue.state().tasks()[task];
  std::map<PoolIndex, std::int64_t> needs;
  for (const Choice& choice : planned.menu->all) {
    const auto [at, first] = needs.try_emplace(choice.pool, choice.shape.d_node);
    at->second = std::min<std::int64_t>(at->second, choice.shape.d_node);
  }
  std::optional<NodesLeft> nearest;
  for (const auto& [pool, need] : needs) {
    const std::vector<NodeIndex>& nodes = queue.pools()[pool].nodes;
    NodesLeft left{need, 0};
    std::int64_t kept_off = 0;
    for (PoolNode node = 0; node < nodes.size(); ++node)
      if (planned.eligible == nullptr || planned.eligible->contains(pool, node))
        ++left.have;
      else if (refusals->contains(snapshot.node(nodes[node]).node->name))
        ++kept_off;
    if (left.have >= need) return std::nullopt;
    if (left.have + kept_off < need) continue;
    if (!nearest || need - left.have < nearest->need - nearest->have) nearest = left;
  }
  return nearest;
}

std::string shortened(const Refusal& refusal) {
  // What follows says the same of every node again.
  return printable(refusal.said.substr(0, refusal.said.find(" preemption: ")), kMostSaid);
}

std::optional<Blocker> blocking_refusals(const ExplainQuestion& question) {
  const QueueTask& task = question.queue.task(question.task);
  const TaskRefusals* refusals = refusals_of(question.snapshot, question.refused, task);
  if (refusals == nullptr) return std::nullopt;
  Blocker blocker;
  blocker.reason = reason::kNotBound;
  blocker.what = format("nodes where kube-scheduler finds a place for its pods; it refused {}",
                        refusals->size());
  blocker.detail = detail_of(question, *refusals);
  blocker.p50_s = blocker.p90_s = question.now_s + first_again_s(*refusals) - question.now_steady_s;
  if (task.plan) return blocker;
  if (const auto left =
          lacking_nodes(question.snapshot, question.queue, question.task, question.refused)) {
    blocker.need = left->need;
    blocker.have = left->have;
  }
  return blocker;
}

}  // namespace slackline::core
