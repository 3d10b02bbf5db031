#include "slackline/core/cluster/moves.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "clearing.h"
#include "slackline/base/duration.h"
#include "slackline/core/cluster/budgets.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/core/planning/mixed_pods.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

// The account of whose task a move is under way for; nullopt: it is over, or there was none.
std::optional<std::string> moved_for(const QueueTask& task) {
  if (!task.job || !task.job->preemptions) return std::nullopt;
  const PreemptionNote& note = *task.job->preemptions;
  if (note.by != reason::kMoved || runs_whole(task)) return std::nullopt;
  if (note.charges.empty()) return task.account;
  return note.charges.back().queue;
}

// Nodes that have the rest of what it asks for, too.
void limit_to(EligibleNodesPtr nodes, PlanTask& task) {
  task.eligible = std::move(nodes);
  task.rest.reset();
}

}  // namespace

Moves::Moves(const ClusterSnapshot& snapshot, const QueueOptions& options, const Queue& queue,
             const RunSpeeds& speeds, const Policy& policy)
    : snapshot_(snapshot),
      options_(options),
      queue_(queue),
      state_(queue.state()),
      speeds_(speeds),
      policy_(policy) {}

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
  help_waiting(found);
  return found;
}

std::optional<Move> Moves::carried_out(const std::vector<Move>& advised) const {
  if (advised.empty() || !policy_.stop_limits()) return std::nullopt;
  std::set<std::string> busy;
  for (TaskIndex index = 0; index < queue_.size(); ++index)
    if (auto account = moved_for(queue_.task(index))) busy.insert(*std::move(account));
  const Disruptions disruptions(snapshot_, EndingPods(snapshot_, options_.now_wall_s).pods(),
                                options_.now_wall_s);
  const auto budget = policy_.budget();
  const std::vector<double> left_gpu_s =
      budget ? state_.budgets_left_gpu_s(*budget, options_.now_wall_s) : std::vector<double>();
  for (const Move& move : advised) {
    const std::string& account = queue_.task(move.gains).account;
    if (busy.contains(account)) continue;
    const QueueNumber number = state_.tasks()[move.gains].queue;
    if (budget && move.advice.lost_gpu_s > left_gpu_s[number]) continue;
    if (is_allowed(move) && disruptions.allow(queue_.bound_pods(move.moved)) &&
        would_start_all(move))
      return move;
  }
  return std::nullopt;
}

const QueueRules& Moves::rules_of(TaskIndex index) const {
  static const QueueRules kDefaults;
  if (options_.queues == nullptr) return kDefaults;
  const QueueTask& task = queue_.task(index);
  return options_.queues->of(queue_of(*task.intent, task.key.ns), task.key.ns);
}

const RoomTable& Moves::room() const {
  if (!room_) room_.emplace(snapshot_, options_.now_steady_s, options_.now_wall_s);
  return *room_;
}

EligibleNodes Moves::elsewhere(TaskIndex index) const {
  return nodes_elsewhere(snapshot_, queue_, room(), options_.slow_nodes, index);
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
  const EligibleNodes eligible = elsewhere(index);
  const std::vector<PoolNode> room = state_.free().find(choice.pool, choice.shape, &eligible);
  if (room.empty() && !state_.waiting().empty()) return std::nullopt;  // it is for them
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

// When running tasks will have left enough room.
double Moves::room_from_s(const Choice& choice, const EligibleNodes& eligible) const {
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

void Moves::help_waiting(std::vector<Move>& found) const {
  std::vector<TaskIndex> scattered;
  std::size_t looked_at = 0;
  for (const TaskIndex waits : state_.waiting()) {
    if (looked_at++ == kMostLookedAt || scattered.size() == kMostWaitingHelped) break;
    if (finds_room_scattered(waits)) scattered.push_back(waits);
  }
  if (scattered.empty()) return;
  const Clearer clearer(snapshot_, queue_, room(), options_.slow_nodes, movable());
  for (const TaskIndex waits : scattered)
    if (auto move = that_lets_in(waits, clearer)) found.push_back(*std::move(move));
}

// Where it fits in one of its shapes it waits for something else. Only those of as many GPUs as it
// asks for count.
bool Moves::finds_room_scattered(TaskIndex waits) const {
  if (waits >= queue_.size() || !may_start(queue_.task(waits))) return false;
  if (queue_.task(waits).request.spread.apart) return false;  // nodes that are cleared may be near
  if (rules_of(waits).rescheduling == Rescheduling::kOff) return false;
  const PlanTask& task = state_.tasks()[waits];
  bool any_has_room = false;
  for (const Choice& choice : task.menu->all) {
    if (choice.gpus != asked_gpus(task, choice.pool)) continue;
    if (fits(state_.free(), task, choice)) return false;
    any_has_room |= choice.gpus <= state_.free().idle();
  }
  return any_has_room;
}

std::vector<MovableRun> Moves::movable() const {
  std::vector<MovableRun> movable;
  for (const TaskIndex index : state_.running()) {
    if (index >= queue_.size() || !runs_whole(queue_.task(index))) continue;
    if (rules_of(index).rescheduling == Rescheduling::kOff) continue;
    if (state_.tasks()[index].promised_to || !keeps_deadline(index)) continue;
    if (policy_.stop_limits() && !may_be_moved(index)) continue;
    const SavedWork saved = saved_work(state_, index, options_.now_wall_s);
    movable.push_back({index, lost_gpu_s(saved, state_.running_choice(index).gpus)});
  }
  return movable;
}

std::optional<Move> Moves::that_lets_in(TaskIndex waits, const Clearer& clearer) const {
  const PlanTask& task = state_.tasks()[waits];
  std::optional<Move> best;
  double most_gpu_s = 0;
  for (const Choice& choice : task.menu->all) {
    if (choice.gpus != asked_gpus(task, choice.pool) || !state_.may_use(waits, choice)) continue;
    auto move = that_lets_in(waits, as_if_equal(task, choice), clearer);
    if (!move) continue;
    const double gain_gpu_s = move->advice.gain_s * choice.gpus - move->advice.lost_gpu_s;
    if (gain_gpu_s <= most_gpu_s) continue;
    most_gpu_s = gain_gpu_s;
    best = std::move(move);
  }
  return best;
}

std::optional<Move> Moves::that_lets_in(TaskIndex waits, const Choice& choice,
                                        const Clearer& clearer) const {
  const auto clearing = clearer.find(waits, choice);
  if (!clearing) return std::nullopt;
  Move move;
  move.gains = waits;
  move.cleared = std::make_shared<const EligibleNodes>(clearing->nodes);
  move.advice.cause = MoveCause::kFragmented;
  move.advice.task = queue_.task(waits).key;
  move.advice.gain_s = room_from_s(choice, clearing->nodes) - options_.now_wall_s;
  for (std::size_t i = 0; i < clearing->moved.size(); ++i) {
    const MovableRun& run = clearing->moved[i];
    move.moved.push_back(run.index);
    move.advice.lost_gpu_s += run.lost_gpu_s;
    move.advice.moves.push_back({queue_.task(run.index).key,
                                 names(choice.pool, state_.progress(run.index).run.nodes),
                                 names(choice.pool, clearing->to[i]), run.lost_gpu_s});
  }
  return move;
}

// It has none, or has lost it already, or meets it elsewhere, too.
bool Moves::keeps_deadline(TaskIndex index) const {
  const double now_s = options_.now_wall_s;
  const PlanTask& task = state_.tasks()[index];
  if (state_.observed_end_s(index, now_s) > task.deadline_s) return true;
  const double left_s = state_.observed_work_s(index, now_s) * state_.left_after_stop(index, now_s);
  return now_s + task.restart_s + left_s <= task.deadline_s;
}

// What protects a run from stops for other tasks protects it from moves, too.
bool Moves::may_be_moved(TaskIndex index) const {
  const double now_s = options_.now_wall_s;
  const StopLimits limits = *policy_.stop_limits();
  const TaskProgress& progress = state_.progress(index);
  return state_.tasks()[index].preemptible && !progress.run.promoted &&
         progress.stops < limits.most_stops && now_s - progress.run.started_s >= limits.protect_s &&
         state_.observed_end_s(index, now_s) - now_s >= limits.protect_s;
}

// A queue that asks for notice does not want its runs to be stopped without.
bool Moves::is_allowed(const Move& move) const {
  return rules_of(move.gains).rescheduling == Rescheduling::kAuto &&
         std::all_of(move.moved.begin(), move.moved.end(), [&](TaskIndex index) {
           return rules_of(index).rescheduling == Rescheduling::kAuto &&
                  rules_of(index).notice_s <= 0 && may_be_moved(index);
         });
}

// The same policy, with all tasks that move waiting, and no way back for them.
bool Moves::would_start_all(const Move& move) const {
  for (const MovedRun& moved : move.advice.moves)
    if (moved.to.empty()) return false;
  std::vector<PlanTask> tasks = state_.tasks().tasks();
  for (const TaskIndex index : move.moved)
    limit_to(std::make_shared<const EligibleNodes>(elsewhere(index)), tasks[index]);
  if (move.cleared != nullptr) limit_to(move.cleared, tasks[move.gains]);
  PlanState stopped = state_;
  for (const TaskIndex index : move.moved)
    stopped.stop(index, options_.now_wall_s);
  const TaskTable table(std::move(tasks));
  PlanState trial = stopped.with(table);
  const Plan then = plan(trial, options_.now_wall_s, policy_);
  const auto runs = [&](TaskIndex index) {
    return trial.progress(index).phase == TaskPhase::kRunning;
  };
  const auto stops = [](const Effect& effect) { return effect.ended.has_value(); };
  return runs(move.gains) && std::all_of(move.moved.begin(), move.moved.end(), runs) &&
         std::none_of(then.effects.begin(), then.effects.end(), stops);
}

}  // namespace slackline::core
