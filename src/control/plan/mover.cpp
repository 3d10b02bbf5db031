#include "control/plan/mover.h"

#include <algorithm>
#include <utility>

#include "control/plan/task_events.h"
#include "slackline/core/handover/begin_move.h"

namespace slackline::control {

core::SlowNodesPtr Mover::see_slow_nodes(const ClusterSnapshot& snapshot, const Settings& settings,
                                         const Post& post) {
  const std::unordered_set<NodeName> slow =
      core::slow_nodes(snapshot, running_, settings.slow_after_s);
  if (slow.empty())
    slow_ = nullptr;
  else if (slow_ == nullptr || *slow_ != slow)  // who compares pointers sees no change without one
    slow_ = std::make_shared<const std::unordered_set<NodeName>>(slow);
  for (auto& [node, gauge] : shown_)
    gauge.set(slow.contains(node) ? 1 : 0);
  for (const NodeName& node : slow) {
    if (shown_.contains(node)) continue;
    const auto shown =
        shown_.emplace(node, metrics_->gauge("slackline_slow_nodes", {{"node", node.str()}}));
    shown.first->second.set(1);
  }
  tell_of_nodes(snapshot, slow, post);
  return slow_;
}

void Mover::tell_of_nodes(const ClusterSnapshot& snapshot, const std::unordered_set<NodeName>& slow,
                          const Post& post) {
  std::erase_if(told_of_, [&](const NodeName& node) { return !slow.contains(node); });
  for (const NodeName& name : slow) {
    const auto node = snapshot.find_node(name.str());
    if (node && !told_of_.contains(name) && post(slowness_of(*snapshot.node(*node).node)))
      told_of_.insert(name);
  }
}

std::vector<OwnWrite> Mover::look(const ClusterSnapshot& snapshot,
                                  const core::QueueOptions& options, const core::Queue& queue,
                                  const core::Plan& plan, const Settings& settings,
                                  const Post& post) {
  speeds_.see(queue, settings.slow_after_s);
  running_.clear();
  for (const core::TaskIndex index : queue.state().running())
    if (const auto speed = speeds_.of(queue, index))
      running_.emplace(queue.task(index).uid, *speed);
  const core::Moves moves(snapshot, options, queue, speeds_, settings.policy);
  std::vector<core::Move> found = moves.advised();
  const bool stops =
      std::any_of(plan.effects.begin(), plan.effects.end(),
                  [](const core::Effect& effect) { return effect.ended.has_value(); });
  std::vector<OwnWrite> writes;
  if (const auto move = stops ? std::nullopt : moves.carried_out(found))
    writes = core::begin_move(queue, *move, options.now_wall_s);
  std::erase_if(found, [&](const core::Move& move) {
    return std::any_of(writes.begin(), writes.end(), [&](const OwnWrite& write) {
      return write.as<StopJob>()->move->task == move.advice.task;
    });
  });
  tell(queue, found, post);
  return writes;
}

void Mover::forget() {
  speeds_ = {};
  running_.clear();
  advised_.clear();
}

void Mover::tell(const core::Queue& queue, const std::vector<core::Move>& moves, const Post& post) {
  advised_.clear();
  std::unordered_map<Uid, double> told;
  for (const core::Move& move : moves) {
    const core::QueueTask& task = queue.task(move.gains);
    if (task.uid.empty()) continue;  // only a label: nothing carries an Event
    advised_[task.uid] = move.advice;
    const double started_s = task.job && task.plan ? task.job->started_s.value_or(0) : 0;
    const auto before = told_.find(task.uid);
    const bool known = before != told_.end() && before->second == started_s;
    if (known || post(suggestion_of(task, move.advice))) told[task.uid] = started_s;
  }
  // Who is advised, then not, then again is told once.
  const auto keep = [&](core::TaskIndex index) {
    if (index >= queue.size()) return;
    const auto before = told_.find(queue.task(index).uid);
    if (before != told_.end()) told.emplace(before->first, before->second);
  };
  std::for_each(queue.state().running().begin(), queue.state().running().end(), keep);
  std::for_each(queue.state().waiting().begin(), queue.state().waiting().end(), keep);
  told_ = std::move(told);
}

}  // namespace slackline::control
