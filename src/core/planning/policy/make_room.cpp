#include "make_room.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "slackline/base/duration.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/core/planning/mixed_pods.h"
#include "slackline/core/planning/overtime.h"
#include "stop_rules.h"

namespace slackline::core {
namespace {

constexpr std::size_t kTrades = 16;  // tried for one asker
constexpr int kMostTries = 8;
constexpr std::size_t kMostGone = 64;  // in a list of victims, before it is made shorter
constexpr double kMostAtOnce = 0.04;   // of the budget that is left

}  // namespace

RoomMaker::RoomMaker(Planning& planning, const SavableOptions& options, double margin)
    : planning_(planning), state_(planning.state()), options_(options), margin_(margin) {}

std::optional<ChoiceIndex> RoomMaker::make(TaskIndex asker, double limit_s, double early_s) {
  if (!planning_.task(asker).stops_others) return std::nullopt;
  denied_ = false;
  early_s_ = early_s;
  const auto choice = make_within_budget(asker, limit_s);
  if (denied_ && !choice) planning_.deny(asker);
  return choice;
}

std::optional<ChoiceIndex> RoomMaker::make_within_budget(TaskIndex asker, double limit_s) {
  const double needed_s =
      options_.gap * std::min(limit_s, planning_.menu(asker).base_s) + options_.protect_s;
  if (const Victims promised = told(asker, needed_s); !promised.empty())
    if (const auto choice = first_cleared(asker, limit_s, needed_s, promised)) return choice;
  if (const auto choice = first_cleared(asker, limit_s, needed_s, {})) return choice;
  for (const Victim& traded : trades(asker, limit_s, needed_s))
    if (const auto choice = first_cleared(asker, limit_s, needed_s, {traded})) return choice;
  return std::nullopt;
}

// They were chosen once: that others would be better by now does not count.
RoomMaker::Victims RoomMaker::told(TaskIndex asker, double needed_s) {
  Victims victims;
  for (const TaskIndex run : notices().promised) {
    if (planning_.task(run).promised_to != asker) continue;
    if (state_.progress(run).phase != TaskPhase::kRunning) continue;
    const bool urgent = planning_.task(asker).qos == QosClass::kUrgent;
    if (!may_stop(state_, run, planning_.now_s(), options_.stop_rules(), urgent)) continue;
    const auto victim = victim_of(run);
    if (!victim) continue;
    victims.push_back(with_nodes(*victim));
    victims.back().risks_deadline = !can_resume(*victim, needed_s);
  }
  return victims;
}

const RoomMaker::Notices& RoomMaker::notices() {
  if (notices_) return *notices_;
  notices_ = Notices{};
  for (const TaskIndex run : state_.running()) {
    const PlanTask& task = planning_.task(run);
    notices_->longest_s = std::max(notices_->longest_s, task.notice_s);
    if (task.promised_to) notices_->promised.push_back(run);
  }
  return *notices_;
}

// The asker can wait until the run has been told for long enough, and cannot wait longer.
bool RoomMaker::in_time(const Victim& victim, double most_notice_s, double most_grace_s) {
  const PlanTask& task = planning_.task(victim.task);
  if (!ends_in_time(task, most_notice_s, most_grace_s)) return false;
  if (notices().longest_s <= 0 && notices().promised.empty()) return true;
  return early_s_ < 0 || early_s_ < task.notice_s || task.promised_to;
}

// The first placement that victims, after those that come first whatever the order, make fit; with
// a budget the one that costs least GPU time, what is lost included.
std::optional<ChoiceIndex> RoomMaker::first_cleared(TaskIndex asker, double limit_s,
                                                    double needed_s, const Victims& first) {
  static const Victims kNone;
  const PlanTask& task = planning_.task(asker);
  const bool urgent = task.qos == QosClass::kUrgent;
  const std::vector<Victims>& victims = known(urgent).by_pool;
  const PlacementMenu& menu = planning_.menu(asker);
  std::optional<Cleared> best;
  for (const ChoiceIndex choice : urgent ? menu.by_cer : menu.by_area) {
    const Choice& wanted = menu.all[choice];
    const Victims& among = wanted.pool < victims.size() ? victims[wanted.pool] : kNone;
    if (first.empty() && among.empty()) continue;
    const double lat_s = planning_.lat_s(asker, wanted);
    if (lat_s > limit_s) continue;
    const auto in_pool = [&](const Victim& victim) { return runs_in(victim, wanted.pool); };
    if (!first.empty() && std::none_of(first.begin(), first.end(), in_pool)) continue;
    if (!planning_.open(asker, wanted.pool) || !state_.may_use(asker, wanted)) continue;
    const double run_gpu_s = wanted.gpus * lat_s;
    if (best && run_gpu_s >= best->gpu_s) continue;
    auto stopped = allowed_in_the_way(asker, as_if_equal(task, wanted), among, needed_s,
                                      limit_s - lat_s, first);
    if (!stopped || !leaves_the_rest(asker, wanted, *stopped)) continue;
    Cleared cleared{choice, std::move(*stopped)};
    cleared.gpu_s = run_gpu_s;
    for (const Victim* victim : cleared.stopped) {
      cleared.lost_gpu_s +=
          wasted_if_stopped_gpu_s(state_, victim->task, work_s(victim->task), planning_.now_s());
      cleared.gpu_s += ending_gpu_s(victim->task);
    }
    cleared.gpu_s += cleared.lost_gpu_s;
    if (!best || cleared.gpu_s < best->gpu_s) best = std::move(cleared);
    if (!options_.budget_gpu_h) break;
  }
  if (!best || !pay(asker, best->lost_gpu_s)) return std::nullopt;
  const RoomGain gain = gain_of(asker, menu.all[best->choice], best->stopped);
  for (const Victim* victim : best->stopped)
    send_off(*victim, asker, gain);
  forget_stopped(menu.all[best->choice].pool, best->stopped);
  return best->choice;
}

// Runs that would meet their deadline, may still do so after a stop, and hold more than the
// preemptor needs; best first.
RoomMaker::Victims RoomMaker::trades(TaskIndex asker, double limit_s, double needed_s) {
  Victims found;
  if (!options_.trade || planning_.task(asker).qos == QosClass::kUrgent) return found;
  const double least_gpu_s = cheapest_gpu_s(asker, limit_s);
  for (const Trade& trade : all_trades()) {
    if (found.size() == kTrades) break;
    if (can_resume(trade.victim, needed_s) || trade.held_gpu_s <= least_gpu_s) continue;
    if (!is_gone(trade.victim)) found.push_back(trade.victim);
  }
  return found;
}

const std::vector<RoomMaker::Trade>& RoomMaker::all_trades() {
  Known& all = known(false);
  if (all.trades) return *all.trades;
  std::vector<Trade>& trades = all.trades.emplace();
  for (const Victims& each : all.by_pool)
    for (const Victim& victim : each) {
      if (is_gone(victim) || victim.group != Group::kResumable || !savable_after_stop(victim.task))
        continue;
      const int gpus = state_.running_choice(victim.task).gpus;
      trades.push_back({victim, gpus * (end_s(victim.task) - planning_.now_s())});
      trades.back().victim.risks_deadline = true;
      trades.back().victim.key = stop_cost_gpu_s(victim.task) - trades.back().held_gpu_s;
    }
  std::sort(trades.begin(), trades.end(), [&](const Trade& a, const Trade& b) {
    return std::tuple(a.victim.key, planning_.task(a.victim.task).id) <
           std::tuple(b.victim.key, planning_.task(b.victim.task).id);
  });
  return trades;
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

RoomMaker::Known& RoomMaker::known(bool urgent) {
  std::optional<Known>& known = known_[urgent ? 1 : 0];
  // Without protection a run that was started a moment ago may be stopped again.
  if (!known || protect_s(options_.stop_rules(), urgent) <= 0) {
    known.emplace().by_pool = gather(urgent);
    known->gone.resize(known->by_pool.size());
  }
  return *known;
}

std::vector<RoomMaker::Victims> RoomMaker::gather(bool urgent) const {
  std::vector<Victims> victims;
  for (const TaskIndex task : state_.running()) {
    if (planning_.task(task).promised_to) continue;
    if (!may_stop(state_, task, planning_.now_s(), options_.stop_rules(), urgent)) continue;
    const auto victim = victim_of(task);
    if (!victim) continue;
    const PoolIndex pool = state_.running_choice(task).pool;
    if (pool >= victims.size()) victims.resize(pool + std::size_t{1});
    victims[pool].push_back(with_nodes(*victim));
  }
  for (Victims& each : victims)
    std::sort(each.begin(), each.end(), [&](const Victim& a, const Victim& b) {
      return std::tuple(a.group, a.key, planning_.task(a.task).id) <
             std::tuple(b.group, b.key, planning_.task(b.task).id);
    });
  return victims;
}

RoomMaker::Victim RoomMaker::with_nodes(Victim victim) const {
  const std::vector<PoolNode>& nodes = state_.progress(victim.task).run.nodes;
  victim.first_node = nodes.front();
  victim.several = nodes.size() > 1;
  victim.gpus = state_.running_choice(victim.task).shape.d_gpn;
  return victim;
}

std::optional<RoomMaker::Victim> RoomMaker::victim_of(TaskIndex index) const {
  const PlanTask& task = planning_.task(index);
  const Choice& running = state_.running_choice(index);
  const double now_s = planning_.now_s();
  if (end_s(index) > task.deadline_s + kDeadlineTolerance_s) {
    const double used_gpu_s = running.gpus * (now_s - state_.progress(index).run.started_s);
    return Victim{index, Group::kLate, options_.trade ? stop_cost_gpu_s(index) : used_gpu_s};
  }
  if (options_.preempt != SavableOptions::Preempt::kResumableVictims) return std::nullopt;
  const double left = state_.left_if_stopped(index, work_s(index), now_s);
  if (const auto smaller = smaller_choice(index, left)) {
    const int given_up = running.gpus - planning_.menu(index).all[*smaller].gpus;
    return Victim{index, Group::kShrinkable, -static_cast<double>(given_up), 0, smaller};
  }
  const Choice& slow = planning_.menu(index).all[planning_.menu(index).slow];
  const double spare_s = slack_if_restarted_s(index, slow, left);
  return Victim{index, Group::kResumable, options_.trade ? stop_cost_gpu_s(index) : -spare_s,
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

double RoomMaker::stop_loss_gpu_s(TaskIndex index) const {
  SavedWork saved = saved_work(state_, index, planning_.now_s());
  const Run& run = state_.progress(index).run;
  const double left = state_.left_if_stopped(index, work_s(index), planning_.now_s());
  const double kept_s = (run.left - left) * work_s(index);
  const double overtime_s = core::overtime_s(run, work_s(index), planning_.now_s());
  const double most_s = run.reported ? run.left * state_.running_choice(index).work_s : kNever;
  saved.since_checkpoint_s = std::clamp(saved.worked_s - overtime_s - kept_s, 0.0, most_s);
  return lost_gpu_s(saved, state_.running_choice(index).gpus);
}

double RoomMaker::stop_cost_gpu_s(TaskIndex index) const {
  return stop_loss_gpu_s(index) + ending_gpu_s(index);
}

// Nobody works on them while its pods end.
double RoomMaker::ending_gpu_s(TaskIndex index) const {
  return planning_.task(index).grace_s * state_.running_choice(index).gpus;
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

// Its nodes, and the GPUs that it leaves on each.
template <class Visit>
void RoomMaker::visit_nodes(const Victim& victim, const Visit& visit) const {
  const int kept =
      victim.shrunk ? state_.choice(victim.task, *victim.shrunk).shape.d_gpn : 0;  // on the first
  visit(victim.first_node, victim.gpus - kept);
  if (!victim.several) return;
  const std::vector<PoolNode>& nodes = state_.progress(victim.task).run.nodes;
  for (std::size_t i = 1; i < nodes.size(); ++i)
    visit(nodes[i], victim.gpus);
}

// Those in the way that disruption budgets let go together. Where one takes what a budget allows,
// and it is not enough, once more: of those under budgets only who is enough on its node, as many
// as may go in all.
std::optional<RoomMaker::Chosen> RoomMaker::allowed_in_the_way(
    TaskIndex asker, const Choice& wanted, const Victims& among, double needed_s,
    double most_notice_s, const Victims& first) {
  budgets_forbade_ = false;
  for (const bool alone : {false, true}) {
    protected_alone_ = alone;
    forbidden_.clear();
    for (int tried = 0; tried < kMostTries; ++tried) {
      auto found = in_the_way(asker, wanted, among, needed_s, most_notice_s, first);
      if (!found) break;
      TakenDisruptions taken;
      const std::size_t before = forbidden_.size();
      for (const Victim* victim : *found)
        if (!taken.add(planning_.task(victim->task))) forbidden_.push_back(victim->task);
      if (forbidden_.size() == before) return found;
      budgets_forbade_ = true;
    }
    if (!budgets_forbade_) break;
  }
  return std::nullopt;
}

// Victims, in order after the `first` ones, are given back until `wanted` fits; those of them that
// run on its nodes. nullopt where all are not enough.
std::optional<RoomMaker::Chosen> RoomMaker::in_the_way(TaskIndex asker, const Choice& wanted,
                                                       const Victims& among, double needed_s,
                                                       double most_notice_s, const Victims& first) {
  const UsableByStops usable(state_.free(), planning_.task(asker), wanted);
  const EligibleNodes* eligible = usable.nodes();
  const FreeGpus& free = state_.free();
  const int gpus = wanted.shape.d_gpn;
  const int before = free.nodes_with(wanted.pool, gpus, eligible, wanted.shape.d_node);
  const double most_grace_s = spare_limit_s(planning_.task(asker), planning_.lat_s(asker, wanted));
  Chosen off;
  widened_.clear();
  const auto give = [&](PoolNode node, int freed) {
    if (node >= given_.size()) given_.resize(node + std::size_t{1}, 0);
    const int had = free.at(wanted.pool, node) + given_[node];
    given_[node] += freed;
    if (had < gpus && gpus <= had + freed &&
        (eligible == nullptr || eligible->contains(wanted.pool, node, gpus)))
      widened_.push_back(node);
  };
  std::map<PoolNode, TakenDisruptions> taken;  // by those that stop on the node
  const auto may_go = [&](const Victim& victim) {
    const PlanTask& run = planning_.task(victim.task);
    const PoolNode node = victim.first_node;
    if (run.disrupts.empty() || victim.several) return true;
    const bool is_enough = free.at(wanted.pool, node) + victim.gpus >= gpus &&
                           (eligible == nullptr || eligible->contains(wanted.pool, node, gpus));
    if (protected_alone_ && !is_enough) return false;
    const bool may = taken[protected_alone_ ? PoolNode{0} : node].add(run);
    budgets_forbade_ = budgets_forbade_ || (is_enough && !may);
    return may;
  };
  // Whether it is enough then.
  const auto ask = [&](const Victim& victim) {
    if (!may_go(victim)) return false;
    off.push_back(&victim);
    visit_nodes(victim, give);
    return before + static_cast<int>(widened_.size()) >= wanted.shape.d_node;
  };
  bool fits = false;
  for (std::size_t i = 0; !fits && i < first.size(); ++i)
    if (runs_in(first[i], wanted.pool) && !is_forbidden(first[i]) &&
        in_time(first[i], most_notice_s, most_grace_s) &&
        !spares_owners(state_, first[i].task, asker, wanted))
      fits = ask(first[i]);
  for (std::size_t i = 0; !fits && i < among.size(); ++i) {
    if (is_gone(among[i]) || is_forbidden(among[i]) ||
        !in_time(among[i], most_notice_s, most_grace_s))
      continue;
    if (spares_owners(state_, among[i].task, asker, wanted)) continue;
    if (can_resume(among[i], needed_s))
      fits = ask(among[i]);
    else if (!options_.trade)
      break;  // the most spare comes first: none of the rest has enough
  }
  auto standing = fits ? standing_on(wanted, eligible, before, off) : std::nullopt;
  for (const Victim* victim : off)
    visit_nodes(*victim, [&](PoolNode node, int) { given_[node] = 0; });
  return standing;
}

// With their GPUs, CPU and memory beside them.
bool RoomMaker::leaves_the_rest(TaskIndex asker, const Choice& wanted, const Chosen& set) const {
  FreeGpus free = state_.free();
  if (!free.rest()) return true;
  for (const Victim* victim : set) {
    give_back(free, state_, victim->task);
    if (victim->shrunk)
      take(free, planning_.task(victim->task), state_.choice(victim->task, *victim->shrunk),
           {victim->first_node});
  }
  return core::fits(free, planning_.task(asker), wanted);
}

// Best fit, as FreeGpus::find: the fewest GPUs first. `before`: eligible nodes that had enough
// without victims, counted up to those wanted.
std::optional<RoomMaker::Chosen> RoomMaker::standing_on(const Choice& wanted,
                                                        const EligibleNodes* eligible, int before,
                                                        const Chosen& off) const {
  std::vector<PoolNode> found = widened_;
  const int all = before < wanted.shape.d_node
                      ? before
                      : state_.free().nodes_with(wanted.pool, wanted.shape.d_gpn, eligible,
                                                 std::numeric_limits<int>::max());
  if (all > 0)
    for (const PoolNode node : state_.free().find(wanted.pool, {all, wanted.shape.d_gpn}, eligible))
      found.push_back(node);
  const auto gpus_on = [&](PoolNode node) {
    return state_.free().at(wanted.pool, node) + (node < given_.size() ? given_[node] : 0);
  };
  const auto few = static_cast<std::size_t>(wanted.shape.d_node);
  std::partial_sort(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(few), found.end(),
      [&](PoolNode a, PoolNode b) { return std::pair(gpus_on(a), a) < std::pair(gpus_on(b), b); });
  found.resize(few);
  Chosen standing;
  for (const Victim* victim : off) {
    bool stands = false;
    visit_nodes(*victim, [&](PoolNode node, int) {
      stands = stands || std::find(found.begin(), found.end(), node) != found.end();
    });
    if (stands) standing.push_back(victim);
  }
  return standing;
}

// False where the asker's queue cannot, or not all at once; only the first is a budget that is
// spent.
bool RoomMaker::pay(TaskIndex asker, double cost_gpu_s) {
  const auto budget = options_.budget();
  if (!budget) return !state_.is_barred(asker, planning_.now_s());
  if (!budgets_left_gpu_s_)
    budgets_left_gpu_s_ = state_.budgets_left_gpu_s(*budget, planning_.now_s());
  const bool urgent = planning_.task(asker).qos == QosClass::kUrgent;
  double& left_gpu_s = (*budgets_left_gpu_s_)[planning_.task(asker).queue];
  if (cost_gpu_s > left_gpu_s * (urgent ? 1 : kMostAtOnce)) {
    denied_ = denied_ || cost_gpu_s > left_gpu_s;
    return false;
  }
  left_gpu_s -= cost_gpu_s;
  return true;
}

// A shrunk run starts again now, and is protected.
void RoomMaker::forget_stopped(PoolIndex pool, const Chosen& stopped) {
  if (options_.protect_s <= 0) return;  // they are gathered again
  stopped_.resize(state_.tasks().size());
  for (const Victim* victim : stopped)
    stopped_[victim->task] = true;
  const std::size_t count = stopped.size();
  for (std::optional<Known>& known : known_) {
    if (!known || pool >= known->by_pool.size()) continue;
    known->gone[pool] += count;
    if (known->gone[pool] < kMostGone) continue;
    std::erase_if(known->by_pool[pool], [&](const Victim& victim) { return is_gone(victim); });
    known->gone[pool] = 0;
  }
}

// While these still run.
RoomGain RoomMaker::gain_of(TaskIndex asker, const Choice& chosen, const Chosen& stopped) const {
  double ended_s = planning_.now_s();
  for (const Victim* victim : stopped)
    ended_s = std::max(ended_s, end_s(victim->task));
  return planning_.gain_of(asker, chosen, ended_s);
}

void RoomMaker::send_off(const Victim& victim, TaskIndex asker, const RoomGain& gain) {
  if (victim.shrunk)
    planning_.shrink(victim.task, *victim.shrunk, asker, gain);
  else
    planning_.stop(victim.task, asker, gain, victim.risks_deadline);
}

}  // namespace slackline::core
