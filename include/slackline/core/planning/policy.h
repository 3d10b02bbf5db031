// Policies: in which order waiting tasks are served, in which placement, and who makes room.
//
// A policy is one file in src/core/planning/policy and one line in its registry; it keeps no memory
// of its own (plan_state.h does). It is named
//     NAME[/VARIANT...][,option=value...]
// "fifo", "min-min/shrink", "savable-p/m", "savable-p,margin=0.2,order=slack".
//
//   fifo min-min weighted-fair capacity   strict; /shrink: fewer GPUs than asked for; /idle: the
//                                         fastest that fits (not capacity)
//   tetris+perf tetris+cer                /fifo: in order of arrival, one that does not fit blocks
//   qos                                   000 section 4.2, literally; /skip, /yield
//   savable savable-p                     SavableFirst without and with preemption; /m, /area
//   default                               savable-p with trade=on and learn=on, its margin
//                                         following the error of finished runs
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::core {

// How many GPUs a baseline gives to a task that names a number.
enum class Counting { kAsAsked, kShrink, kIdle };

// What happens when the next task in order cannot start.
enum class Blocked {
  kEnds,   // no task behind it is served
  kSkips,  // the next one is tried
  kYields  // as kSkips, and tasks beyond rescue go last
};

// SavableFirst (docs/study/policies.md); in brackets the option's name.
struct SavableOptions {
  enum class Preempt { kNever, kLateVictims, kResumableVictims };  // 0, 1, 2
  enum class Place { kPrice, kCer, kArea, kPerf };                 // of savable tasks
  enum class Order { kDeadline, kArea, kSlack, kClass };           // of savable tasks
  enum class Rest { kRatio, kFifo, kArea };                        // order of late tasks

  double p0 = 0.4;            // price of a GPU when nobody waits
  double age = 8;             // a late task is promoted after age x base + floor
  double floor_s = 7200;      // [floor]
  double share = 0.125;       // of the GPUs that promoted tasks may hold
  double headroom = 0;        // share of the GPUs kept free from late tasks
  double calm = 0;            // the same, from savable tasks with more than an hour of slack
  double margin = 0;          // inflation of predicted times
  bool follow_error = false;  // [margin=auto] 1.5 x the model's measured error, at most 0.3
  Preempt preempt = Preempt::kNever;
  double patience_s = 300;  // [patience] a savable task asks for room when its slack is below
  double gap = 0.75;        // what a victim must have in reserve, in run times of the preemptor
  double protect_s = 600;   // [protect] no run is stopped before, and a victim's extra reserve
  int max_preempts = 3;     // of one task
  double tick_s = 60;       // [tick] planned again while a task waits; 0 = not
  bool shrink = false;      // shrink victims rather than stop them
  bool learn = false;       // the observed speed of a run corrects its predicted end
  bool trade = false;  // stop the run that loses least work, and one deadline for a cheaper one
  Place place = Place::kPrice;
  Order order = Order::kDeadline;
  Rest rest = Rest::kRatio;

  bool preempts() const { return preempt != Preempt::kNever; }
};

struct PolicyOptions {
  Counting counting = Counting::kAsAsked;
  bool in_order = false;  // tetris/fifo
  Blocked blocked = Blocked::kEnds;
  SavableOptions savable;
};

class Planning;

struct Policy {
  std::string name;         // as written
  std::string_view family;  // its name in reports: without variants, "savable-first"
  void (*serve)(Planning& planning, const PolicyOptions& options) = nullptr;
  PolicyOptions options;

  // Whether a run that it started may be stopped again.
  bool preempts() const { return options.savable.preempts(); }
};

// kInvalidArgument names what is unknown and what is allowed.
Result<Policy> parse_policy(std::string_view text);

// Every NAME and NAME/VARIANT, in the order of the above table.
std::vector<std::string> policy_names();

}  // namespace slackline::core
