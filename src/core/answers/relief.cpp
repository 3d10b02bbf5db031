// How many GPUs a task lacks, and whose runs leave them.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/answers/explain.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/planning/mixed_pods.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

constexpr std::size_t kMostReliefs = 20;
constexpr double kClearly_s = 60;  // what tells two medians apart, and of the longer one
constexpr double kClearly = 0.1;

// A run on nodes of the pool that the task may use.
struct Ending {
  TaskIndex run = 0;
  double p50_s = 0;
  double p90_s = 0;
};

// What of one pool the task could use.
class PoolRoom {
 public:
  // `kept`: of these nodes only; empty: of all.
  PoolRoom(const ExplainQuestion& question, PoolIndex pool, Placement shape,
           const std::set<NodeIndex>& kept)
      : state_(question.queue.state()),
        pool_(pool),
        shape_(shape),
        of_each_(question.queue.task(question.task).request.of_each) {
    const auto& eligible = state_.tasks()[question.task].eligible;
    const std::vector<NodeIndex>& nodes = question.queue.pools()[pool].nodes;
    for (PoolNode node = 0; node < nodes.size(); ++node) {
      const bool usable = eligible == nullptr || eligible->contains(pool, node, shape_.d_gpn);
      if (usable && (kept.empty() || kept.contains(nodes[node])))
        free_[node] = state_.free().at(pool, node);
    }
  }

  std::size_t nodes() const { return free_.size(); }

  // As far as the task needs them: of the nodes that have enough of them for their part; of one
  // node, where that is all it needs.
  std::int64_t gpus() const {
    if (!of_each_.empty()) return packed();
    std::int64_t nodes = 0;
    int most = 0;
    for (const auto& [node, free] : free_) {
      nodes += free >= shape_.d_gpn ? 1 : 0;
      most = std::max(most, free);
    }
    if (shape_.d_node == 1) return std::min(most, shape_.d_gpn);
    return std::min<std::int64_t>(nodes, shape_.d_node) * shape_.d_gpn;
  }

  // Of pods that differ, on nodes that all may use.
  std::int64_t packed() const {
    std::multiset<std::int64_t> left;
    for (const auto& [node, free] : free_)
      left.insert(free);
    std::int64_t packed = 0;
    for (const std::int64_t gpus : of_each_) {
      const auto node = left.lower_bound(gpus);
      if (node == left.end()) continue;
      left.insert(*node - gpus);
      left.erase(node);
      packed += gpus;
    }
    return packed;
  }

  // What the run leaves on its nodes.
  void leave(TaskIndex run) {
    if (state_.running_choice(run).pool != pool_) return;
    for (const PoolNode node : state_.progress(run).run.nodes)
      if (const auto at = free_.find(node); at != free_.end())
        at->second += state_.running_choice(run).shape.d_gpn;
  }

  bool is_used_by(TaskIndex run) const {
    if (state_.running_choice(run).pool != pool_) return false;
    const auto& nodes = state_.progress(run).run.nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](PoolNode n) { return free_.contains(n); });
  }

 private:
  const PlanState& state_;
  PoolIndex pool_;
  Placement shape_;
  const std::vector<std::int64_t>& of_each_;
  std::map<PoolNode, int> free_;  // of the nodes that the task may use
};

// Of a run without a forecast, what is left of it is as uncertain as its length.
Ending ending_of(const ExplainQuestion& question, TaskIndex run) {
  const PlanState& state = question.queue.state();
  const Forecast* forecast = question.forecast ? question.forecast(run) : nullptr;
  if (forecast != nullptr) return {run, forecast->finish_s.p50(), forecast->finish_s.p90()};
  const double end_s = state.predicted_end_s(run, question.now_s);
  const bool reported = state.progress(run).run.reported.has_value();
  const double error = reported ? 0 : state.running_choice(run).error;
  return {run, end_s, question.now_s + (end_s - question.now_s) * std::exp(kNineInTen * error)};
}

std::vector<Ending> endings(const ExplainQuestion& question, const PoolRoom& room) {
  const PlanState& state = question.queue.state();
  std::vector<Ending> endings;
  for (const TaskIndex run : state.running())
    if (room.is_used_by(run) && !state.runs_for_good(run))
      endings.push_back(ending_of(question, run));
  std::sort(endings.begin(), endings.end(), [](const Ending& a, const Ending& b) {
    return std::pair(a.p50_s, a.run) < std::pair(b.p50_s, b.run);
  });
  return endings;
}

int held_for_good(const ExplainQuestion& question, const PoolRoom& room) {
  const PlanState& state = question.queue.state();
  int gpus = 0;
  for (const TaskIndex run : state.running())
    if (room.is_used_by(run) && state.runs_for_good(run)) gpus += state.running_choice(run).gpus;
  return gpus;
}

// Pods of one gang that end together are one run to people.
void add_relief(Relief&& relief, Blocker& blocker) {
  const auto same =
      std::find_if(blocker.relief.begin(), blocker.relief.end(), [&](const Relief& other) {
        return other.task == relief.task && relief.p50_s - other.p50_s < kClearly_s;
      });
  if (same == blocker.relief.end()) return blocker.relief.push_back(std::move(relief));
  same->gpus += relief.gpus;
  same->p50_s = relief.p50_s;  // the later one
  same->p90_s = std::max(same->p90_s, relief.p90_s);
}

Blocker blocker_of(const ExplainQuestion& question, const Choice& choice,
                   const std::set<NodeIndex>& kept) {
  const Queue& queue = question.queue;
  PoolRoom room(question, choice.pool, choice.shape, kept);
  const GpuType& type = queue.pools()[choice.pool].pool.type;
  Blocker blocker;
  blocker.reason = reason::kWaitsItsTurn;
  const std::string_view name = type.empty() ? "unknown" : std::string_view(type.str());
  const auto& of_each = queue.task(question.task).request.of_each;
  if (!of_each.empty())
    blocker.what = of_each.front() == of_each.back()
                       ? format("{} GPUs for {}", name, listed(of_each))
                       : format("{} GPUs for pods that differ: {}", name, listed(of_each));
  else if (choice.shape.d_node == 1)
    blocker.what = format("{} GPUs on one node", name);
  else
    blocker.what = format("{} GPUs on nodes with {} free", name, choice.shape.d_gpn);
  blocker.need = choice.gpus;
  blocker.have = room.gpus();
  std::int64_t have = room.gpus();
  std::int64_t overdue = 0;
  double p90_s = question.now_s;
  for (const Ending& ending : endings(question, room)) {
    if (have >= choice.gpus || blocker.relief.size() >= kMostReliefs) break;
    room.leave(ending.run);
    overdue += queue.state().progress(ending.run).run.predicted_end_s < question.now_s ? 1 : 0;
    p90_s = std::max(p90_s, ending.p90_s);
    add_relief({queue.key_of_run(ending.run), queue.state().running_choice(ending.run).gpus,
                ending.p50_s, ending.p90_s},
               blocker);
    have = room.gpus();
    if (have < choice.gpus) continue;
    blocker.p50_s = ending.p50_s;
    blocker.p90_s = p90_s;
  }
  if (const int held = have < choice.gpus ? held_for_good(question, room) : 0; held > 0)
    blocker.detail = format(
        "{} of these GPUs {} held by pods that do not end by themselves, of a Deployment, "
        "StatefulSet or DaemonSet: they come free when it is scaled down",
        held, held == 1 ? "is" : "are");
  else if (overdue > 0)
    blocker.detail = format("{} longer than predicted: this time moves with {}",
                            overdue == 1 ? "a run takes" : format("{} runs take", overdue),
                            overdue == 1 ? "it" : "them");
  return blocker;
}

// "n1 has 4 cpu free, and a pod asks for 8"; empty: nothing is short there.
std::string short_on(const NodeState& node, const Resources& asked) {
  const Resources free = node.free();
  std::vector<std::string> resources = {"cpu", "memory"};
  for (const ResourceAmount& other : asked.others)
    resources.push_back(other.resource);
  for (const std::string& resource : resources) {
    const std::int64_t there = std::max<std::int64_t>(0, amount_of(free, resource));
    const std::int64_t wanted = amount_of(asked, resource);
    if (wanted > there)
      return format("{} has {} {} free, and a pod asks for {}", node.node->name.str(),
                    amount_text({resource, there}), resource, amount_text({resource, wanted}));
  }
  return {};
}

// No node that may take it would have CPU, memory and the like for it if its GPU pods ended.
std::optional<Blocker> taken_for_good(const ExplainQuestion& question) {
  const Queue& queue = question.queue;
  const PlanTask& planned = queue.state().tasks()[question.task];
  const Pod& member = *queue.task(question.task).member;
  if (planned.eligible == nullptr) return std::nullopt;
  Blocker blocker;
  blocker.reason = reason::kWaitsItsTurn;
  blocker.what = "CPU, memory or another resource that pods without GPUs hold";
  for (const Choice& choice : planned.menu->all) {
    const std::vector<NodeIndex>& nodes = queue.pools()[choice.pool].nodes;
    for (PoolNode node = 0; node < nodes.size(); ++node) {
      if (planned.eligible->contains(choice.pool, node)) return std::nullopt;
      const NodeState& state = question.snapshot.node(nodes[node]);
      if (blocker.detail.empty() && !misfit(member, *state.node))
        blocker.detail = short_on(state, besides_gpus(member));
    }
  }
  return blocker.detail.empty() ? std::nullopt : std::optional(std::move(blocker));
}

// When runs that end have left it what it lacks beside free GPUs, if nobody else takes that;
// nullopt: it lacks GPUs, or nothing.
std::optional<double> rest_at_s(const ExplainQuestion& question) {
  const PlanState& state = question.queue.state();
  const PlanTask& planned = state.tasks()[question.task];
  const auto has_room = [&](const FreeGpus& free) {
    const std::vector<Choice>& all = planned.menu->all;
    return std::any_of(all.begin(), all.end(), [&](const Choice& choice) {
      return state.open(question.task, choice.pool, question.now_s) && fits(free, planned, choice);
    });
  };
  FreeGpus free = state.free();
  if (!free.rest() || has_room(free)) return std::nullopt;
  FreeGpus gpus = free;
  gpus.set_rest(std::nullopt);
  if (!has_room(gpus)) return std::nullopt;
  std::vector<std::pair<double, TaskIndex>> ends;
  for (const TaskIndex run : state.running())
    ends.emplace_back(state.observed_end_s(run, question.now_s), run);
  std::sort(ends.begin(), ends.end());
  for (const auto& [end_s, run] : ends) {
    give_back(free, state, run);
    if (has_room(free)) return end_s;
  }
  return kNever;
}

constexpr std::string_view kByAStop =
    "it is predicted to start before that: one of these runs may end earlier, or be stopped for it";

// Well before the ends that it would wait for.
bool starts_before(const ExplainQuestion& question, const Blocker& blocker) {
  if (question.policy == nullptr) return false;
  if (!may_stop_runs(question.queue.state(), *question.policy)) return false;
  const Forecast* forecast = question.forecast ? question.forecast(question.task) : nullptr;
  if (forecast == nullptr || !blocker.p50_s || !std::isfinite(forecast->start_s.p50()))
    return false;
  const double wait_s = *blocker.p50_s - question.now_s;
  return *blocker.p50_s - forecast->start_s.p50() > std::max(kClearly_s, kClearly * wait_s);
}

// Of a type with room that it does not take yet.
std::string not_yet_text(const ExplainQuestion& question, PoolIndex pool) {
  const PlanState& state = question.queue.state();
  const PlanTask& planned = state.tasks()[question.task];
  const double at_s = std::min(planned.submit_s + planned.fallback_after_s,
                               state.fallback_at_s(question.task, pool));
  return format(
      "{} has room, and is open to it from {}: gpu-types names it behind others (fallbackAfter)",
      question.queue.pools()[pool].pool.type.str(), format_rfc3339(at_s));
}

// The smallest shape that needs all nodes that are kept for the task; nullopt: they have room now.
std::optional<Blocker> lacking_on_kept(const ExplainQuestion& question) {
  const PlacementMenu& menu = *question.queue.state().tasks()[question.task].menu;
  const bool alike = question.queue.task(question.task).request.of_each.empty();
  std::set<NodeIndex> kept;
  for (const NodeName& name : question.kept)
    if (const auto node = question.snapshot.find_node(name.str())) kept.insert(*node);
  if (kept.empty()) return std::nullopt;
  for (const ChoiceIndex index : menu.by_size) {
    const Choice& choice = menu.all[index];
    const std::size_t nodes = PoolRoom(question, choice.pool, choice.shape, kept).nodes();
    if (nodes == 0 || (alike && nodes != static_cast<std::size_t>(choice.shape.d_node))) continue;
    Blocker blocker = blocker_of(question, choice, kept);
    if (*blocker.have >= *blocker.need) return std::nullopt;
    blocker.reason = reason::kWaitsForRoom;
    blocker.detail =
        kept_text(question.kept) + (blocker.detail.empty() ? "" : "; " + blocker.detail);
    return blocker;
  }
  return std::nullopt;
}

// A quota counts pods that exist, also behind a gate: of a gang that waits for its others, too.
std::string held_by_waiting(const ExplainQuestion& question, const QuotaShortage& shortage) {
  const QuotaBook quotas(question.snapshot);
  const std::string& ns = question.queue.task(question.task).key.ns;
  std::int64_t held = 0;
  std::vector<std::string> holders;
  for (TaskIndex at = 0; at < question.queue.size(); ++at) {
    const QueueTask& task = question.queue.task(at);
    if (at == question.task || task.key.ns != ns) continue;
    std::int64_t of_task = 0;
    for (const PodPtr& pod : task.pods) {
      if (is_to_come(*pod) || pod->terminal()) continue;
      for (const QuotaNeed& need : quotas.held(ns, pod->requests, 1))
        if (need.limit == shortage.limit) of_task = saturating_add(of_task, need.amount);
    }
    if (of_task == 0) continue;
    held = saturating_add(held, of_task);
    if (holders.size() < kMostReliefs) holders.push_back(task.key.name);
  }
  if (holders.empty()) return {};
  return format(
      "pods that wait hold {} of it, those of {}: it comes free when they have run, or are deleted",
      amount_text({shortage.resource, held}), join(holders, ", "));
}

}  // namespace

std::string kept_text(std::span<const NodeName> nodes) {
  std::vector<std::string> names;
  for (const NodeName& node : nodes)
    if (std::find(names.begin(), names.end(), node.str()) == names.end())
      names.push_back(node.str());
  return "kept for it: " + join(names, ", ");
}

void add_quota_relief(const ExplainQuestion& question, const QuotaShortage& shortage,
                      Blocker& blocker) {
  const PlanState& state = question.queue.state();
  std::vector<std::pair<Ending, std::int64_t>> holders;
  for (const TaskIndex run : state.running()) {
    const SharedUse use = state.use_of(run, state.running_choice(run));
    for (const QuotaNeed& need : use.quotas)
      if (need.limit == shortage.limit && !need.kept && !state.runs_for_good(run))
        holders.emplace_back(ending_of(question, run), use.of(need));
  }
  std::sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.p50_s, a.first.run) < std::pair(b.first.p50_s, b.first.run);
  });
  std::int64_t left = shortage.left;
  double p90_s = question.now_s;
  for (const auto& [ending, amount] : holders) {
    if (left >= shortage.need || blocker.relief.size() >= kMostReliefs) return;  // told enough
    left = saturating_add(left, amount);
    p90_s = std::max(p90_s, ending.p90_s);
    add_relief({question.queue.key_of_run(ending.run), state.running_choice(ending.run).gpus,
                ending.p50_s, ending.p90_s},
               blocker);
    if (left < shortage.need) continue;
    blocker.p50_s = ending.p50_s;
    blocker.p90_s = p90_s;
  }
  if (left >= shortage.need) return;
  if (shortage.resource == "count/pods")
    blocker.detail = "it counts ended pods too: room comes as Jobs or pods are deleted";
  else if (std::string waiting = held_by_waiting(question, shortage); !waiting.empty())
    blocker.detail = std::move(waiting);
  else
    blocker.detail =
        "what holds the rest does not end by itself, or asks for no GPUs: kubectl describe quota";
}

std::optional<Blocker> lacking_rest(const ExplainQuestion& question) {
  const Queue& queue = question.queue;
  const auto until = rest_at_s(question);
  if (!until) return taken_for_good(question);
  const double until_s = *until;
  const PlanTask& planned = queue.state().tasks()[question.task];
  Blocker blocker;
  blocker.reason = reason::kWaitsItsTurn;
  blocker.what = "CPU, memory or another resource beside free GPUs";
  if (until_s < question.now_s + kForGood_s / 2) blocker.p50_s = blocker.p90_s = until_s;
  for (PoolIndex pool = 0; pool < queue.pools().size() && blocker.detail.empty(); ++pool)
    for (PoolNode node = 0; node < queue.pools()[pool].nodes.size(); ++node) {
      const bool usable = planned.eligible == nullptr || planned.eligible->contains(pool, node);
      if (!usable || queue.state().free().at(pool, node) <= 0) continue;
      const NodeState& state = question.snapshot.node(queue.pools()[pool].nodes[node]);
      blocker.detail = short_on(state, besides_gpus(*queue.task(question.task).member));
      if (!blocker.detail.empty()) break;
    }
  return blocker;
}

std::optional<Blocker> lacking_gpus(const ExplainQuestion& question) {
  if (auto kept = lacking_on_kept(question)) return kept;
  const PlanState& state = question.queue.state();
  const PlacementMenu& menu = *state.tasks()[question.task].menu;
  std::optional<Blocker> least;
  std::string not_yet;
  std::map<PoolIndex, int> fewest;
  // The smallest shapes of each type: one of them has room first.
  for (const ChoiceIndex index : menu.by_size) {
    const Choice& choice = menu.all[index];
    if (choice.gpus > fewest.try_emplace(choice.pool, choice.gpus).first->second) continue;
    Blocker blocker = blocker_of(question, choice, {});
    const bool has_room = *blocker.have >= *blocker.need;
    const bool open = state.open(question.task, choice.pool, question.now_s);
    if (has_room && open) return std::nullopt;
    if (has_room && not_yet.empty()) not_yet = not_yet_text(question, choice.pool);
    if (!open) continue;
    if (!least || (blocker.p50_s && (!least->p50_s || *blocker.p50_s < *least->p50_s)))
      least = std::move(blocker);
  }
  if (least && !not_yet.empty())
    least->detail = not_yet;
  else if (least && starts_before(question, *least))
    least->detail = kByAStop;
  return least;
}

}  // namespace slackline::core
