#include "make_room.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "slackline/core/deadline.h"

namespace slackline::core {
namespace {

constexpr double kLeastRun_s = 60;

enum class Group { kLate, kShrinkable, kResumable, kTraded };

struct Victim {
  TaskIndex task;
  Group group;
  double key;
  std::optional<ChoiceIndex> shrunk{};  // what it goes on with
};

class RoomMaker {
 public:
  RoomMaker(Planning& planning, const SavableOptions& options, double margin, TaskIndex asker,
            double limit_s)
      : planning_(planning),
        state_(planning.state()),
        options_(options),
        margin_(margin),
        asker_(asker),
        urgent_(planning.task(asker).qos == QosClass::kUrgent),
        limit_s_(limit_s) {}

  std::optional<ChoiceIndex> make() {
    gather();
    if (const auto choice = first_cleared()) return choice;
    for (const Victim& traded : trades_) {
      victims_.push_back(traded);
      if (const auto choice = first_cleared()) return choice;
      victims_.pop_back();
    }
    return std::nullopt;
  }

 private:
  void gather() {
    const double least_gpu_s = trade_above_gpu_s();
    for (const TaskIndex task : state_.running()) {
      if (!stoppable(task)) continue;
      if (const auto victim = victim_of(task))
        victims_.push_back(*victim);
      else if (const double held_gpu_s = still_held_gpu_s(task); held_gpu_s > least_gpu_s)
        trades_.push_back({task, Group::kTraded, lost_gpu_s(task) - held_gpu_s});
    }
    for (auto* victims : {&victims_, &trades_})
      std::sort(victims->begin(), victims->end(), [&](const Victim& a, const Victim& b) {
        return std::tuple(a.group, a.key, planning_.task(a.task).id) <
               std::tuple(b.group, b.key, planning_.task(b.task).id);
      });
  }

  // The asker's cheapest run: only a run that still holds more is traded for it. Infinity: none is.
  double trade_above_gpu_s() const {
    const PlacementMenu& menu = planning_.menu(asker_);
    if (options_.trade && resumable_too() && !urgent_)
      for (const ChoiceIndex choice : menu.by_area) {
        const double lat_s = planning_.lat_s(asker_, menu.all[choice]);
        if (lat_s <= limit_s_) return menu.all[choice].gpus * lat_s;
      }
    return std::numeric_limits<double>::infinity();
  }

  bool resumable_too() const {
    return options_.preempt == SavableOptions::Preempt::kResumableVictims;
  }

  double still_held_gpu_s(TaskIndex v) const {
    return state_.running_choice(v).gpus * (end_s(v) - planning_.now_s());
  }

  // Of the whole task where it runs, and when it ends.
  double work_s(TaskIndex v) const {
    return options_.learn ? state_.observed_work_s(v, planning_.now_s())
                          : state_.running_choice(v).work_s;
  }

  double end_s(TaskIndex v) const {
    return options_.learn ? state_.observed_end_s(v, planning_.now_s())
                          : state_.predicted_end_s(v, planning_.now_s());
  }

  // What a stop throws away: the work since the last checkpoint, and a restart.
  double lost_gpu_s(TaskIndex v) const {
    const Choice& o = state_.running_choice(v);
    const Run& run = state_.progress(v).run;
    const double left = state_.left_if_stopped(v, work_s(v), planning_.now_s());
    const double worked_s = std::max(0.0, planning_.now_s() - run.started_s - run.overhead_s);
    const double kept_s = (run.left - left) * work_s(v);
    return o.gpus * (worked_s - kept_s + planning_.task(v).restart_s);
  }

  std::optional<ChoiceIndex> first_cleared() {
    const PlacementMenu& menu = planning_.menu(asker_);
    if (victims_.empty()) return std::nullopt;
    for (const ChoiceIndex choice : urgent_ ? menu.by_cer : menu.by_area)
      if (planning_.lat_s(asker_, menu.all[choice]) <= limit_s_ && clear(menu.all[choice]))
        return choice;
    return std::nullopt;
  }

  bool stoppable(TaskIndex v) const {
    const TaskProgress& progress = state_.progress(v);
    const double protect_s = urgent_ || options_.trade ? kLeastRun_s : options_.protect_s;
    return planning_.task(v).preemptible && planning_.task(v).qos != QosClass::kUrgent &&
           !progress.run.promoted && progress.stops < options_.max_preempts &&
           planning_.now_s() - progress.run.started_s >= protect_s;
  }

  std::optional<Victim> victim_of(TaskIndex v) const {
    const PlanTask& task = planning_.task(v);
    const Choice& o = state_.running_choice(v);
    const double now_s = planning_.now_s();
    if (end_s(v) > task.deadline_s + kDeadlineTolerance_s)
      return Victim{v, Group::kLate, options_.trade ? lost_gpu_s(v) : used_gpu_s(v)};
    if (!resumable_too()) return std::nullopt;
    const double left = state_.left_if_stopped(v, work_s(v), now_s);
    if (const auto smaller = smaller_choice(v, left))
      return Victim{v, Group::kShrinkable,
                    static_cast<double>(planning_.menu(v).all[*smaller].gpus - o.gpus), smaller};
    const Choice& slow = planning_.menu(v).all[planning_.menu(v).slow];
    const double spare_s = task.deadline_s - now_s - task.restart_s - slow.work_s * left;
    const double needed_s =
        options_.gap * std::min(limit_s_, planning_.menu(asker_).base_s) + options_.protect_s;
    if (spare_s > needed_s)
      return Victim{v, Group::kResumable, options_.trade ? lost_gpu_s(v) : -spare_s};
    return std::nullopt;
  }

  double used_gpu_s(TaskIndex v) const {
    return state_.running_choice(v).gpus * (planning_.now_s() - state_.progress(v).run.started_s);
  }

  // On the first node of its list, with fewer GPUs, and still in time.
  std::optional<ChoiceIndex> smaller_choice(TaskIndex v, double left) const {
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

  // Makes `wanted` fit by stopping victims in order; false, with nobody stopped, where it cannot.
  bool clear(const Choice& wanted) {
    const EligibleNodes& eligible = planning_.task(asker_).eligible;
    FreeGpus trial = state_.free();
    for (std::size_t given = 0; given < victims_.size(); ++given) {
      give_back(trial, victims_[given]);
      if (!trial.fits(wanted.pool, wanted.shape, eligible)) continue;
      const std::vector<PoolNode> found = trial.find(wanted.pool, wanted.shape, eligible);
      for (std::size_t i = 0; i <= given; ++i)
        if (stands_on(victims_[i].task, wanted.pool, found)) send_off(victims_[i]);
      return true;
    }
    return false;
  }

  void give_back(FreeGpus& trial, const Victim& victim) const {
    const Choice& o = state_.running_choice(victim.task);
    const std::vector<PoolNode>& nodes = state_.progress(victim.task).run.nodes;
    trial.give_back(o.pool, nodes, o.shape.d_gpn);
    if (victim.shrunk)
      trial.take(o.pool, {nodes.front()}, state_.choice(victim.task, *victim.shrunk).shape.d_gpn);
  }

  bool stands_on(TaskIndex v, PoolIndex pool, const std::vector<PoolNode>& found) const {
    if (state_.running_choice(v).pool != pool) return false;
    const std::vector<PoolNode>& nodes = state_.progress(v).run.nodes;
    return std::find_first_of(nodes.begin(), nodes.end(), found.begin(), found.end()) !=
           nodes.end();
  }

  void send_off(const Victim& victim) {
    if (victim.shrunk)
      planning_.shrink(victim.task, *victim.shrunk);
    else
      planning_.stop(victim.task);
  }

  Planning& planning_;
  const PlanState& state_;
  const SavableOptions& options_;
  double margin_;
  TaskIndex asker_;
  bool urgent_;
  double limit_s_;
  std::vector<Victim> victims_;
  std::vector<Victim> trades_;
};

}  // namespace

std::optional<ChoiceIndex> make_room(Planning& planning, const SavableOptions& options,
                                     double margin, TaskIndex asker, double limit_s) {
  return RoomMaker(planning, options, margin, asker, limit_s).make();
}

}  // namespace slackline::core
