// SavableFirst: urgent tasks, then those that can still meet their deadline, then the late ones by
// response ratio with a small guaranteed share. GPU counts follow a price that rises with the
// queue; with preemption, a task that is about to be lost may make room for itself.
//
//   tiers   0 urgent   by submit
//           1 promoted late, waiting since age x base + floor; out of `share` of the GPUs
//           2 savable  Lat(t, fastest) <= room; by deadline
//           3 late     by (now - submit)/base descending; promoted ones once more behind them
//   kept    headroom from late tasks, calm from savable ones that can wait, for an hour after
//           another task came. A task that cannot take as few GPUs as are kept takes no notice of
//           it, but yields to a task before it that would miss its deadline (spared.h)
//   price   Lat(t, o) x (1 + (p0 total + waiting)/total x m(o)): the cheapest that fits is taken
//
// Up to three rounds a call: victims that were stopped are queued again in the next one. Orders and
// slack are those of the start of a round; a round that stops nobody is the last.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "make_room.h"
#include "savable_options.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/mixed_pods.h"
#include "spared.h"

namespace slackline::core {
namespace {

constexpr int kRounds = 3;
constexpr double kRecent_s = 3600;  // headroom and calm hold this long after an arrival
constexpr double kCalm_s = 3600;    // slack above which a savable task can wait
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// One and a half times the error, so that about nine runs in ten end within it; more than 0.3 costs
// more deadlines than it saves.
double margin_of(const ModelError& error) {
  return std::min(0.3, 1.5 * error.rms());
}

enum class Tier { kUrgent, kPromoted, kSavable, kLate };

struct Queued {
  TaskIndex task = 0;
  double limit_s = kUnlimited;     // run time that still meets the deadline
  std::array<double, 2> key = {};  // order within the tier, before the id
};

class SavableFirst {
 public:
  SavableFirst(Planning& planning, const SavableOptions& options)
      : planning_(planning),
        options_(options),
        margin_(options.margin ? *options.margin : margin_of(planning.state().error())),
        room_(planning, options, margin_),
        spared_(planning, options.learn) {}

  void call() {
    for (int round = 0; round < kRounds; ++round) {
      if (planning_.state().waiting().empty()) break;
      if (planning_.idle() == 0 && !options_.preempts()) break;
      const int stops = planning_.stops();
      serve_round();
      if (planning_.stops() == stops) break;
    }
    if (!planning_.state().waiting().empty()) wake_again();
  }

 private:
  void wake_again() {
    const double again_s =
        options_.tick_s > 0 ? planning_.now_s() + options_.tick_s : kept_until_s_;
    const double asked_s = planning_.state().next_wake_s();
    const bool stands = asked_s > planning_.now_s() && (options_.tick_s > 0 || asked_s <= again_s);
    if (std::isfinite(again_s) && !stands) planning_.wake_at(again_s);
  }

  void serve_round() {
    sort_into_tiers();
    pressure_ =
        options_.p0 * total_gpus() + static_cast<double>(planning_.state().waiting().size());
    quota_ = std::max(options_.share * total_gpus(), options_.least_share_gpus) -
             static_cast<double>(promoted_gpus());
    open_pools_ = planning_.state().free().open_pools();
    spared_.clear();
    kept_until_s_ = kUnlimited;
    serve(urgent_, Tier::kUrgent);
    serve(promoted_, Tier::kPromoted);
    serve(savable_, Tier::kSavable);
    serve(late_, Tier::kLate);
    serve(promoted_, Tier::kLate);
  }

  double total_gpus() const { return static_cast<double>(planning_.total()); }

  std::int64_t promoted_gpus() const {
    std::int64_t gpus = 0;
    for (const TaskIndex task : planning_.state().running())
      if (planning_.state().progress(task).run.promoted)
        gpus += planning_.state().running_choice(task).gpus;
    return gpus;
  }

  void sort_into_tiers() {
    for (auto* tier : {&urgent_, &promoted_, &savable_, &late_})
      tier->clear();
    for (const TaskIndex index : planning_.state().waiting()) {
      const TaskDigest& task = planning_.state().tasks().digest(index);
      const double room_s = task.deadline_s - planning_.now_s() + kDeadlineTolerance_s;
      const double waited_s = planning_.now_s() - task.submit_s;
      const double base_s = task.base_s;
      if (task.qos == QosClass::kUrgent)
        urgent_.push_back({index, kUnlimited, {task.submit_s, 0}});
      else if (std::isfinite(room_s) && planning_.state().fastest_lat_s(index) <= room_s)
        savable_.push_back(savable(index, room_s));
      else if (waited_s >= options_.age * base_s + options_.floor_s)
        promoted_.push_back(late(index, waited_s / base_s));
      else
        late_.push_back(by_level(late(index, waited_s / base_s)));
    }
    // Urgent ones with equal submit times keep their order of waiting.
    std::stable_sort(urgent_.begin(), urgent_.end(),
                     [](const Queued& a, const Queued& b) { return a.key < b.key; });
    for (auto* tier : {&promoted_, &savable_, &late_})
      std::sort(tier->begin(), tier->end(), [&](const Queued& a, const Queued& b) {
        const TaskTable& tasks = planning_.state().tasks();
        return std::tuple(a.key, tasks.digest(a.task).id) <
               std::tuple(b.key, tasks.digest(b.task).id);
      });
  }

  Queued savable(TaskIndex index, double room_s) const {
    const TaskDigest& task = planning_.state().tasks().digest(index);
    Queued entry{index, room_s, {}};
    const double careful_s = room_s / (1 + margin_);
    if (planning_.state().fastest_lat_s(index) <= careful_s) entry.limit_s = careful_s;
    const auto gpu_s = [&] {
      const Choice& chosen = cheapest(entry);
      return planning_.lat_s(index, chosen) * chosen.gpus;
    };
    switch (options_.order) {
      case SavableOptions::Order::kDeadline:
        entry.key = {task.deadline_s, 0};
        break;
      case SavableOptions::Order::kArea:
        entry.key = {gpu_s(), 0};
        break;
      case SavableOptions::Order::kSlack:
        entry.key = {slack_s(entry), 0};
        break;
      case SavableOptions::Order::kClass:
        entry.key = {task.qos == QosClass::kPrior ? 0.0 : 1.0, gpu_s()};
        break;
    }
    return entry;
  }

  // The least area within the limit; the fastest placement always is within it.
  const Choice& cheapest(const Queued& entry) const {
    const PlacementMenu& menu = planning_.menu(entry.task);
    return menu
        .all[*std::find_if(menu.by_area.begin(), menu.by_area.end(), [&](ChoiceIndex choice) {
          return planning_.lat_s(entry.task, menu.all[choice]) <= entry.limit_s;
        })];
  }

  double slack_s(const Queued& entry) const {
    return entry.limit_s - planning_.lat_s(entry.task, cheapest(entry));
  }

  Queued late(TaskIndex index, double response_ratio) const {
    Queued entry{index, kUnlimited, {-response_ratio, 0}};
    if (options_.rest == SavableOptions::Rest::kFifo)
      entry.key = {planning_.task(index).submit_s, 0};
    if (options_.rest == SavableOptions::Rest::kArea) {
      const PlacementMenu& menu = planning_.menu(index);
      entry.key = {menu.all[menu.by_area.front()].area * planning_.state().progress(index).left, 0};
    }
    return entry;
  }

  // Not of promoted ones: whoever has waited for so long is served by that.
  Queued by_level(Queued entry) const {
    if (options_.rest == SavableOptions::Rest::kLevel)
      entry.key = {-static_cast<double>(planning_.task(entry.task).level), entry.key[0]};
    return entry;
  }

  void serve(const std::vector<Queued>& queue, Tier tier) {
    for (const Queued& entry : queue) {
      if (tier == Tier::kPromoted && quota_ < 1) return;
      // Promoted tasks come up twice.
      if (planning_.state().progress(entry.task).phase != TaskPhase::kWaiting) continue;
      auto choice = cheapest_fit(entry, tier);
      if (!choice) choice = make_room(entry, tier);
      if (!choice) {
        spare(entry, tier);
        continue;
      }
      if (tier == Tier::kPromoted) quota_ -= planning_.menu(entry.task).all[*choice].gpus;
      planning_.start(entry.task, *choice, tier == Tier::kPromoted);
      open_pools_ = planning_.state().free().open_pools();
      spared_.forget_room();
      pressure_ -= 1;
    }
  }

  // It waits: those that are served after it must not take the room that it has in time.
  void spare(const Queued& entry, Tier tier) {
    if (!keeps_gpus()) return;
    const TaskDigest& task = planning_.state().tasks().digest(entry.task);
    const double room_s = task.deadline_s - planning_.now_s() + kDeadlineTolerance_s;
    const bool savable = tier == Tier::kSavable || tier == Tier::kUrgent;
    if (savable && std::isfinite(room_s)) spared_.add(entry.task, std::min(entry.limit_s, room_s));
  }

  bool keeps_gpus() const { return options_.headroom > 0 || options_.calm > 0; }

  std::optional<ChoiceIndex> make_room(const Queued& entry, Tier tier) {
    if (!options_.preempts()) return std::nullopt;
    if (tier == Tier::kUrgent) return room_.make(entry.task, entry.limit_s);
    if (tier != Tier::kSavable) return std::nullopt;
    const double early_s = slack_s(entry) - options_.patience_s;
    if (early_s >= 0 && early_s >= room_.longest_notice_s()) return std::nullopt;
    return room_.make(entry.task, entry.limit_s, early_s);
  }

  // GPUs that stay free for tasks that may still come, whoever comes.
  std::int64_t kept(const Queued& entry, Tier tier) const {
    double share = 0;
    if (tier == Tier::kLate) share = options_.headroom;
    if (tier == Tier::kSavable && options_.calm > 0 && slack_s(entry) > kCalm_s)
      share = options_.calm;
    return static_cast<std::int64_t>(std::floor(share * total_gpus()));
  }

  // Because another task came a while ago.
  double keeps_until_s(TaskIndex task) const {
    return planning_.state().last_arrival_beside_s(task) + kRecent_s;
  }

  std::optional<ChoiceIndex> cheapest_fit(const Queued& entry, Tier tier) {
    const TaskDigest& task = planning_.state().tasks().digest(entry.task);
    if ((task.pools & open_pools_) == 0) return std::nullopt;
    const std::int64_t keeps = kept(entry, tier);
    const std::int64_t idle = planning_.idle();
    // It cannot take as few as are kept: it waits for somebody, or not at all.
    const bool large = keeps > 0 && task.least_gpus > keeps;
    const double until_s = keeps > 0 ? keeps_until_s(entry.task) : 0;
    const bool recent = planning_.now_s() < until_s;
    hurt_.reset();
    auto choice = cheapest_within(entry, tier, {recent ? idle - keeps : idle, large});
    if (!choice && large) choice = cheapest_within(entry, tier, {idle, large});
    if (!choice && hurt_) planning_.yield(entry.task, *hurt_);
    if (!choice && recent) kept_until_s_ = std::min(kept_until_s_, until_s);
    return choice;
  }

  // What a task may take now.
  struct Offer {
    std::int64_t gpus = 0;
    bool spares_others = false;  // not what would hurt one that waits
  };

  std::optional<ChoiceIndex> cheapest_within(const Queued& entry, Tier tier, const Offer& offer) {
    if (offer.gpus <= 0) return std::nullopt;
    const PlacementMenu& menu = planning_.menu(entry.task);
    if (tier == Tier::kUrgent) return first_fit(menu.by_cer, entry, offer);
    if (tier == Tier::kSavable) switch (options_.place) {
        case SavableOptions::Place::kCer:
          return first_fit(menu.by_cer, entry, offer);
        case SavableOptions::Place::kArea:
          return first_fit(menu.by_area, entry, offer);
        case SavableOptions::Place::kPerf:
          return first_fit(menu.by_lat, entry, offer);
        case SavableOptions::Place::kPrice:
          break;
      }
    return best_price(menu, entry, offer);
  }

  bool acceptable(const Queued& entry, const Choice& chosen, const Offer& offer) {
    return chosen.gpus <= offer.gpus && planning_.lat_s(entry.task, chosen) <= entry.limit_s &&
           planning_.fits(entry.task, chosen) && !(offer.spares_others && hurts(entry, chosen));
  }

  bool hurts(const Queued& entry, const Choice& chosen) {
    const auto hurt = spared_.hurt_by(entry.task, chosen);
    if (hurt) hurt_ = hurt;
    return hurt.has_value();
  }

  std::optional<ChoiceIndex> first_fit(const std::vector<ChoiceIndex>& order, const Queued& entry,
                                       const Offer& offer) {
    const std::vector<Choice>& all = planning_.menu(entry.task).all;
    for (const ChoiceIndex choice : order)
      if (acceptable(entry, all[choice], offer)) return choice;
    return std::nullopt;
  }

  // Equal prices: the smaller area.
  std::optional<ChoiceIndex> best_price(const PlacementMenu& menu, const Queued& entry,
                                        const Offer& offer) {
    std::optional<ChoiceIndex> best;
    double best_price = kUnlimited;
    for (const ChoiceIndex choice : menu.by_area) {
      const Choice& chosen = menu.all[choice];
      if (!may_fit(planning_.state().free(), planning_.task(entry.task), chosen)) continue;
      const double price =
          planning_.lat_s(entry.task, chosen) * (1 + (pressure_ / total_gpus()) * chosen.gpus);
      if (price >= best_price || !acceptable(entry, chosen, offer)) continue;
      best = choice;
      best_price = price;
    }
    return best;
  }

  Planning& planning_;
  const SavableOptions& options_;
  double margin_;
  RoomMaker room_;
  SparedTasks spared_;
  std::optional<TaskIndex> hurt_;  // by a placement that the task at hand could have
  std::vector<Queued> urgent_, promoted_, savable_, late_;
  std::uint64_t open_pools_ = 0;
  double pressure_ = 0;
  double quota_ = 0;                  // GPUs that promoted tasks may still take
  double kept_until_s_ = kUnlimited;  // when the first of those that wait gets what is kept
};

}  // namespace

void serve_savable_first(Planning& planning, const SavableOptions& options) {
  SavableFirst(planning, options).call();
}

}  // namespace slackline::core
