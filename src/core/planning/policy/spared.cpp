#include "spared.h"

#include <algorithm>
#include <map>

#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

constexpr std::size_t kMostSpared = 16;

}  // namespace

void SparedTasks::add(TaskIndex task, double limit_s) {
  if (tasks_.size() < kMostSpared) tasks_.push_back({task, limit_s});
}

void SparedTasks::forget_room() {
  for (Spared& spared : tasks_)
    spared.rooms.reset();
}

double SparedTasks::end_s(TaskIndex run) const {
  return learn_ ? planning_.state().observed_end_s(run, planning_.now_s())
                : planning_.state().predicted_end_s(run, planning_.now_s());
}

SparedTasks::Room SparedTasks::room_of(const Spared& spared, const Choice& wanted) const {
  const PlanState& state = planning_.state();
  Room room{.pool = wanted.pool,
            .shape = as_if_equal(planning_.task(spared.task), wanted).shape,
            .latest_s = planning_.now_s() + spared.limit_s - planning_.lat_s(spared.task, wanted),
            .free = {}};
  const EligibleNodes* eligible = planning_.task(spared.task).eligible.get();
  room.free.resize(static_cast<std::size_t>(state.free().nodes(wanted.pool)));
  for (PoolNode node = 0; node < room.free.size(); ++node)
    room.free[node] = state.free().at(wanted.pool, node);
  for (const TaskIndex run : state.running()) {
    const Choice& running = state.running_choice(run);
    if (running.pool != wanted.pool || end_s(run) > room.latest_s) continue;
    for (const PoolNode node : state.progress(run).run.nodes)
      room.free[node] += running.shape.d_gpn;
  }
  for (PoolNode node = 0; node < room.free.size(); ++node) {
    if (eligible != nullptr && !eligible->contains(wanted.pool, node, room.shape.d_gpn))
      room.free[node] = 0;
    if (room.free[node] >= room.shape.d_gpn) ++room.nodes;
  }
  return room;
}

const std::vector<SparedTasks::Room>& SparedTasks::rooms(Spared& spared) const {
  if (spared.rooms) return *spared.rooms;
  spared.rooms.emplace();
  const PlacementMenu& menu = planning_.menu(spared.task);
  for (const ChoiceIndex choice : menu.by_area) {
    const Choice& wanted = menu.all[choice];
    if (planning_.lat_s(spared.task, wanted) > spared.limit_s) continue;
    if (!planning_.state().may_use(spared.task, wanted)) continue;
    Room room = room_of(spared, wanted);
    const bool opens = !planning_.holds_out(spared.task) ||
                       planning_.state().fallback_at_s(spared.task, wanted.pool) <= room.latest_s;
    if (opens && room.nodes >= room.shape.d_node) spared.rooms->push_back(std::move(room));
  }
  return *spared.rooms;
}

std::optional<TaskIndex> SparedTasks::hurt_by(TaskIndex starts, const Choice& chosen) {
  const PlanTask& starting = planning_.task(starts);
  const double end_s = planning_.now_s() + planning_.lat_s(starts, chosen);
  std::map<PoolNode, int> taken;  // GPUs
  const auto leaves_room = [&](const Room& room) {
    if (room.pool != chosen.pool || end_s <= room.latest_s) return true;
    if (taken.empty())
      for (const PoolNode node : find_room(planning_.state().free(), starting, chosen))
        taken[node] += chosen.shape.d_gpn;
    const auto lost = std::count_if(taken.begin(), taken.end(), [&](const auto& on) {
      const int needed = room.shape.d_gpn;
      return room.free[on.first] >= needed && room.free[on.first] - on.second < needed;
    });
    return room.nodes - lost >= room.shape.d_node;
  };
  for (Spared& spared : tasks_) {
    if (spared.task == starts) continue;
    const std::vector<Room>& in_time = rooms(spared);
    if (!in_time.empty() && std::none_of(in_time.begin(), in_time.end(), leaves_room))
      return spared.task;
  }
  return std::nullopt;
}

}  // namespace slackline::core
