// Reserve: tasks by deadline; the first of those that cannot start get reservations, and the others
// start beside them (conservative backfill: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001).
//
//   order      1 urgent, by submit
//              2 those that can still meet their deadline, by deadline; and of all others the one
//                that has waited too long for longest (`age`, `hopeless`), so that nobody starves
//              3 the others, by response ratio
//   reserved   of 1 and 2, for those of one number of GPUs: the first `held` that cannot start, and
//              every gang of more than a quarter of the GPUs of its type: the earliest time and
//              nodes by predicted ends. Who would be late there goes behind 2
//   backfill   the rest starts now where its planned run ends before the reservations on its nodes
//              begin, or runs beside them. Planned runs are as long as nine in ten are, where a
//              prediction has an error
//   stops      preemption=on: for urgent tasks, and for who would be late, but not if it began now,
//              runs may be stopped, if everybody who has a place in time keeps one, those who are
//              stopped included (checked_stops.h)
//
// Behind runs whose length nobody knows a reservation has nodes and no time (timeline.h).
#include "reserve.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "checked_stops.h"
#include "policies.h"
#include "slackline/core/planning/deadline.h"

namespace slackline::core {
namespace {

constexpr std::int64_t kBigShare = 4;  // more than a quarter of a type
constexpr std::size_t kMostHeld = 64;
constexpr std::size_t kMostSought = 16;      // of those that nothing is held for, places in time
constexpr int kMostAskers = 4;               // for whom runs may be stopped, in a call
constexpr std::size_t kMostReplanned = 256;  // tasks that a stop is checked against

class Reserve {
 public:
  Reserve(Planning& planning, const ReserveOptions& options)
      : planning_(planning), state_(planning.state()), options_(options) {}

  void call() {
    if (state_.waiting().empty()) return;
    if (planning_.idle() > 0 || options_.preemption) serve_all();
    if (!state_.waiting().empty() && options_.tick_s > 0 &&
        state_.next_wake_s() <= planning_.now_s())
      planning_.wake_at(planning_.now_s() + options_.tick_s);
  }

 private:
  void serve_all() {
    sort_into_groups();
    PlanSheet sheet(planning_, price());
    serve(urgent_, sheet);
    serve(due_, sheet);
    seek_again(sheet);
    if (options_.preemption) make_room(sheet);
    for (const Placed& placed : sheet.placed())
      if (sheet.is_now(placed))
        start(placed);
      else
        planning_.reserve({placed.who.task, placed.place.pool, placed.place.nodes});
    start_beside(behind_, sheet);
    start_beside(last_, sheet);
  }

  double price() const {
    return options_.price +
           static_cast<double>(state_.waiting().size()) / static_cast<double>(planning_.total());
  }

  void sort_into_groups() {
    std::optional<Seeker> aged;
    const auto is_first = [&](const Seeker& entry) {
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
        const Seeker waits{index, task.submit_s + patience_s(task, run_s)};
        if (waits.due_s <= planning_.now_s() && is_first(waits)) aged = waits;
      }
    }
    if (aged) {
      std::erase_if(last_, [&](const Seeker& entry) { return entry.task == aged->task; });
      due_.push_back(*aged);
    }
    for (auto* group : {&urgent_, &due_, &last_})
      std::sort(group->begin(), group->end(), [&](const Seeker& a, const Seeker& b) {
        const TaskTable& tasks = state_.tasks();
        return std::tuple(a.due_s, tasks.digest(a.task).id) <
               std::tuple(b.due_s, tasks.digest(b.task).id);
      });
  }

  double patience_s(const TaskDigest& task, double run_s) const {
    const bool hopeless = std::isfinite(task.deadline_s);
    return options_.age * run_s + (hopeless ? options_.hopeless_days * 24 * kHour_s : 0);
  }

  void start(const Placed& placed) {
    planning_.start(placed.who.task, placed.choice, false, placed.place.nodes);
  }

  void start_beside(const std::vector<Seeker>& group, PlanSheet& sheet) {
    for (const Seeker& who : group) {
      if (sheet.idle() == 0) return;
      auto placed = sheet.now(who);
      if (!placed) continue;
      start(*placed);
      sheet.add(std::move(*placed));
    }
  }

  void serve(const std::vector<Seeker>& group, PlanSheet& sheet) {
    for (const Seeker& who : group) {
      auto placed = sheet.now(who);
      const bool holds = !placed && holds_for(who, sheet.reserved());
      if (holds) placed = sheet.later(who);
      if (placed)
        sheet.add(std::move(*placed));
      else
        behind_.push_back(who);
    }
  }

  // Whoever may take fewer GPUs takes what there is, and needs nothing held.
  bool holds_for(const Seeker& who, std::size_t reserved) const {
    const PlacementMenu& menu = planning_.menu(who.task);
    if (is_flexible(menu)) return false;
    if (reserved < static_cast<std::size_t>(options_.held)) return true;
    const Choice& least = menu.all[menu.by_size.front()];
    return reserved < kMostHeld && least.gpus * kBigShare > state_.free().total(least.pool);
  }

  // Whom nothing was held for may find a place in time behind those it was held for.
  void seek_again(PlanSheet& sheet) {
    std::size_t sought = 0;
    std::erase_if(behind_, [&](const Seeker& who) {
      if (!std::isfinite(who.must_end_s) || sought == kMostSought) return false;
      ++sought;
      auto placed = sheet.later(who);
      if (placed) sheet.add(std::move(*placed));
      return placed.has_value();
    });
  }

  // A call that starts very many tasks leaves this to the next one.
  void make_room(PlanSheet& sheet) {
    CheckedStops stops(planning_, options_.stop_rules(), options_.budget(), price());
    int asked = 0;
    const auto makes = [&](const Seeker& who) {
      if (sheet.placed().size() > kMostReplanned || asked++ >= kMostAskers) return false;
      auto room = stops.make(who, others_in(sheet, who.task));
      if (room) sheet = std::move(*room);
      return room.has_value();
    };
    for (const Seeker& who : urgent_)
      if (!starts_now(sheet, who.task)) makes(who);
    std::erase_if(behind_, [&](const Seeker& who) {
      if (planning_.task(who.task).qos == QosClass::kUrgent) return starts_now(sheet, who.task);
      return std::isfinite(who.must_end_s) && makes(who);
    });
    for (const TaskIndex task : stops.gone())
      last_.push_back({task, 0});
  }

  static std::vector<Seeker> others_in(const PlanSheet& sheet, TaskIndex asker) {
    std::vector<Seeker> others;
    for (const Placed& placed : sheet.placed()) {
      if (placed.who.task == asker) continue;
      others.push_back(placed.who);
      others.back().left.reset();
    }
    return others;
  }

  static bool starts_now(const PlanSheet& sheet, TaskIndex task) {
    return std::any_of(sheet.placed().begin(), sheet.placed().end(), [&](const Placed& placed) {
      return placed.who.task == task && sheet.is_now(placed);
    });
  }

  Planning& planning_;
  const PlanState& state_;
  const ReserveOptions& options_;
  std::vector<Seeker> urgent_, due_, last_;
  std::vector<Seeker> behind_;  // of urgent_ and due_: those that have no place in time
};

constexpr OptionOf<ReserveOptions> kReserveOptions[] = {
    {"held", CountField<ReserveOptions>{&ReserveOptions::held},
     "tasks that get a reservation, besides gangs of more than a quarter of their GPU type"},
    {"age", NumberField<ReserveOptions>{&ReserveOptions::age},
     "times its fastest run; a task without a deadline that has waited longer is reserved for"},
    {"hopeless", NumberField<ReserveOptions>{&ReserveOptions::hopeless_days},
     "days that a task that can no longer meet its deadline waits longer than that"},
    {"preemption", SwitchField<ReserveOptions>{&ReserveOptions::preemption},
     "stop runs for tasks that would be late, if all others stay in time"},
    {"protect", NumberField<ReserveOptions>{&ReserveOptions::protect_s},
     "seconds; no run is stopped before, nor so short before its end"},
    {"max_preempts", CountField<ReserveOptions>{&ReserveOptions::most_stops}, "of one task"},
    {"budget", NumberOrWordField<ReserveOptions>{&ReserveOptions::budget_gpu_h, "off"},
     "GPU-hours that the tasks of a queue may make others lose in a day, at least"},
    {"budget_share", NumberField<ReserveOptions>{&ReserveOptions::budget_share, 1},
     "the same as a share of the GPU time that the queue used in that day"},
    {"p0", NumberField<ReserveOptions>{&ReserveOptions::price}, "price of a GPU when nobody waits"},
    {"tick", NumberField<ReserveOptions>{&ReserveOptions::tick_s},
     "seconds; planned again while a task waits; 0: not"},
};

}  // namespace

void serve_reserve(Planning& planning, const ReserveOptions& options) {
  Reserve(planning, options).call();
}

bool is_flexible(const PlacementMenu& menu) {
  return menu.all[menu.by_size.front()].gpus != menu.all[menu.by_size.back()].gpus;
}

PolicyKind reserve_kind() {
  return kind_of<ReserveOptions>(
      {.name = "reserve",
       .family = "reserve",
       .serve = serve_reserve,
       .options = kReserveOptions,
       .preempts = [](const ReserveOptions& options) { return options.preemption; },
       .reserves = [](const ReserveOptions&) { return true; },
       .budget = [](const ReserveOptions& options) { return options.budget(); },
       .stops = [](const ReserveOptions& options) { return options.stop_rules(); }});
}

}  // namespace slackline::core
