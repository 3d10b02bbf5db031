#include <algorithm>
#include <map>

#include "slackline/core/answers/explain.h"
#include "slackline/core/answers/refusals.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/verdict.h"

namespace slackline::core {
namespace {

constexpr std::string_view kFull = "Full";
constexpr std::string_view kNoCpuOrMemory = "NoCpuOrMemory";
constexpr std::string_view kFree = "Free";
constexpr std::string_view kNoGpus = "NoGpus";
constexpr std::string_view kUnhealthy = "GpusUnhealthy";
constexpr std::string_view kRefused = "RefusedByScheduler";
constexpr std::string_view kOtherDomain = "PodAffinity";
constexpr std::string_view kOtherSpread = "PodSpread";
constexpr std::string_view kSharedGpus = "SharedGpus";

class NodeJudge {
 public:
  explicit NodeJudge(const ExplainQuestion& question)
      : question_(question),
        task_(question.queue.task(question.task)),
        member_(*task_.member),
        besides_gpus_(besides_gpus(member_)),
        accepted_(*task_.intent, question.catalog, task_.request.resource),
        holds_(question.snapshot, member_, question.now_steady_s),
        domain_(domain_of_plan()) {}

  std::string_view judge(NodeIndex index) const {
    const NodeState& state = question_.snapshot.node(index);
    const std::string& resource = task_.request.resource;
    const std::int64_t gpus = state.node->allocatable.gpu_count(resource);
    const std::int64_t unhealthy = count_of(state.node->unhealthy, resource);
    if (gpus + unhealthy == 0) return kNoGpus;
    if (!accepted_.preference(type_of(index)))
      return code(type_of(index).empty() ? Verdict::kGpuTypeUnknown : Verdict::kGpuTypeNotAccepted);
    if (const auto bar = misfit(member_, *state.node)) return code(*bar);
    const std::int64_t wanted = gpus_wanted();
    if (wants_several_shares(question_, wanted, *state.node)) return kSharedGpus;
    if (gpus < wanted && gpus + unhealthy >= wanted) return kUnhealthy;
    if (gpus < wanted || !question_.snapshot.fits(besides_gpus_, state.node->allocatable))
      return code(Verdict::kNodeTooSmall);
    if (refusal_of(index) != nullptr) return kRefused;
    if (domain_ && domain_of(*state.node, task_.request.spread.together) != domain_)
      return kOtherDomain;
    const Resources free = state.free();
    const Resources left = free - holds_.against(index);
    if (free.gpu_count(resource) < wanted) return kFull;
    if (left.gpu_count(resource) < wanted) return code(Verdict::kHeldForOthers);
    Resources rest = member_.requests;
    rest.set_gpus(resource, 0);
    if (!question_.snapshot.fits(rest, free)) return kNoCpuOrMemory;
    if (!question_.snapshot.fits(rest, left)) return code(Verdict::kHeldForOthers);
    return is_left_out(index) ? kOtherSpread : kFree;
  }

  // Null: none.
  const Refusal* refusal_of(NodeIndex index) const {
    const TaskRefusals* refusals = refusals_of(question_.snapshot, question_.refused, task_);
    if (refusals == nullptr) return nullptr;
    const auto at = refusals->find(question_.snapshot.node(index).node->name);
    return at == refusals->end() ? nullptr : &at->second;
  }

  double again_at(const Refusal& refusal) const {
    return question_.now_s + refusal.until_s - question_.now_steady_s;
  }

  std::vector<ObjectKey> holders(NodeIndex index) const {
    std::vector<ObjectKey> tasks;
    for (const Hold& hold : holds_.on(index)) {
      if (!holds_.counts(hold)) continue;
      if (const Job* job = question_.snapshot.find_job(hold.task))
        tasks.push_back(job->key);
      else if (!hold.gang.empty())
        tasks.push_back(
            {hold.gang.substr(0, hold.gang.find('/')), hold.gang.substr(hold.gang.find('/') + 1)});
    }
    return tasks;
  }

  // When enough of a full node's GPUs are free; nullopt: no run of the plan says so. Runs that are
  // released and not bound yet have theirs, too.
  std::optional<double> room_at(NodeIndex index) const {
    std::vector<std::pair<double, int>> ends;
    const PlanState& state = question_.queue.state();
    for (const TaskIndex run : runs_on(index)) {
      if (state.runs_for_good(run)) continue;
      const Forecast* forecast = question_.forecast ? question_.forecast(run) : nullptr;
      ends.emplace_back(forecast != nullptr ? forecast->finish_s.p50()
                                            : state.predicted_end_s(run, question_.now_s),
                        state.running_choice(run).shape.d_gpn);
    }
    std::sort(ends.begin(), ends.end());
    const std::string& resource = task_.request.resource;
    std::int64_t free = question_.snapshot.node(index).free().gpu_count(resource) -
                        holds_.against(index).gpu_count(resource);
    for (const auto& [end_s, gpus] : ends) {
      free += gpus;
      if (free >= gpus_wanted()) return end_s;
    }
    return std::nullopt;
  }

 private:
  // The one for which its pods are planned, all of them; nullopt: none is needed, or none will do.
  std::optional<std::vector<std::string>> domain_of_plan() const {
    const auto& eligible = question_.queue.state().tasks()[question_.task].eligible;
    if (task_.request.spread.together.empty() || !eligible) return std::nullopt;
    for (PoolIndex pool = 0; pool < question_.queue.pools().size(); ++pool) {
      const std::vector<NodeIndex>& nodes = question_.queue.pools()[pool].nodes;
      for (PoolNode node = 0; node < nodes.size(); ++node)
        if (eligible->contains(pool, node))
          return domain_of(*question_.snapshot.node(nodes[node]).node,
                           task_.request.spread.together);
    }
    return std::nullopt;
  }

  // Its pods are spread over the values of a label, and are planned for others with this one's.
  bool is_left_out(NodeIndex index) const {
    const auto& eligible = question_.queue.state().tasks()[question_.task].eligible;
    if (!task_.request.spread.apart || !eligible) return false;
    for (PoolIndex pool = 0; pool < question_.queue.pools().size(); ++pool) {
      const std::vector<NodeIndex>& nodes = question_.queue.pools()[pool].nodes;
      const auto at = std::ranges::find(nodes, index);
      if (at != nodes.end())
        return !eligible->contains(pool, static_cast<PoolNode>(at - nodes.begin()));
    }
    return false;
  }

  const GpuType& type_of(NodeIndex index) const {
    return question_.snapshot.node(index).node->gpu_type;
  }

  // Of one pod. A shape that Slackline chooses may need no more than one.
  std::int64_t gpus_wanted() const {
    return task_.shape_is_free && task_.intent->any_placement ? 1 : task_.request.gpus;
  }

  const std::vector<TaskIndex>& runs_on(NodeIndex index) const {
    if (runs_.empty()) {
      runs_.resize(question_.snapshot.nodes.size());
      const PlanState& state = question_.queue.state();
      for (const TaskIndex run : state.running()) {
        const QueuePool& pool = question_.queue.pools()[state.running_choice(run).pool];
        for (const PoolNode node : state.progress(run).run.nodes)
          runs_[pool.nodes[node]].push_back(run);
      }
    }
    return runs_[index];
  }

  const ExplainQuestion& question_;
  const QueueTask& task_;
  const Pod& member_;
  const Resources besides_gpus_;
  AcceptedTypes accepted_;
  HoldView holds_;
  const std::optional<std::vector<std::string>> domain_;
  mutable std::vector<std::vector<TaskIndex>> runs_;  // by node; made when first needed
};

void add(const NodeJudge& judge, NodeIndex node, NodeGroup& group) {
  ++group.nodes;
  if (group.code == code(Verdict::kHeldForOthers))
    for (const ObjectKey& task : judge.holders(node)) {
      const auto at = std::lower_bound(group.tasks.begin(), group.tasks.end(), task);
      if (at == group.tasks.end() || *at != task) group.tasks.insert(at, task);
    }
  std::optional<double> until_s;
  if (group.code == kFull) until_s = judge.room_at(node);
  if (const Refusal* refusal = judge.refusal_of(node); group.code == kRefused) {
    until_s = judge.again_at(*refusal);
    if (group.detail.empty()) group.detail = shortened(*refusal);
  }
  if (until_s) group.until_s = std::min(group.until_s.value_or(*until_s), *until_s);
}

}  // namespace

std::vector<NodeGroup> group_nodes(const ExplainQuestion& question) {
  const NodeJudge judge(question);
  std::map<std::string_view, NodeGroup> by_code;
  for (NodeIndex node = 0; node < question.snapshot.nodes.size(); ++node) {
    const std::string_view why = judge.judge(node);
    NodeGroup& group = by_code[why];
    group.code = why;
    add(judge, node, group);
  }
  std::vector<NodeGroup> groups;
  for (auto& [why, group] : by_code)
    groups.push_back(std::move(group));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const NodeGroup& a, const NodeGroup& b) { return a.nodes > b.nodes; });
  return groups;
}

NodeGroup group_of(const ExplainQuestion& question, NodeIndex node) {
  const NodeJudge judge(question);
  NodeGroup group;
  group.code = judge.judge(node);
  add(judge, node, group);
  return group;
}

}  // namespace slackline::core
