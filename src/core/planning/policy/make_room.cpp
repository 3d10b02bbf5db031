#include "make_room.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/lost_work.h"

namespace slackline::core {
namespace {

constexpr double kLeastRun_s = 60;
constexpr std::size_t kTrades = 16;   // tried for one asker
constexpr double kMostAtOnce = 0.04;  // of the budget that is left

}  // namespace

RoomMaker::RoomMaker(Planning& planning, const SavableOptions& options, double margin)
    : planning_(planning), state_(planning.state()), options_(options), margin_(margin) {}

std::optional<ChoiceIndex> RoomMaker::make(TaskIndex asker, double limit_s) {
  denied_ = false;
  const auto choice = make_within_budget(asker, limit_s);
  if (denied_ && !choice) planning_.deny(asker);
  return choice;
}

std::optional<ChoiceIndex> RoomMaker::make_within_budget(TaskIndex asker, double limit_s) {
  const double needed_s =
      options_.gap * std::min(limit_s, planning_.menu(asker).base_s) + options_.protect_s;
  if (const auto choice = first_cleared(asker, limit_s, needed_s, nullptr)) return choice;
  for (const Victim& traded : trades(asker, limit_s, needed_s))
    if (const auto choice = first_cleared(asker, limit_s, needed_s, &traded)) return choice;
  return std::nullopt;
}

// The first placement that victims, with the traded one if there is one, make fit; with a budget
// the one that costs least GPU time, what is lost included.
std::optional<ChoiceIndex> RoomMaker::first_cleared(TaskIndex asker, double limit_s,
                                                    double needed_s, const Victim* traded) {
  const PlanTask& task = planning_.task(asker);
  const bool urgent = task.qos == QosClass::kUrgent;
  const VictimsByPool& known = victims(urgent);
  const PlacementMenu& menu = planning_.menu(asker);
  std::optional<Cleared> best;
  for (const ChoiceIndex choice : urgent ? menu.by_cer : menu.by_area) {
    const Choice& wanted = menu.all[choice];
    if (wanted.pool >= known.size() || planning_.lat_s(asker, wanted) > limit_s) continue;
    if (traded != nullptr && state_.running_choice(traded->task).pool != wanted.pool) continue;
    if (!planning_.open(asker, wanted.pool)) continue;
    const double run_gpu_s = wanted.gpus * planning_.lat_s(asker, wanted);
    if (best && run_gpu_s >= best->gpu_s) continue;
    const auto off = enough(wanted, task.eligible.get(), known[wanted.pool], needed_s, traded);
    if (!off) continue;
    Cleared cleared{choice, in_the_way(wanted, task.eligible.get(), *off)};
    for (const Victim& victim : cleared.stopped)
      cleared.lost_gpu_s += wasted_gpu_s(victim.task);
    cleared.gpu_s = run_gpu_s + cleared.lost_gpu_s;
    if (!best || cleared.gpu_s < best->gpu_s) best = std::move(cleared);
    if (!options_.budget_gpu_h) break;
  }
  if (!best || !pay(asker, best->lost_gpu_s)) return std::nullopt;
  for (const Victim& victim : best->stopped)
    send_off(victim, asker, traded != nullptr && victim.task == traded->task);
  forget_stopped(menu.all[best->choice].pool);
  return best->choice;
}

// Runs that would meet their deadline, may still do so after a stop, and hold more than the
// preemptor needs; best first.
RoomMaker::Victims RoomMaker::trades(TaskIndex asker, double limit_s, double needed_s) {
  Victims found;
  if (!options_.trade || planning_.task(asker).qos == QosClass::kUrgent) return found;
  const double least_gpu_s = cheapest_gpu_s(asker, limit_s);
  for (const Victims& each : victims(false))
    for (const Victim& victim : each) {
      const int gpus = state_.running_choice(victim.task).gpus;
      const double held_gpu_s = gpus * (end_s(victim.task) - planning_.now_s());
      if (can_resume(victim, needed_s) || held_gpu_s <= least_gpu_s) continue;
      if (!savable_after_stop(victim.task)) continue;
      found.push_back(victim);
      found.back().key = stop_loss_gpu_s(victim.task) - held_gpu_s;
    }
  const std::size_t few = std::min(found.size(), kTrades);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(few), found.end(),
                    [&](const Victim& a, const Victim& b) {
                      return std::tuple(a.key, planning_.task(a.task).id) <
                             std::tuple(b.key, planning_.task(b.task).id);
                    });
  found.resize(few);
  return found;
}

bool RoomMaker::savable_after_stop(TaskIndex index) const {
  const double left = state_.left_if_stopped(index, work_s(index), planning_.now_s());
  return slack_if_restarted_s(index, planning_.menu(index).fastest(), left) > 0;
}

// Of a run that is stopped now and starts again at once, on another placement.
double RoomMaker::slack_if_restarted_s(TaskIndex index, const Choice& choice, double left) const {
  const PlanTask& task = planning_.task(index);
  return task.deadline_s - planning_.now_s() - task.restart_s - choice.work_s * left;
}

double RoomMaker::cheapest_gpu_s(TaskIndex asker, double limit_s) const {
  const PlacementMenu& menu = planning_.menu(asker);
  for (const ChoiceIndex choice : menu.by_area) {
    const double lat_s = planning_.lat_s(asker, menu.all[choice]);
    if (lat_s <= limit_s) return menu.all[choice].gpus * lat_s;
  }
  return std::numeric_limits<double>::infinity();
}

const RoomMaker::VictimsByPool& RoomMaker::victims(bool urgent) {
  std::optional<VictimsByPool>& known = known_[urgent ? 1 : 0];
  // Without protection a run that was started a moment ago may be stopped again.
  if (!known || protect_s(urgent) <= 0) known = gather(urgent);
  return *known;
}

// Of a run that has just begun, or is about to end.
double RoomMaker::protect_s(bool urgent) const {
  return urgent ? std::min(kLeastRun_s, options_.protect_s) : options_.protect_s;
}

RoomMaker::VictimsByPool RoomMaker::gather(bool urgent) const {
  VictimsByPool victims;
  for (const TaskIndex task : state_.running()) {
    if (!stoppable(task, urgent)) continue;
    const auto victim = victim_of(task);
    if (!victim) continue;
    const PoolIndex pool = state_.running_choice(task).pool;
    if (pool >= victims.size()) victims.resize(pool + std::size_t{1});
    victims[pool].push_back(*victim);
  }
  for (Victims& each : victims)
    std::sort(each.begin(), each.end(), [&](const Victim& a, const Victim& b) {
      return std::tuple(a.group, a.key, planning_.task(a.task).id) <
             std::tuple(b.group, b.key, planning_.task(b.task).id);
    });
  return victims;
}

// The one place that says which runs are protected.
bool RoomMaker::stoppable(TaskIndex index, bool urgent) const {
  const TaskProgress& progress = state_.progress(index);
  return planning_.task(index).preemptible && planning_.task(index).qos != QosClass::kUrgent &&
         !progress.run.promoted && progress.stops < options_.max_preempts &&
         planning_.now_s() - progress.run.started_s >= protect_s(urgent) &&
         !near_end(index, urgent);
}

bool RoomMaker::near_end(TaskIndex index, bool urgent) const {
  if (!options_.spare_ends) return false;
  const double due_s = options_.learn ? state_.observed_due_s(index, planning_.now_s())
                                      : state_.progress(index).run.predicted_end_s;
  const double left_s = due_s - planning_.now_s();
  return left_s > 0 && left_s < protect_s(urgent);
}

std::optional<RoomMaker::Victim> RoomMaker::victim_of(TaskIndex index) const {
  const PlanTask& task = planning_.task(index);
  const Choice& running = state_.running_choice(index);
  const double now_s = planning_.now_s();
  if (end_s(index) > task.deadline_s + kDeadlineTolerance_s) {
    const double used_gpu_s = running.gpus * (now_s - state_.progress(index).run.started_s);
    return Victim{index, Group::kLate, options_.trade ? stop_loss_gpu_s(index) : used_gpu_s};
  }
  if (options_.preempt != SavableOptions::Preempt::kResumableVictims) return std::nullopt;
  const double left = state_.left_if_stopped(index, work_s(index), now_s);
  if (const auto smaller = smaller_choice(index, left)) {
    const int given_up = running.gpus - planning_.menu(index).all[*smaller].gpus;
    return Victim{index, Group::kShrinkable, -static_cast<double>(given_up), 0, smaller};
  }
  const Choice& slow = planning_.menu(index).all[planning_.menu(index).slow];
  const double spare_s = slack_if_restarted_s(index, slow, left);
  return Victim{index, Group::kResumable, options_.trade ? stop_loss_gpu_s(index) : -spare_s,
                spare_s};
}

// For the whole task on its present placement.
double RoomMaker::work_s(TaskIndex index) const {
  return options_.learn ? state_.observed_work_s(index, planning_.now_s())
                        : state_.running_choice(index).work_s;
}

double RoomMaker::end_s(TaskIndex index) const {
  return options_.learn ? state_.observed_end_s(index, planning_.now_s())
                        : state_.predicted_end_s(index, planning_.now_s());
}

// What a run did beyond the work that it should have needed is lost too: a stop keeps shares of the
// work, of which there are no more than all.
double RoomMaker::stop_loss_gpu_s(TaskIndex index) const {
  SavedWork saved = saved_work(state_, index, planning_.now_s());
  const double left = state_.left_if_stopped(index, work_s(index), planning_.now_s());
  const double kept_s = (state_.progress(index).run.left - left) * work_s(index);
  saved.since_checkpoint_s = std::max(0.0, saved.worked_s - kept_s);
  return lost_gpu_s(saved, state_.running_choice(index).gpus);
}

bool RoomMaker::can_resume(const Victim& victim, double needed_s) const {
  return victim.group != Group::kResumable || victim.spare_s > needed_s;
}

// On the first node of its list, with fewer GPUs, and still in time.
std::optional<ChoiceIndex> RoomMaker::smaller_choice(TaskIndex index, double left) const {
  if (!options_.shrink) return std::nullopt;
  const PlanTask& task = planning_.task(index);
  const Choice& running = state_.running_choice(index);
  const double room_s = task.deadline_s - planning_.now_s() - task.restart_s;
  for (const ChoiceIndex choice : planning_.menu(index).by_area) {
    const Choice& smaller = planning_.menu(index).all[choice];
    if (smaller.shape.d_node == 1 && smaller.gpus < running.gpus && smaller.pool == running.pool &&
        smaller.shape.d_gpn <= running.shape.d_gpn &&
        smaller.work_s * left * (1 + margin_) + options_.protect_s < room_s)
      return choice;
  }
  return std::nullopt;
}

// What it would have held in vain, as PlanState will count it.
double RoomMaker::wasted_gpu_s(TaskIndex index) const {
  const double left = state_.left_if_stopped(index, work_s(index), planning_.now_s());
  return core::wasted_gpu_s(state_.progress(index).run, work_s(index), left,
                            state_.running_choice(index).gpus, planning_.now_s());
}

// GPUs that the victim leaves on a node of its own.
int RoomMaker::freed(const Victim& victim, PoolNode node) const {
  const int gpus = state_.running_choice(victim.task).shape.d_gpn;
  const bool stays = victim.shrunk && node == state_.progress(victim.task).run.nodes.front();
  return stays ? gpus - state_.choice(victim.task, *victim.shrunk).shape.d_gpn : gpus;
}

// The victims, in order after the traded one, that make `wanted` fit; nullopt where all do not.
std::optional<RoomMaker::Victims> RoomMaker::enough(const Choice& wanted,
                                                    const EligibleNodes* eligible,
                                                    const Victims& among, double needed_s,
                                                    const Victim* traded) {
  const int gpus = wanted.shape.d_gpn;
  int wide = state_.free().nodes_with(wanted.pool, gpus, eligible, wanted.shape.d_node);
  Victims off;
  const auto ask = [&](const Victim& victim) {
    off.push_back(victim);
    for (const PoolNode node : state_.progress(victim.task).run.nodes) {
      if (node >= given_.size()) given_.resize(node + std::size_t{1}, 0);
      const int before = state_.free().at(wanted.pool, node) + given_[node];
      given_[node] += freed(victim, node);
      const int after = state_.free().at(wanted.pool, node) + given_[node];
      if (before < gpus && gpus <= after &&
          (eligible == nullptr || eligible->contains(wanted.pool, node)))
        ++wide;
    }
    return wide >= wanted.shape.d_node;
  };
  bool fits = traded != nullptr && ask(*traded);
  for (std::size_t i = 0; !fits && i < among.size(); ++i) {
    if (can_resume(among[i], needed_s))
      fits = ask(among[i]);
    else if (!options_.trade)
      break;  // the most spare comes first: none of the rest has enough
  }
  for (const Victim& victim : off)
    for (const PoolNode node : state_.progress(victim.task).run.nodes)
      given_[node] = 0;
  if (!fits) return std::nullopt;
  return off;
}

// Those that run on the nodes of `wanted`.
RoomMaker::Victims RoomMaker::in_the_way(const Choice& wanted, const EligibleNodes* eligible,
                                         const Victims& off) const {
  FreeGpus trial = state_.free();
  for (const Victim& victim : off)
    for (const PoolNode node : state_.progress(victim.task).run.nodes)
      trial.give_back(wanted.pool, {node}, freed(victim, node));
  const std::vector<PoolNode> found = trial.find(wanted.pool, wanted.shape, eligible);
  Victims standing;
  for (const Victim& victim : off)
    if (stands_on(victim.task, found)) standing.push_back(victim);
  return standing;
}

// False where the asker's queue cannot.
bool RoomMaker::pay(TaskIndex asker, double cost_gpu_s) {
  const auto budget = options_.budget();
  if (!budget) return true;
  if (!budgets_left_gpu_s_)
    budgets_left_gpu_s_ = state_.budgets_left_gpu_s(*budget, planning_.now_s());
  const bool urgent = planning_.task(asker).qos == QosClass::kUrgent;
  double& left_gpu_s = (*budgets_left_gpu_s_)[planning_.task(asker).queue];
  if (cost_gpu_s > left_gpu_s * (urgent ? 1 : kMostAtOnce)) {
    denied_ = true;
    return false;
  }
  left_gpu_s -= cost_gpu_s;
  return true;
}

// A shrunk run starts again now, and is protected.
void RoomMaker::forget_stopped(PoolIndex pool) {
  const auto gone = [&](const Victim& victim) {
    const TaskProgress& progress = state_.progress(victim.task);
    return progress.phase != TaskPhase::kRunning || progress.run.started_s >= planning_.now_s();
  };
  for (std::optional<VictimsByPool>& known : known_)
    if (known && pool < known->size()) std::erase_if((*known)[pool], gone);
}

bool RoomMaker::stands_on(TaskIndex index, const std::vector<PoolNode>& found) const {
  const std::vector<PoolNode>& nodes = state_.progress(index).run.nodes;
  return std::find_first_of(nodes.begin(), nodes.end(), found.begin(), found.end()) != nodes.end();
}

void RoomMaker::send_off(const Victim& victim, TaskIndex asker, bool risks_deadline) {
  if (victim.shrunk)
    planning_.shrink(victim.task, *victim.shrunk, asker);
  else
    planning_.stop(victim.task, asker, risks_deadline);
}

}  // namespace slackline::core
