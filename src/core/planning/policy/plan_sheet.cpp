#include "plan_sheet.h"

#include <algorithm>
#include <cmath>

#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/mixed_pods.h"
#include "slackline/core/planning/task_menu.h"

namespace slackline::core {
namespace {

constexpr double kNever_s = std::numeric_limits<double>::infinity();

bool is_unknown(const Choice& choice) {
  return choice.error >= kUnknownError;
}

}  // namespace

PlanSheet::PlanSheet(const Planning& planning, double price, const std::vector<TaskIndex>& stopped)
    : planning_(&planning),
      state_(&planning.state()),
      price_(price),
      stopped_(stopped),
      free_(planning.state().free()),
      shares_(planning.state().shares()) {
  for (const TaskIndex run : stopped_) {
    const Choice& choice = state_->running_choice(run);
    give_back(free_, *state_, run);
    shares_.end(state_->use_of(run, choice));
  }
}

void PlanSheet::add(Placed placed) {
  TimelinePlace place = placed.place;
  if (is_now(placed)) {
    const Choice& choice = state_->choice(placed.who.task, placed.choice);
    take(free_, planning_->task(placed.who.task), choice, place.nodes);
    shares_.begin(state_->use_of(placed.who.task, choice));
    place.end_s = std::min(place.end_s, planning_->now_s() + kFar_s);
  } else {
    ++reserved_;
  }
  if (timeline_) timeline_->take(place);
  placed_.push_back(std::move(placed));
}

bool PlanSheet::is_stopped(TaskIndex run) const {
  return std::find(stopped_.begin(), stopped_.end(), run) != stopped_.end();
}

Timeline& PlanSheet::timeline() {
  if (timeline_) return *timeline_;
  const double now_s = planning_->now_s();
  timeline_.emplace(free_, now_s);
  const auto frees = [&](const Choice& choice, const std::vector<PoolNode>& nodes, double end_s,
                         bool known) {
    timeline_->free_at(choice.pool, nodes, choice.shape.d_gpn, known ? end_s : now_s + kFar_s);
  };
  for (const TaskIndex run : state_->running()) {
    if (is_stopped(run)) continue;
    const Choice& choice = state_->running_choice(run);
    const Run& of = state_->progress(run).run;
    // What it says itself of its end counts, whatever is known of its length.
    frees(choice, of.nodes, state_->observed_end_s(run, now_s),
          !is_unknown(choice) || of.reported.has_value());
  }
  for (const Placed& placed : placed_) {  // all of them now
    const Choice& choice = state_->choice(placed.who.task, placed.choice);
    frees(choice, placed.place.nodes, placed.place.end_s, !is_unknown(choice));
  }
  return *timeline_;
}

double PlanSheet::lat_s(const Seeker& who, const Choice& choice) const {
  if (!who.left) return planning_->lat_s(who.task, choice);
  return choice.work_s * *who.left + planning_->task(who.task).restart_s;
}

// Nine in ten runs are shorter. Longer than what is behind a run of unknown length.
double PlanSheet::planned_s(const Seeker& who, const Choice& choice) const {
  if (is_unknown(choice)) return 2 * kFar_s;
  const double error = choice.error > 0 ? choice.error : state_->error().rms();
  return lat_s(who, choice) * std::exp(kNineInTen * error);
}

double PlanSheet::last_start_s(const Seeker& who, const Choice& choice) const {
  return who.must_end_s - lat_s(who, choice) + kDeadlineTolerance_s;
}

std::optional<Placed> PlanSheet::now(const Seeker& who) {
  if ((state_->tasks().digest(who.task).pools & free_.open_pools()) == 0) return std::nullopt;
  const PlanTask& task = planning_->task(who.task);
  std::optional<Placed> best;
  double least = kNever_s;
  for (const ChoiceIndex index : task.menu->by_area) {
    const Choice& choice = task.menu->all[index];
    if (!may_fit(free_, task, choice)) continue;
    if (!shares_.admits(state_->use_of(who.task, choice))) continue;
    const double cost = lat_s(who, choice) * (1 + price_ * choice.gpus);
    if (cost >= least || last_start_s(who, choice) < planning_->now_s()) continue;
    if (!fits(free_, task, choice)) continue;
    if (!planning_->open(who.task, choice.pool)) continue;
    auto place = place_of(who, choice, planning_->now_s());
    if (!place) continue;
    best = Placed{who, index, std::move(*place)};
    least = cost;
  }
  return best;
}

std::optional<TimelinePlace> PlanSheet::place_of(const Seeker& who, const Choice& choice,
                                                 double last_start_s) {
  const PlanTask& task = planning_->task(who.task);
  const double now_s = planning_->now_s();
  const double run_s = planned_s(who, choice);
  if (reserved_ == 0 && last_start_s <= now_s)
    return TimelinePlace{choice.pool, choice.shape.d_gpn, find_room(free_, task, choice), now_s,
                         now_s + run_s};
  const bool waits = planning_->holds_out(who.task);
  return timeline().earliest(
      task, {.pool = choice.pool,
             .shape = choice.shape,
             .run_s = run_s,
             .not_before_s = waits ? state_->fallback_at_s(who.task, choice.pool) : 0,
             .last_start_s = last_start_s,
             .now = &free_});
}

std::optional<Placed> PlanSheet::later(const Seeker& who) {
  std::optional<Placed> best;
  const PlacementMenu& menu = planning_->menu(who.task);
  for (const ChoiceIndex index : menu.by_area) {
    // When its queue will have room is not known: until then it keeps nobody off.
    if (!shares_.admits(state_->use_of(who.task, menu.all[index]))) continue;
    auto place = place_of(who, menu.all[index], kNever_s);
    if (!place) continue;
    const bool timed = place->start_s < planning_->now_s() + kFar_s;
    if (timed && place->start_s > last_start_s(who, menu.all[index])) continue;
    if (!best || place->end_s < best->place.end_s) best = Placed{who, index, std::move(*place)};
  }
  return best;
}

}  // namespace slackline::core
