// Tasks that find free GPUs, but not the CPU, memory and other resources beside them.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "eligibility.h"
#include "queue_tasks.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

// What a run leaves on a node.
struct LeavesThere {
  double at_s = 0;
  int gpus = 0;
  Resources all;
};

class RestWaits {
 public:
  RestWaits(const ClusterSnapshot& snapshot, const RoomTable& now, const Queue& queue, double now_s)
      : snapshot_(snapshot), now_(now), queue_(queue), state_(queue.state()), now_s_(now_s) {}

  // When it could start at the earliest by what runs leave; nullopt: nothing but GPUs and its turn
  // keeps it.
  std::optional<double> until_s(TaskIndex index) {
    const QueueTask& task = queue_.task(index);
    const PlanTask& planned = state_.tasks()[index];
    if (planned.mixed || all_of(task)) return std::nullopt;
    const auto [at, first] = known_.try_emplace(std::tuple(
        planned.eligible.get(), planned.menu.get(), key_of(task), state_.holds_out(index, now_s_)));
    if (first) at->second = find(index);
    return at->second;
  }

 private:
  static std::string key_of(const QueueTask& task) {
    return format("{}x{}", task.request.pods, eligibility_key(*task.member));
  }

  // Every node has what its pods need together beside GPUs now.
  bool all_of(const QueueTask& task) {
    const auto [at, first] = fits_all_.try_emplace(key_of(task), true);
    if (!first) return at->second;
    const Resources rest = besides_gpus(*task.member, task.request.pods);
    const auto fits = [&](NodeIndex node) { return snapshot_.fits(rest, now_.free(node)); };
    for (const QueuePool& pool : queue_.pools())
      at->second = at->second && std::all_of(pool.nodes.begin(), pool.nodes.end(), fits);
    return at->second;
  }

  std::optional<double> find(TaskIndex index) {
    const PlanTask& planned = state_.tasks()[index];
    const QueueTask& task = queue_.task(index);
    const std::vector<Choice>& all = planned.menu->all;
    if (std::none_of(all.begin(), all.end(), [&](const Choice& choice) {
          return state_.open(index, choice.pool, now_s_) && fits(state_.free(), planned, choice);
        }))
      return std::nullopt;
    double first_s = kNever;
    for (const Choice& choice : all) {
      if (!state_.open(index, choice.pool, now_s_)) continue;
      std::vector<double> times;
      const Resources rest = besides_gpus(*task.member, task.pods_on_node(choice.shape));
      for (PoolNode node = 0; node < state_.free().nodes(choice.pool); ++node) {
        if (planned.eligible && !planned.eligible->contains(choice.pool, node, choice.shape.d_gpn))
          continue;
        times.push_back(room_at_s(choice, node, rest));
      }
      const auto nodes = static_cast<std::size_t>(choice.shape.d_node);
      if (times.size() < nodes) continue;
      std::nth_element(times.begin(), times.begin() + (choice.shape.d_node - 1), times.end());
      first_s = std::min(first_s, times[nodes - 1]);
    }
    return first_s > now_s_ && first_s < kNever ? std::optional(first_s) : std::nullopt;
  }

  // When one node has the GPUs and the rest, if nobody else takes them.
  double room_at_s(const Choice& choice, PoolNode node, const Resources& rest) {
    const NodeIndex index = queue_.pools()[choice.pool].nodes[node];
    int gpus = state_.free().at(choice.pool, node);
    Resources free = now_.free(index);
    const auto has_room = [&] { return gpus >= choice.shape.d_gpn && snapshot_.fits(rest, free); };
    if (has_room()) return now_s_;
    for (const LeavesThere& run : leaving(index)) {
      gpus += run.gpus;
      free += run.all;
      if (has_room()) return run.at_s;
    }
    return kNever;
  }

  // In the order in which they end.
  const std::vector<LeavesThere>& leaving(NodeIndex index) {
    if (leaving_.empty()) find_leaving();
    return leaving_[index];
  }

  void find_leaving() {
    leaving_.resize(snapshot_.nodes.size());
    for (const TaskIndex run : state_.running()) {
      const Choice& choice = state_.running_choice(run);
      std::map<NodeIndex, LeavesThere> on;
      for (const PoolNode node : state_.progress(run).run.nodes)
        on[queue_.pools()[choice.pool].nodes[node]].gpus += choice.shape.d_gpn;
      for (const PodPtr& pod : queue_.bound_pods({run}))
        if (const auto node = snapshot_.find_node(pod->node.str()))
          if (const auto at = on.find(*node); at != on.end()) at->second.all += pod->requests;
      for (auto& [node, leaves] : on) {
        leaves.at_s = std::max(now_s_, state_.observed_end_s(run, now_s_));
        leaving_[node].push_back(std::move(leaves));
      }
    }
    for (std::vector<LeavesThere>& runs : leaving_)
      std::sort(runs.begin(), runs.end(),
                [](const LeavesThere& a, const LeavesThere& b) { return a.at_s < b.at_s; });
  }

  const ClusterSnapshot& snapshot_;
  const RoomTable& now_;
  const Queue& queue_;
  const PlanState& state_;
  const double now_s_;
  std::map<std::tuple<const EligibleNodes*, const PlacementMenu*, std::string, bool>,
           std::optional<double>>
      known_;
  std::map<std::string, bool> fits_all_;
  std::vector<std::vector<LeavesThere>> leaving_;  // by node; made when first needed
};

}  // namespace

void wait_for_the_rest(const ClusterSnapshot& snapshot, const RoomTable& now, double now_s,
                       Queue& queue) {
  RestWaits waits(snapshot, now, queue, now_s);
  for (const TaskIndex task : queue.state().waiting())
    if (const auto until_s = waits.until_s(task)) queue.state().hold_back(task, *until_s);
}

}  // namespace slackline::core
