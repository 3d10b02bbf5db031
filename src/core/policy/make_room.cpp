#include "make_room.h"

#include <algorithm>
#include <tuple>

#include "slackline/core/deadline.h"

namespace slackline::core {
namespace {

constexpr double kUrgentProtect_s = 60;

}  // namespace

RoomMaker::RoomMaker(Planning& planning, const SavableOptions& options, double margin)
    : planning_(planning), state_(planning.state()), options_(options), margin_(margin) {}

std::optional<ChoiceIndex> RoomMaker::make(TaskIndex asker, double limit_s) {
  const PlanTask& task = planning_.task(asker);
  const bool urgent = task.qos == QosClass::kUrgent;
  const VictimsByPool& known = victims(urgent);
  const PlacementMenu& menu = planning_.menu(asker);
  const double needed_s = options_.gap * std::min(limit_s, menu.base_s) + options_.protect_s;
  for (const ChoiceIndex choice : urgent ? menu.by_cer : menu.by_area) {
    const Choice& wanted = menu.all[choice];
    if (wanted.pool >= known.size() || planning_.lat_s(asker, wanted) > limit_s) continue;
    const Victims& among = known[wanted.pool];
    const std::size_t count = enough(wanted, task.eligible.get(), among, needed_s);
    if (count == 0) continue;
    clear(wanted, task.eligible.get(), among, count);
    return choice;
  }
  return std::nullopt;
}

const RoomMaker::VictimsByPool& RoomMaker::victims(bool urgent) {
  const double protect_s = urgent ? kUrgentProtect_s : options_.protect_s;
  std::optional<VictimsByPool>& known = known_[urgent ? 1 : 0];
  // Without protection whoever was started a moment ago may be stopped again.
  if (!known || protect_s <= 0) known = gather(protect_s);
  return *known;
}

RoomMaker::VictimsByPool RoomMaker::gather(double protect_s) const {
  VictimsByPool victims;
  for (const TaskIndex task : state_.running()) {
    if (!stoppable(task, protect_s)) continue;
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

bool RoomMaker::stoppable(TaskIndex v, double protect_s) const {
  const TaskProgress& progress = state_.progress(v);
  return planning_.task(v).preemptible && planning_.task(v).qos != QosClass::kUrgent &&
         !progress.run.promoted && progress.stops < options_.max_preempts &&
         planning_.now_s() - progress.run.started_s >= protect_s;
}

std::optional<RoomMaker::Victim> RoomMaker::victim_of(TaskIndex v) const {
  const PlanTask& task = planning_.task(v);
  const Choice& o = state_.running_choice(v);
  const double now_s = planning_.now_s();
  if (state_.predicted_end_s(v, now_s) > task.deadline_s + kDeadlineTolerance_s)
    return Victim{v, Group::kLate, o.gpus * (now_s - state_.progress(v).run.started_s)};
  if (options_.preempt != SavableOptions::Preempt::kResumableVictims) return std::nullopt;
  const double left = state_.left_if_stopped(v, o.work_s, now_s);
  if (const auto smaller = smaller_choice(v, left)) {
    const int given_up = o.gpus - planning_.menu(v).all[*smaller].gpus;
    return Victim{v, Group::kShrinkable, -static_cast<double>(given_up), 0, smaller};
  }
  const Choice& slow = planning_.menu(v).all[planning_.menu(v).slow];
  const double spare_s = task.deadline_s - now_s - task.restart_s - slow.work_s * left;
  return Victim{v, Group::kResumable, -spare_s, spare_s};
}

// On the first node of its list, with fewer GPUs, and still in time.
std::optional<ChoiceIndex> RoomMaker::smaller_choice(TaskIndex v, double left) const {
  if (!options_.shrink) return std::nullopt;
  const PlanTask& task = planning_.task(v);
  const Choice& o = state_.running_choice(v);
  const double room_s = task.deadline_s - planning_.now_s() - task.restart_s;
  for (const ChoiceIndex choice : planning_.menu(v).by_area) {
    const Choice& q = planning_.menu(v).all[choice];
    if (q.shape.d_node == 1 && q.gpus < o.gpus && q.pool == o.pool &&
        q.shape.d_gpn <= o.shape.d_gpn &&
        q.work_s * left * (1 + margin_) + options_.protect_s < room_s)
      return choice;
  }
  return std::nullopt;
}

// GPUs that the victim leaves on a node of its own.
int RoomMaker::freed(const Victim& victim, PoolNode node) const {
  const int gpus = state_.running_choice(victim.task).shape.d_gpn;
  const bool stays = victim.shrunk && node == state_.progress(victim.task).run.nodes.front();
  return stays ? gpus - state_.choice(victim.task, *victim.shrunk).shape.d_gpn : gpus;
}

// How many victims, from the first one on, make `wanted` fit; 0 where all of them do not.
std::size_t RoomMaker::enough(const Choice& wanted, const EligibleNodes* eligible,
                              const Victims& among, double needed_s) {
  const int gpus = wanted.shape.d_gpn;
  int wide = state_.free().nodes_with(wanted.pool, gpus, eligible, wanted.shape.d_node);
  std::size_t asked = 0;
  bool fits = false;
  while (!fits && asked < among.size()) {
    const Victim& victim = among[asked];
    // The most spare comes first: nobody behind has enough.
    if (victim.group == Group::kResumable && victim.spare_s <= needed_s) break;
    ++asked;
    for (const PoolNode node : state_.progress(victim.task).run.nodes) {
      if (node >= given_.size()) given_.resize(node + std::size_t{1}, 0);
      const int before = state_.free().at(wanted.pool, node) + given_[node];
      given_[node] += freed(victim, node);
      const int after = state_.free().at(wanted.pool, node) + given_[node];
      if (before < gpus && gpus <= after &&
          (eligible == nullptr || eligible->contains(wanted.pool, node)))
        ++wide;
    }
    fits = wide >= wanted.shape.d_node;
  }
  for (std::size_t i = 0; i < asked; ++i)
    for (const PoolNode node : state_.progress(among[i].task).run.nodes)
      given_[node] = 0;
  return fits ? asked : 0;
}

// Stops those of the first `count` victims that stand where `wanted` will.
void RoomMaker::clear(const Choice& wanted, const EligibleNodes* eligible, const Victims& among,
                      std::size_t count) {
  FreeGpus trial = state_.free();
  for (std::size_t i = 0; i < count; ++i)
    for (const PoolNode node : state_.progress(among[i].task).run.nodes)
      trial.give_back(wanted.pool, {node}, freed(among[i], node));
  const std::vector<PoolNode> found = trial.find(wanted.pool, wanted.shape, eligible);
  for (std::size_t i = 0; i < count; ++i)
    if (stands_on(among[i].task, found)) send_off(among[i]);
  forget_stopped(wanted.pool);
}

// What was shrunk runs again since now, and is protected.
void RoomMaker::forget_stopped(PoolIndex pool) {
  const auto gone = [&](const Victim& victim) {
    const TaskProgress& progress = state_.progress(victim.task);
    return progress.phase != TaskPhase::kRunning || progress.run.started_s >= planning_.now_s();
  };
  for (std::optional<VictimsByPool>& known : known_)
    if (known && pool < known->size()) std::erase_if((*known)[pool], gone);
}

bool RoomMaker::stands_on(TaskIndex v, const std::vector<PoolNode>& found) const {
  const std::vector<PoolNode>& nodes = state_.progress(v).run.nodes;
  return std::find_first_of(nodes.begin(), nodes.end(), found.begin(), found.end()) != nodes.end();
}

void RoomMaker::send_off(const Victim& victim) {
  if (victim.shrunk)
    planning_.shrink(victim.task, *victim.shrunk);
  else
    planning_.stop(victim.task);
}

}  // namespace slackline::core
