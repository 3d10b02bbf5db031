// explain: everything for which a task waits, and who can end it.
//
// Every blocker is looked at by itself, so that a task learns at once of all that it needs: what
// the planner says of it (core/cluster/queue.h) names only the first. Worst first: what never ends
// by itself, then what others have to do, then GPUs that others use.
//
// Pure; times are epoch seconds.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/planning/rollout.h"

namespace slackline::core {

// A run that ends, and the GPUs that it leaves to the task.
struct Relief {
  ObjectKey task;  // a Job or a pod, where Slackline has not planned it
  std::int64_t gpus = 0;
  double p50_s = 0;
  double p90_s = 0;
};

struct Blocker {
  std::string_view reason;  // a code of model/reason.h
  std::string what;         // of which `need` and `have` count: "A100 GPUs in nodes with 4 free"
  std::optional<std::int64_t> need{};
  std::optional<std::int64_t> have{};
  std::vector<ObjectKey> on{};   // for which it waits: dependencies, who makes room; or was stopped
  std::vector<Relief> relief{};  // enough of them, in order of time
  std::optional<double> p50_s{};  // when it ends; unset: that is not known
  std::optional<double> p90_s{};
  std::string detail{};  // for people

  std::optional<std::int64_t> lacking() const {
    return need && have ? std::optional(*need - *have) : std::nullopt;
  }
};

// Nodes that the task cannot use for the same reason, or could.
struct NodeGroup {
  // Of model/verdict.h or predicates.h, or "NoGpus", "Full", "NoCpuOrMemory", "Free",
  // "RefusedByScheduler", "PodAffinity", "PodSpread", "SharedGpus", "GpusUnhealthy".
  std::string_view code;
  std::int64_t nodes = 0;
  std::vector<ObjectKey> tasks{};  // that hold GPUs there (HeldForOthers), each once
  // Of full ones: when the first has room; of refused ones: when the first is tried again.
  std::optional<double> until_s{};
  std::string detail{};  // of the first refused one: what kube-scheduler said
};

struct ExplainQuestion {
  const ClusterSnapshot& snapshot;
  const Queue& queue;
  TaskIndex task = 0;
  const GpuCatalog& catalog;
  double now_s = 0;         // epoch
  double now_steady_s = 0;  // the same moment
  // When a running task is predicted to end; nullptr: the plan's own prediction holds.
  std::function<const Forecast*(TaskIndex)> forecast{};
  // By which the queue is served; nullptr: to whom a task that fits yields is not told.
  const Policy* policy = nullptr;
  const RefusedNodes* refused = nullptr;  // by which the queue was made; null: none
  std::span<const NodeName> kept{};       // for it, by the plan of now, while others run there
};

// By how many nodes, the most first; every node of the snapshot is in one group.
std::vector<NodeGroup> group_nodes(const ExplainQuestion& question);
// The group of one node.
NodeGroup group_of(const ExplainQuestion& question, NodeIndex node);

// Why the whole task finds no room now; nullopt: there is room. O(nodes + runs log runs).
std::optional<Blocker> lacking_gpus(const ExplainQuestion& question);

// Whose ends leave what is short of a quota, the earliest first, and when they are enough.
void add_quota_relief(const ExplainQuestion& question, const QuotaShortage& shortage,
                      Blocker& blocker);

// What is short beside free GPUs, where that keeps it; nullopt: nothing.
std::optional<Blocker> lacking_rest(const ExplainQuestion& question);

// Whether its nodes could take all of its pods if nothing ran on them; of those that a plan may
// use. O(nodes x placements).
bool could_ever_fit(const ClusterSnapshot& snapshot, const Queue& queue, TaskIndex task);
// In this placement.
bool could_ever_fit(const ClusterSnapshot& snapshot, const Queue& queue, TaskIndex task,
                    const Choice& choice);
// What it asks for beyond what there is, where it could not; empty: nothing that is counted here.
std::string too_large(const ExplainQuestion& question);

// Its pods ask for several shares of GPUs that are shared, which give no more than one: no such pod
// is planned there (TaskMenus).
bool wants_several_shares(const ExplainQuestion& question, std::int64_t gpus, const Node& node);

// "kept for it: n1, n2"
std::string kept_text(std::span<const NodeName> nodes);

// What the ResourceQuotas of its namespace lack for it; empty: nothing, or its pods exist.
std::vector<QuotaShortage> lacking_quota(const ExplainQuestion& question);

// `first` is the reason that the queue tells (control/query/queue_rows.h). Empty: the task does not
// wait.
std::vector<Blocker> explain(const ExplainQuestion& question, std::string_view first);

}  // namespace slackline::core
