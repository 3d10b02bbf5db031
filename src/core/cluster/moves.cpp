#include "slackline/core/cluster/moves.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

// Its pods are all on nodes, and none of them ends.
bool runs_whole(const QueueTask& task) {
  if (!task.job || !task.plan || !task.pods.empty() || task.bound.empty() || task.disruption)
    return false;
  return std::none_of(task.bound.begin(), task.bound.end(),
                      [](const PodPtr& pod) { return pod->deleting || pod->terminal(); });
}

// The queue that a move is under way for; nullopt: it is over, or there was none.
std::optional<std::string> moved_for(const QueueTask& task) {
  if (!task.job || !task.job->preemptions) return std::nullopt;
  const PreemptionNote& note = *task.job->preemptions;
  if (note.by != reason::kMoved || runs_whole(task)) return std::nullopt;
  if (note.charges.empty()) return queue_of(*task.intent, task.key.ns);
  return note.charges.back().queue;
}

}  // namespace

Moves::Moves(const ClusterSnapshot& snapshot, const QueueOptions& options, const Queue& queue,
             const RunSpeeds& speeds)
    : snapshot_(snapshot),
      options_(options),
      queue_(queue),
      state_(queue.state()),
      speeds_(speeds),
      room_(snapshot, options.now_steady_s, options.now_wall_s) {}

std::vector<Move> Moves::advised() const {
  std::vector<Move> found;
  for (const TaskIndex index : state_.running()) {
    if (found.size() == kMostAdvised) break;
    const auto speed = speeds_.of(queue_, index);
    if (!speed || !speed->slow() || !runs_whole(queue_.task(index))) continue;
    const auto& past = queue_.task(index).job->preemptions;
    if (past && past->slow) continue;
    if (rules_of(index).rescheduling == Rescheduling::kOff) continue;
    if (auto move = of_slow_run(index, *speed)) found.push_back(*std::move(move));
  }
  return found;
}

std::vector<Move> Moves::carried_out(const std::vector<Move>& advised, const Policy& policy) const {
  std::vector<Move> out;
  const auto limits = policy.stop_limits();
  if (!limits) return out;
  std::set<std::string> busy;
  for (TaskIndex index = 0; index < queue_.size(); ++index)
    if (auto queue = moved_for(queue_.task(index))) busy.insert(*std::move(queue));
  const auto budget = policy.budget();
  const std::vector<double> left_gpu_s =
      budget ? state_.budgets_left_gpu_s(*budget, options_.now_wall_s) : std::vector<double>();
  for (const Move& move : advised) {
    const QueueTask& gains = queue_.task(move.gains);
    const std::string queue = queue_of(*gains.intent, gains.key.ns);
    if (rules_of(move.gains).rescheduling != Rescheduling::kAuto || busy.contains(queue)) continue;
    const QueueNumber number = state_.tasks()[move.gains].queue;
    if (budget && move.advice.lost_gpu_s > left_gpu_s[number]) continue;
    if (!allowed(move, *limits) || !would_start_elsewhere(move, policy)) continue;
    busy.insert(queue);
    out.push_back(move);
  }
  return out;
}

const QueueRules& Moves::rules_of(TaskIndex index) const {
  static const QueueRules kDefaults;
  if (options_.queues == nullptr) return kDefaults;
  const QueueTask& task = queue_.task(index);
  return options_.queues->of(queue_of(*task.intent, task.key.ns));
}

// Where its pods may go and are not: by their own wishes, and by what is free besides GPUs. Not to
// nodes that are slow.
EligibleNodes Moves::nodes_elsewhere(TaskIndex index) const {
  const QueueTask& task = queue_.task(index);
  const PoolIndex pool = state_.running_choice(index).pool;
  const std::vector<NodeIndex>& nodes = queue_.pools()[pool].nodes;
  Resources rest = task.member->requests;
  rest.gpus.clear();
  NodeSet allowed(nodes.size());
  for (PoolNode i = 0; i < nodes.size(); ++i) {
    const Node& node = *snapshot_.node(nodes[i]).node;
    const bool slow = options_.slow_nodes != nullptr && options_.slow_nodes->contains(node.name);
    if (!slow && !misfit(*task.member, node) && fits(rest, room_.free(nodes[i]))) allowed.insert(i);
  }
  for (const PoolNode own : state_.progress(index).run.nodes)
    allowed.erase(own);
  EligibleNodes eligible;
  eligible.by_pool.resize(pool + std::size_t{1});
  eligible.by_pool[pool] = std::move(allowed);
  return eligible;
}

std::vector<NodeName> Moves::names(PoolIndex pool, const std::vector<PoolNode>& nodes) const {
  std::vector<NodeName> names;
  for (const PoolNode node : nodes)
    names.push_back(snapshot_.node(queue_.pools()[pool].nodes[node]).node->name);
  return names;
}

std::optional<Move> Moves::of_slow_run(TaskIndex index, const RunSpeed& speed) const {
  const double now_s = options_.now_wall_s;
  const Choice& choice = state_.running_choice(index);
  const auto end_here_s = state_.reported_end_s(index, speed.work_s);
  if (!end_here_s || *end_here_s <= now_s) return std::nullopt;
  const EligibleNodes eligible = nodes_elsewhere(index);
  const std::vector<PoolNode> room = state_.free().find(choice.pool, choice.shape, &eligible);
  const double from_s = room.empty() ? room_from_s(choice, eligible) : now_s;
  const double left = state_.left_if_stopped(index, speed.work_s, now_s);
  const double end_there_s = from_s + state_.tasks()[index].restart_s + choice.work_s * left;
  Move move;
  move.gains = index;
  move.moved = {index};
  move.advice.task = queue_.task(index).key;
  move.advice.speed = speed.share;
  move.advice.gain_s = *end_here_s - end_there_s;
  move.advice.lost_gpu_s = lost_gpu_s(saved_work(state_, index, now_s), choice.gpus);
  if (!(move.advice.gain_s * choice.gpus > move.advice.lost_gpu_s)) return std::nullopt;
  move.advice.moves = {{move.advice.task, names(choice.pool, state_.progress(index).run.nodes),
                        names(choice.pool, room), move.advice.lost_gpu_s}};
  return move;
}

// When running tasks will have left enough room; never where others wait for it.
double Moves::room_from_s(const Choice& choice, const EligibleNodes& eligible) const {
  if (!state_.waiting().empty()) return kNever;
  std::vector<std::pair<double, TaskIndex>> ends;
  for (const TaskIndex other : state_.running())
    if (state_.running_choice(other).pool == choice.pool)
      ends.emplace_back(state_.observed_end_s(other, options_.now_wall_s), other);
  std::sort(ends.begin(), ends.end());
  FreeGpus later = state_.free();
  for (const auto& [end_s, other] : ends) {
    later.give_back(choice.pool, state_.progress(other).run.nodes,
                    state_.running_choice(other).shape.d_gpn);
    if (later.fits(choice.pool, choice.shape, &eligible)) return end_s;
  }
  return kNever;
}

// What protects a run from stops for other tasks protects it from moves, too.
bool Moves::allowed(const Move& move, const StopLimits& limits) const {
  const double now_s = options_.now_wall_s;
  return std::all_of(move.moved.begin(), move.moved.end(), [&](TaskIndex index) {
    const TaskProgress& progress = state_.progress(index);
    return state_.tasks()[index].preemptible && !progress.run.promoted &&
           progress.stops < limits.most_stops &&
           now_s - progress.run.started_s >= limits.protect_s &&
           state_.observed_end_s(index, now_s) - now_s >= limits.protect_s;
  });
}

// The same policy, on the cluster without the nodes that it is to leave.
bool Moves::would_start_elsewhere(const Move& move, const Policy& policy) const {
  if (move.advice.moves.front().to.empty()) return false;
  PlanState trial = state_;
  const PoolIndex pool = state_.running_choice(move.gains).pool;
  const Run ended = trial.stop(move.gains, options_.now_wall_s);
  trial.withhold(pool, ended.nodes);
  const Plan then = plan(trial, options_.now_wall_s, policy);
  const auto stops = [](const Effect& effect) { return effect.ended.has_value(); };
  return trial.progress(move.gains).phase == TaskPhase::kRunning &&
         std::none_of(then.effects.begin(), then.effects.end(), stops);
}

}  // namespace slackline::core
