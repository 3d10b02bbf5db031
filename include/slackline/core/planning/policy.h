// Policies: in which order waiting tasks are served, in which placement, and who makes room.
//
// A policy is one file in src/core/planning/policy and one line in its registry; it keeps no memory
// of its own (plan_state.h does). It is named
//     NAME[/VARIANT...][,option=value...]
// "fifo", "min-min/shrink", "savable-p/m", "savable-p,margin=0.2,order=slack".
//
//   fifo min-min weighted-fair capacity   strict; /shrink: fewer GPUs than asked for; /idle: the
//                                         fastest that fits (not capacity); fifo/skip: no block
//   tetris+perf tetris+cer                /fifo: in order of arrival, one that does not fit blocks
//   qos                                   000 section 4.2, literally; /skip, /yield
//   easy edf-easy                         by submit time, by deadline, with EASY backfill
//   reserve                               by deadline, with reservations; others beside them
//   savable savable-p                     SavableFirst without and with preemption; /m, /area
//   default                               savable-p with trade=on and learn=on, its margin
//                                         following the error of finished runs
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/core/planning/loss_accounts.h"

namespace slackline::core {

class Planning;

// One of a policy's options, and its value in effect.
struct PolicyOption {
  std::string_view name;
  std::string value;             // as it would be written
  std::string allowed;           // "a number from 0 to 1", "ratio or fifo or area"
  std::string_view description;  // with the unit
};

// What protects a run from being stopped.
struct StopLimits {
  double protect_s = 600;  // after its start, and before its predicted end
  int most_stops = 3;      // of one task
};

// How a policy decides, with its options. Immutable and thread-safe.
class PolicyRule {
 public:
  virtual ~PolicyRule() = default;

  virtual void serve(Planning& planning) const = 0;
  virtual bool preempts() const = 0;
  // It keeps GPUs for tasks that start later, by the ends of all runs.
  virtual bool reserves() const = 0;
  // What a queue may make others lose; nullopt: any.
  virtual std::optional<LossBudget> budget() const = 0;
  // nullopt: it stops nobody.
  virtual std::optional<StopLimits> stop_limits() const = 0;
  virtual std::vector<PolicyOption> options() const = 0;
};

struct Policy {
  std::string name;                        // as written
  std::string_view family;                 // its name in reports: without variants, "savable-first"
  std::shared_ptr<const PolicyRule> rule;  // never null where parse_policy made it

  // Whether a run that it started may be stopped again.
  bool preempts() const { return rule->preempts(); }
  bool reserves() const { return rule->reserves(); }
  std::optional<LossBudget> budget() const { return rule->budget(); }
  std::optional<StopLimits> stop_limits() const { return rule->stop_limits(); }
  // With their values in effect; empty where the policy takes none.
  std::vector<PolicyOption> options() const { return rule->options(); }
};

// kInvalidArgument names what is unknown and what is allowed.
Result<Policy> parse_policy(std::string_view text);

// Every NAME and NAME/VARIANT, in the order of the above table.
std::vector<std::string> policy_names();

}  // namespace slackline::core
