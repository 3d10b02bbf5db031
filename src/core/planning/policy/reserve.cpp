// Reserve: tasks by deadline; the first of those that cannot start get reservations, and the others
// start beside them (conservative backfill: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001).
//
//   order      1 urgent, by submit
//              2 those that can still meet their deadline, by deadline; and of all others the one
//                that has waited too long for longest (`age`, `hopeless`), so that nobody starves
//              3 the others, by response ratio
//   reserved   of 1 and 2 the first `held` that cannot start, and every gang of more than a quarter
//              of the GPUs of its type: the earliest time and nodes by predicted ends. Who would be
//              late there goes behind 2
//   backfill   the rest starts now where its planned run ends before the reservations on its nodes
//              begin, or runs beside them. Planned runs are as long as nine in ten are, where a
//              prediction has an error
//
// Behind runs whose length nobody knows a reservation has nodes and no time (timeline.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "policies.h"
#include "slackline/base/duration.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/task_menu.h"
#include "timeline.h"

namespace slackline::core {
namespace {

constexpr double kNineInTen = 1.2815515655446004;  // standard deviations: nine of ten are below
constexpr std::int64_t kBigShare = 4;              // more than a quarter of a type
constexpr std::size_t kMostHeld = 64;
constexpr double kNever_s = std::numeric_limits<double>::infinity();

struct ReserveOptions {
  int held = 8;
  double age = 4;
  double hopeless_days = 7;  // [hopeless]
  double price = 0.4;        // [p0]
  double tick_s = 60;        // [tick]
};

struct Waiting {
  TaskIndex task = 0;
  double due_s = 0;  // order
  double must_end_s = kNever_s;
};

struct Planned {
  ChoiceIndex choice = 0;
  TimelinePlace place;
};

class Reserve {
 public:
  Reserve(Planning& planning, const ReserveOptions& options)
      : planning_(planning), state_(planning.state()), options_(options) {}

  void call() {
    if (state_.waiting().empty()) return;
    if (planning_.idle() > 0) {
      sort_into_groups();
      serve(urgent_);
      serve(due_);
      start_beside(behind_);
      start_beside(last_);
    }
    if (!state_.waiting().empty() && options_.tick_s > 0 &&
        state_.next_wake_s() <= planning_.now_s())
      planning_.wake_at(planning_.now_s() + options_.tick_s);
  }

 private:
  void sort_into_groups() {
    std::optional<Waiting> aged;
    const auto is_first = [&](const Waiting& entry) {
      return !aged || std::tuple(entry.due_s, entry.task) < std::tuple(aged->due_s, aged->task);
    };
    for (const TaskIndex index : state_.waiting()) {
      const TaskDigest& task = state_.tasks().digest(index);
      const double run_s = state_.fastest_lat_s(index);
      const double waited_s = planning_.now_s() - task.submit_s;
      if (task.qos == QosClass::kUrgent) {
        urgent_.push_back({index, task.submit_s});
      } else if (planning_.now_s() + run_s <= task.deadline_s + kDeadlineTolerance_s &&
                 std::isfinite(task.deadline_s)) {
        due_.push_back({index, task.deadline_s, task.deadline_s});
      } else {
        last_.push_back({index, -waited_s / run_s});
        const Waiting waits{index, task.submit_s + patience_s(task, run_s)};
        if (waits.due_s <= planning_.now_s() && is_first(waits)) aged = waits;
      }
    }
    if (aged) {
      std::erase_if(last_, [&](const Waiting& entry) { return entry.task == aged->task; });
      due_.push_back(*aged);
    }
    for (auto* group : {&urgent_, &due_, &last_})
      std::sort(group->begin(), group->end(), [&](const Waiting& a, const Waiting& b) {
        const TaskTable& tasks = state_.tasks();
        return std::tuple(a.due_s, tasks.digest(a.task).id) <
               std::tuple(b.due_s, tasks.digest(b.task).id);
      });
    pressure_ = options_.price * total() + static_cast<double>(state_.waiting().size());
  }

  double patience_s(const TaskDigest& task, double run_s) const {
    const bool hopeless = std::isfinite(task.deadline_s);
    return options_.age * run_s + (hopeless ? options_.hopeless_days * 24 * kHour_s : 0);
  }

  double total() const { return static_cast<double>(planning_.total()); }

  void start_beside(const std::vector<Waiting>& group) {
    for (const Waiting& entry : group) {
      if (planning_.idle() == 0) return;
      if (const auto now = place_now(entry)) begin(entry, *now);
    }
  }

  void serve(const std::vector<Waiting>& group) {
    for (const Waiting& entry : group) {
      if (const auto now = place_now(entry)) {
        begin(entry, *now);
        continue;
      }
      if (planning_.idle() == 0 || !holds(entry)) continue;
      if (const auto later = place_later(entry)) {
        timeline().take(*later);
        ++held_;
      } else {
        behind_.push_back(entry);
      }
    }
  }

  bool holds(const Waiting& entry) const {
    if (held_ < static_cast<std::size_t>(options_.held)) return true;
    const PlacementMenu& menu = planning_.menu(entry.task);
    const Choice& least = menu.all[menu.by_size.front()];
    return held_ < kMostHeld && least.gpus * kBigShare > state_.free().total(least.pool);
  }

  void begin(const Waiting& entry, const Planned& planned) {
    planning_.start(entry.task, planned.choice, false, planned.place.nodes);
    if (!timeline_) return;
    TimelinePlace place = planned.place;
    place.end_s = std::min(place.end_s, planning_.now_s() + kFar_s);
    timeline_->take(place);
  }

  // Made when the first task gets a reservation: until then nobody is in the way of another.
  Timeline& timeline() {
    if (timeline_) return *timeline_;
    timeline_.emplace(state_.free(), planning_.now_s());
    for (const TaskIndex run : state_.running()) {
      const Choice& choice = state_.running_choice(run);
      timeline_->free_at(choice.pool, state_.progress(run).run.nodes, choice.shape.d_gpn,
                         is_unknown(choice) ? planning_.now_s() + kFar_s
                                            : state_.observed_end_s(run, planning_.now_s()));
    }
    return *timeline_;
  }

  static bool is_unknown(const Choice& choice) { return choice.error >= kUnknownError; }

  // Nine in ten runs are shorter. Longer than what is behind a run of unknown length.
  double planned_s(TaskIndex task, const Choice& choice) const {
    if (is_unknown(choice)) return 2 * kFar_s;
    const double error = choice.error > 0 ? choice.error : state_.error().rms();
    return planning_.lat_s(task, choice) * std::exp(kNineInTen * error);
  }

  double last_start_s(const Waiting& entry, const Choice& choice) const {
    return entry.must_end_s - planning_.lat_s(entry.task, choice) + kDeadlineTolerance_s;
  }

  // Whoever may take fewer GPUs takes what is cheapest: GPUs have a price that rises with the
  // queue.
  std::optional<Planned> place_now(const Waiting& entry) {
    if ((state_.tasks().digest(entry.task).pools & state_.free().open_pools()) == 0)
      return std::nullopt;
    const PlacementMenu& menu = planning_.menu(entry.task);
    std::optional<Planned> best;
    double best_price = kNever_s;
    for (const ChoiceIndex index : menu.by_area) {
      const Choice& choice = menu.all[index];
      if (!state_.free().may_fit(choice.pool, choice.shape)) continue;
      const double price =
          planning_.lat_s(entry.task, choice) * (1 + (pressure_ / total()) * choice.gpus);
      if (price >= best_price || last_start_s(entry, choice) < planning_.now_s()) continue;
      if (!planning_.fits(entry.task, choice)) continue;
      auto place = place_of(entry, choice, planning_.now_s());
      if (!place) continue;
      best = Planned{index, std::move(*place)};
      best_price = price;
    }
    return best;
  }

  std::optional<TimelinePlace> place_of(const Waiting& entry, const Choice& choice,
                                        double last_start_s) {
    const PlanTask& task = planning_.task(entry.task);
    const double run_s = planned_s(entry.task, choice);
    const double now_s = planning_.now_s();
    if (held_ == 0 && last_start_s <= now_s)
      return TimelinePlace{
          choice.pool, choice.shape.d_gpn,
          state_.free().find(choice.pool, choice.shape, task.eligible.get(), task.preferred.get()),
          now_s, now_s + run_s};
    const bool waits = planning_.holds_out(entry.task);
    return timeline().earliest(
        {.pool = choice.pool,
         .shape = choice.shape,
         .run_s = run_s,
         .not_before_s = waits ? state_.fallback_at_s(entry.task, choice.pool) : 0,
         .last_start_s = last_start_s,
         .eligible = task.eligible.get(),
         .preferred = task.preferred.get()});
  }

  // Where it ends first; behind runs of unknown length whether in time or not.
  std::optional<TimelinePlace> place_later(const Waiting& entry) {
    std::optional<TimelinePlace> best;
    for (const Choice& choice : planning_.menu(entry.task).all) {
      auto place = place_of(entry, choice, kNever_s);
      if (!place) continue;
      const bool timed = place->start_s < planning_.now_s() + kFar_s;
      if (timed && place->start_s > last_start_s(entry, choice)) continue;
      if (!best || place->end_s < best->end_s) best = std::move(place);
    }
    return best;
  }

  Planning& planning_;
  const PlanState& state_;
  const ReserveOptions& options_;
  std::optional<Timeline> timeline_;
  std::vector<Waiting> urgent_, due_, last_;
  std::vector<Waiting> behind_;  // of urgent_ and due_: they would be late
  std::size_t held_ = 0;
  double pressure_ = 0;
};

void serve_reserve(Planning& planning, const ReserveOptions& options) {
  Reserve(planning, options).call();
}

constexpr OptionOf<ReserveOptions> kReserveOptions[] = {
    {"held", CountField<ReserveOptions>{&ReserveOptions::held},
     "tasks that get a reservation, besides gangs of more than a quarter of their GPU type"},
    {"age", NumberField<ReserveOptions>{&ReserveOptions::age},
     "times its fastest run; a task without a deadline that has waited longer is reserved for"},
    {"hopeless", NumberField<ReserveOptions>{&ReserveOptions::hopeless_days},
     "days that a task that can no longer meet its deadline waits longer than that"},
    {"p0", NumberField<ReserveOptions>{&ReserveOptions::price}, "price of a GPU when nobody waits"},
    {"tick", NumberField<ReserveOptions>{&ReserveOptions::tick_s},
     "seconds; planned again while a task waits; 0: not"},
};

}  // namespace

PolicyKind reserve_kind() {
  return kind_of<ReserveOptions>(
      {.name = "reserve", .family = "reserve", .serve = serve_reserve, .options = kReserveOptions});
}

}  // namespace slackline::core
