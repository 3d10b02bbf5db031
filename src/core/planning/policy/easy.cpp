// EASY backfill (Lifka, "The ANL/IBM SP Scheduling System", 1995): tasks are served in order; the
// first that does not fit gets a reservation at the earliest time, and others start now if they do
// not move it.
//
//   easy       by submit time
//   edf-easy   by deadline; those that would miss theirs even if they began now come last
#include <algorithm>
#include <limits>
#include <tuple>

#include "by_request.h"
#include "policies.h"
#include "slackline/core/planning/deadline.h"
#include "timeline.h"

namespace slackline::core {
namespace {

// As the state predicts the ends of runs, and the lengths of tasks.
class Easy {
 public:
  explicit Easy(Planning& planning)
      : planning_(planning), timeline_(planning.state().free(), planning.now_s()) {
    const PlanState& state = planning.state();
    for (const TaskIndex run : state.running()) {
      const Choice& choice = state.running_choice(run);
      timeline_.free_at(choice.pool, state.progress(run).run.nodes, choice.shape.d_gpn,
                        state.predicted_end_s(run, planning.now_s()));
    }
  }

  void serve(const std::vector<TaskIndex>& queue) {
    for (const TaskIndex task : queue) {
      if (planning_.idle() == 0) return;
      if (start_now(task) || reserved_) continue;
      reserve(task);
    }
  }

 private:
  bool start_now(TaskIndex task) {
    const PlacementMenu& menu = planning_.menu(task);
    for (const ChoiceIndex index : menu.by_lat) {
      const Choice& choice = menu.all[index];
      if (!asked_for(task, choice) || !planning_.fits(task, choice)) continue;
      const auto place = place_of(task, choice, planning_.now_s());
      if (!place) continue;
      timeline_.take(*place);
      planning_.start(task, index, false, place->nodes);
      return true;
    }
    return false;
  }

  void reserve(TaskIndex task) {
    std::optional<TimelinePlace> first;
    for (const Choice& choice : planning_.menu(task).all) {
      if (!asked_for(task, choice) || !planning_.state().may_use(task, choice)) continue;
      auto place = place_of(task, choice, std::numeric_limits<double>::infinity());
      if (place && (!first || place->start_s < first->start_s)) first = std::move(place);
    }
    if (!first) return;  // it can never start
    timeline_.take(*first);
    planning_.reserve({task, first->pool, first->nodes});
    reserved_ = true;
  }

  bool asked_for(TaskIndex task, const Choice& choice) const {
    return choice.gpus == asked_gpus(planning_.task(task), choice.pool);
  }

  std::optional<TimelinePlace> place_of(TaskIndex task, const Choice& choice,
                                        double last_start_s) const {
    const PlanState& state = planning_.state();
    const bool waits = planning_.holds_out(task);
    return timeline_.earliest(planning_.task(task),
                              {.pool = choice.pool,
                               .shape = choice.shape,
                               .run_s = planning_.lat_s(task, choice),
                               .not_before_s = waits ? state.fallback_at_s(task, choice.pool) : 0,
                               .last_start_s = last_start_s,
                               .now = &state.free()});
  }

  Planning& planning_;
  Timeline timeline_;
  bool reserved_ = false;
};

struct NoOptions {};

template <class Key>
void serve_by(Planning& planning, const Key& key) {
  if (planning.idle() == 0) return;
  std::vector<TaskIndex> queue(planning.state().waiting().begin(),
                               planning.state().waiting().end());
  std::stable_sort(queue.begin(), queue.end(),
                   [&](TaskIndex a, TaskIndex b) { return key(a) < key(b); });
  Easy(planning).serve(queue);
}

void serve_easy(Planning& planning, const NoOptions&) {
  serve_by(planning, [&](TaskIndex task) { return planning.task(task).submit_s; });
}

void serve_edf_easy(Planning& planning, const NoOptions&) {
  serve_by(planning, [&](TaskIndex task) {
    const double deadline_s = planning.task(task).deadline_s;
    const double end_s = planning.now_s() + planning.state().fastest_lat_s(task);
    const bool hopeless = end_s > deadline_s + kDeadlineTolerance_s;
    return std::tuple(hopeless, deadline_s, planning.task(task).id);
  });
}

bool always(const NoOptions&) {
  return true;
}

}  // namespace

PolicyKind easy_kind() {
  return kind_of<NoOptions>(
      {.name = "easy", .family = "easy", .serve = serve_easy, .reserves = always});
}

PolicyKind edf_easy_kind() {
  return kind_of<NoOptions>(
      {.name = "edf-easy", .family = "edf-easy", .serve = serve_edf_easy, .reserves = always});
}

}  // namespace slackline::core
