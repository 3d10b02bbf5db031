// The deep Q-network of paper 001 (LDWP) as a policy of the preset `paper001`: it learns what a
// decision is worth from rewards, and not how long things take.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/presets/dispatch_run.h"

namespace slackline::sim {

enum class DqnKind {
  kPaper,   // an output a node (256-128), plain steps of 0.1, gamma 0.8, reward: the change of the
            // throughput until the next decision
  kAdam,    // the same network by Adam; reward: -ln response time
  kNow,     // and gamma 0: the reward of the decision alone
  kShared,  // one output for all nodes, each known by what it has (64-32); else as kAdam
  kSharedNow,
};

class DqnDispatcher {
 public:
  DqnDispatcher(DqnKind kind, std::uint64_t seed);
  ~DqnDispatcher();

  // Learns from every decision, and makes fewer and fewer of them at random.
  DispatchPolicy learning();
  // With what was learnt by now.
  DispatchPolicy fixed();

 private:
  class Learner;
  std::shared_ptr<Learner> learner_;
};

}  // namespace slackline::sim
