#include "checked_stops.h"

#include <algorithm>
#include <tuple>

#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

constexpr double kEachStop_s = 60;   // costs that much more than what it loses
constexpr double kShortRun_s = 600;  // slack is measured in runs of the asker, at least this long

bool earlier(const Seeker& a, const Seeker& b) {
  return std::tuple(a.due_s, a.task) < std::tuple(b.due_s, b.task);
}

}  // namespace

std::optional<CheckedStops::Victim> CheckedStops::victim_of(TaskIndex run, const Seeker& asker,
                                                            double run_s) const {
  const double now_s = planning_.now_s();
  const PlanTask& task = planning_.task(run);
  const bool urgent = planning_.task(asker.task).qos == QosClass::kUrgent;
  if (!planning_.task(asker.task).stops_others) return std::nullopt;
  if (task.promised_to && *task.promised_to != asker.task) return std::nullopt;
  if (!may_stop(state_, run, now_s, rules_, urgent)) return std::nullopt;
  const double wait_s = asker.must_end_s - run_s - now_s;  // endless for an urgent asker
  const double most_grace_s = spare_limit_s(planning_.task(asker.task), run_s);
  if (!ends_in_time(task, wait_s, most_grace_s)) return std::nullopt;
  const Choice& choice = state_.running_choice(run);
  const double work_s = state_.observed_work_s(run, now_s);
  const double end_s = state_.observed_end_s(run, now_s);
  Victim victim{run, {}, end_s > task.deadline_s + kDeadlineTolerance_s};
  victim.left = state_.left_if_stopped(run, work_s, now_s);
  victim.lost_gpu_s =
      wasted_gpu_s(state_.progress(run).run, work_s, victim.left, choice.gpus, now_s);
  if (victim.late) {
    victim.cost = {0, static_cast<double>(choice.gpus)};
    return victim;
  }
  const bool due_later = task.deadline_s > asker.must_end_s || urgent;
  const double again_s = work_s * victim.left + task.restart_s + task.grace_s;
  const double spare_s = task.deadline_s - now_s - again_s;
  if (spare_s < 0 || !due_later) return std::nullopt;
  const double lost_s = std::max(0.0, again_s - (end_s - now_s));
  const double scarce = 1 + 1 / (1e-3 + spare_s / std::max(kShortRun_s, run_s));
  victim.cost = {1, choice.gpus * (lost_s + kEachStop_s) * scarce};
  if (task.promised_to) victim.cost = {};  // it was chosen, and told, before
  return victim;
}

// Cheapest first.
std::vector<CheckedStops::Victim> CheckedStops::victims_of(const Seeker& asker, double run_s,
                                                           const Choice& wanted) const {
  std::vector<Victim> victims;
  for (const TaskIndex run : state_.running()) {
    if (spares_owners(state_, run, asker.task, wanted)) continue;
    if (auto victim = victim_of(run, asker, run_s)) victims.push_back(*victim);
  }
  sort_cheapest_first(victims);
  return victims;
}

bool CheckedStops::place_all(PlanSheet& sheet, const Seeker& asker,
                             const std::vector<Seeker>& others) const {
  auto first = sheet.now(asker);
  if (!first) return false;
  sheet.add(std::move(*first));
  for (const Seeker& other : others) {
    auto placed = sheet.now(other);
    if (!placed) placed = sheet.later(other);
    if (!placed) return false;
    sheet.add(std::move(*placed));
  }
  return true;
}

// By deadline; where that fails, by the latest start.
std::optional<PlanSheet> CheckedStops::plan_with(const Victims& victims, const Seeker& asker,
                                                 std::vector<Seeker> others) const {
  std::vector<TaskIndex> gone;
  bool any_again = false;
  for (const Victim* victim : victims) {
    gone.push_back(victim->run);
    if (victim->late) continue;
    const double deadline_s = planning_.task(victim->run).deadline_s;
    others.push_back({victim->run, deadline_s, deadline_s, victim->left});
    any_again = true;
  }
  std::sort(others.begin(), others.end(), earlier);
  PlanSheet sheet(planning_, price_, gone);
  if (place_all(sheet, asker, others)) return sheet;
  if (!any_again) return std::nullopt;
  for (Seeker& other : others) {
    const double run_s = other.left ? planning_.menu(other.task).fastest().work_s * *other.left
                                    : state_.fastest_lat_s(other.task);
    other.due_s -= run_s;
  }
  std::sort(others.begin(), others.end(), earlier);
  PlanSheet again(planning_, price_, gone);
  if (place_all(again, asker, others)) return again;
  return std::nullopt;
}

bool CheckedStops::pays(TaskIndex asker, const Victims& victims) {
  if (!budget_) return !state_.is_barred(asker, planning_.now_s());
  if (!budgets_left_gpu_s_)
    budgets_left_gpu_s_ = state_.budgets_left_gpu_s(*budget_, planning_.now_s());
  double lost_gpu_s = 0;
  for (const Victim* victim : victims)
    lost_gpu_s += victim->lost_gpu_s;
  double& left_gpu_s = (*budgets_left_gpu_s_)[planning_.task(asker).queue];
  if (lost_gpu_s > left_gpu_s) return false;
  left_gpu_s -= lost_gpu_s;
  return true;
}

std::optional<PlanSheet> CheckedStops::make(const Seeker& asker,
                                            const std::vector<Seeker>& others) {
  const PlacementMenu& menu = planning_.menu(asker.task);
  const bool urgent = planning_.task(asker.task).qos == QosClass::kUrgent;
  bool denied = false;
  for (const ChoiceIndex index : urgent ? menu.by_cer : menu.by_area) {
    const Choice& wanted = menu.all[index];
    const double run_s = planning_.lat_s(asker.task, wanted);
    if (planning_.now_s() + run_s > asker.must_end_s + kDeadlineTolerance_s) continue;
    if (!planning_.open(asker.task, wanted.pool) || !state_.may_use(asker.task, wanted)) continue;
    const std::vector<Victim> victims = victims_of(asker, run_s, wanted);
    const PlanTask& task = planning_.task(asker.task);
    const Choice equal = as_if_equal(task, wanted);
    const UsableByStops usable(state_.free(), task, equal);
    const RoomByStops room(state_, equal, usable.nodes(), victims);
    for (const Victims& set : room.sets()) {
      auto sheet = plan_with(set, asker, others);
      if (!sheet) continue;
      if (!pays(asker.task, set)) {
        denied = true;
        continue;
      }
      stop(set, asker, wanted);
      return sheet;
    }
  }
  if (denied) planning_.deny(asker.task);
  return std::nullopt;
}

// They would have ended by themselves by `ended_s`.
void CheckedStops::stop(const Victims& set, const Seeker& asker, const Choice& wanted) {
  const double now_s = planning_.now_s();
  double ended_s = now_s;
  for (const Victim* victim : set)
    ended_s = std::max(ended_s, state_.observed_end_s(victim->run, now_s));
  const double latest_s = asker.must_end_s - planning_.lat_s(asker.task, wanted);
  const RoomGain gain{ended_s - now_s, latest_s + kDeadlineTolerance_s < ended_s};
  for (const Victim* victim : set) {
    planning_.stop(victim->run, asker.task, gain, false);
    if (victim->late) gone_.push_back(victim->run);
  }
}

}  // namespace slackline::core
