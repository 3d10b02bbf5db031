// RoomMaker: which running tasks stop so that one that is about to be lost can start
// (SavableFirst).
//
// Victims: runs that are not urgent, not promoted, may be preempted, have been so fewer than
// max_preempts times, and are protected no longer (protect; 60 s against an urgent preemptor). In
// order:
//
//   late        predicted to miss the deadline        by m x time since the start, least first
//   shrinkable  option `shrink`: still meets it on fewer GPUs of its first node
//                                                     most GPUs given up first
//   resumable   spare > gap x min(limit, base(asker)) + protect, where spare is what is left of its
//               deadline after a restart on its slowest placement
//                                                     most spare first
//
// then by id. For each placement of the preemptor in order of area (urgent: CER) within `limit`,
// victims are given back one by one until it fits; of those, the ones on its nodes are stopped or
// shrunk.
//
// Option `learn`: the end of a run and the work it keeps follow its observed speed, after its first
// minute, in place of the predicted one.
//
// Option `trade`: the loss of a stop decides (core/planning/lost_work.h). Late and resumable runs
// are ordered by it, least first. If they make no room for a task that is not urgent, one more
// victim is tried, with as many of them as needed:
//
//   traded      would meet its deadline, but still holds more GPU-seconds than the asker's cheapest
//               run needs, and can still meet it after a restart on its fastest placement: one
//               deadline is risked for another, and GPU time is won
//                                         the best few, by what is lost - held, least first
//
// Option `ends`: a run that is predicted to end within `protect` (60 s against an urgent preemptor)
// is no victim; one that is overdue is. So is one whose end has been near for that long already
// (PlanTask::near_end_since_s).
//
// Option `budget`: what the runs that are stopped for the tasks of a queue lose, within a day, is
// at most budget_share of the GPU time that the queue used in that day, or `budget` GPU-hours if
// that is more. A task that would exceed it is denied its room (Plan::denied_room). So that
// a few costly stops do not use it up, a task that is not urgent takes at most a small part of what
// is left at once; and of all placements, the one that costs least GPU time is cleared.
//
// While the pods of a victim end, nobody works on its GPUs: with `trade` their grace period counts
// as lost where victims and placements are chosen (PlanTask::grace_s), but nobody pays for it. A
// run whose grace period is above a minute is no victim of a task that cannot wait for so long, or
// whose limit (PlanTask::limit_s) would end it by then.
//
// Where queues have shares, no run is stopped of a queue that uses no more than it owns, for a task
// of another queue that would use more (stop_rules.h).
//
// A run may have to be told before it is stopped (PlanTask::notice_s): it is no victim of a task
// that could not wait for that. One that was told is promised to the asker: for that task it is the
// first victim, whatever the order, and for others it is none.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "planning.h"
#include "savable_options.h"

namespace slackline::core {

// For one call of the policy. The possible victims hardly depend on the preemptor: the list is made
// at its first use.
class RoomMaker {
 public:
  // Both must outlive it.
  RoomMaker(Planning& planning, const SavableOptions& options, double margin);

  // The placement that fits now, after its victims were stopped; nullopt, with no run stopped, if
  // there is none. O(placements x victims).
  // `early_s`: it need not make room for so long yet, but for runs that must be told that long
  // before; negative: it must.
  std::optional<ChoiceIndex> make(TaskIndex asker, double limit_s, double early_s = -1);
  // The longest notice that a run must be given.
  double longest_notice_s() { return notices().longest_s; }

 private:
  enum class Group { kLate, kShrinkable, kResumable };

  struct Victim {
    TaskIndex task;
    Group group;
    double key;
    double spare_s = 0;                   // of a resumable one
    std::optional<ChoiceIndex> shrunk{};  // what it goes on with
    PoolNode first_node = 0;
    int gpus = 0;          // on each of its nodes
    bool several = false;  // nodes
    bool risks_deadline = false;
  };
  using Victims = std::vector<Victim>;
  using Chosen = std::vector<const Victim*>;

  struct Trade {  // its key is that of the order of trades
    Victim victim;
    double held_gpu_s = 0;  // until its predicted end
  };

  // What does not depend on the asker.
  struct Known {
    // By pool, each in the order of victims: a run only makes room in its own pool.
    std::vector<Victims> by_pool;
    std::vector<std::size_t> gone;             // in each: were stopped since
    std::optional<std::vector<Trade>> trades;  // in their order; made at their first use
  };

  // Of the runs at the first use.
  struct Notices {
    double longest_s = 0;
    std::vector<TaskIndex> promised{};
  };

  struct Cleared {
    ChoiceIndex choice = 0;
    Chosen stopped{};
    double lost_gpu_s = 0;
    double gpu_s = 0;  // of the run, and lost
  };

  std::optional<ChoiceIndex> make_within_budget(TaskIndex asker, double limit_s);
  std::optional<ChoiceIndex> first_cleared(TaskIndex asker, double limit_s, double needed_s,
                                           const Victims& first);
  Victims told(TaskIndex asker, double needed_s);
  const Notices& notices();
  bool in_time(const Victim& victim, double most_notice_s, double most_grace_s);
  Victims trades(TaskIndex asker, double limit_s, double needed_s);
  const std::vector<Trade>& all_trades();
  Known& known(bool urgent);
  std::vector<Victims> gather(bool urgent) const;
  bool is_gone(const Victim& victim) const {
    return victim.task < stopped_.size() && stopped_[victim.task];
  }
  bool is_forbidden(const Victim& victim) const {
    return std::find(forbidden_.begin(), forbidden_.end(), victim.task) != forbidden_.end();
  }
  bool runs_in(const Victim& victim, PoolIndex pool) const {
    return state_.running_choice(victim.task).pool == pool;
  }
  std::optional<Victim> victim_of(TaskIndex index) const;
  Victim with_nodes(Victim victim) const;
  std::optional<ChoiceIndex> smaller_choice(TaskIndex index, double left) const;
  bool savable_after_stop(TaskIndex index) const;
  double slack_if_restarted_s(TaskIndex index, const Choice& choice, double left) const;
  double cheapest_gpu_s(TaskIndex asker, double limit_s) const;
  double work_s(TaskIndex index) const;
  double end_s(TaskIndex index) const;
  double stop_loss_gpu_s(TaskIndex index) const;
  double ending_gpu_s(TaskIndex index) const;
  double stop_cost_gpu_s(TaskIndex index) const;  // both: by this victims are chosen
  bool can_resume(const Victim& victim, double needed_s) const;
  std::optional<Chosen> allowed_in_the_way(TaskIndex asker, const Choice& wanted,
                                           const Victims& among, double needed_s,
                                           double most_notice_s, const Victims& first);
  std::optional<Chosen> in_the_way(TaskIndex asker, const Choice& wanted, const Victims& among,
                                   double needed_s, double most_notice_s, const Victims& first);
  bool leaves_the_rest(TaskIndex asker, const Choice& wanted, const Chosen& set) const;
  std::optional<Chosen> standing_on(const Choice& wanted, const EligibleNodes* eligible, int before,
                                    const Chosen& off) const;
  bool pay(TaskIndex asker, double cost_gpu_s);
  template <class Visit>
  void visit_nodes(const Victim& victim, const Visit& visit) const;
  void forget_stopped(PoolIndex pool, const Chosen& stopped);
  RoomGain gain_of(TaskIndex asker, const Choice& chosen, const Chosen& stopped) const;
  void send_off(const Victim& victim, TaskIndex asker, const RoomGain& gain);

  Planning& planning_;
  const PlanState& state_;
  const SavableOptions& options_;
  double margin_;
  std::array<std::optional<Known>, 2> known_;  // against others, against urgent preemptors
  std::vector<bool> stopped_;                  // by task; while runs are protected
  std::vector<TaskIndex> forbidden_;           // by disruption budgets, beside others; of one call
  bool budgets_forbade_ = false;               // any; of one call
  bool protected_alone_ = false;               // of those under budgets only who is enough alone
  std::vector<int> given_;                     // by node; all 0 between calls
  std::vector<PoolNode> widened_;              // nodes that got enough GPUs; of one call
  std::optional<std::vector<double>> budgets_left_gpu_s_;  // by queue
  bool denied_ = false;                                    // the asker's budget forbade a placement
  double early_s_ = -1;                                    // of make()
  std::optional<Notices> notices_;
};

}  // namespace slackline::core
