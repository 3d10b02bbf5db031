// MoveAdvice: that running tasks should go on elsewhere, though nobody's turn has come: what it
// gains and what it costs. core/cluster/moves.h finds it; Events, queue rows and stops tell it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

enum class MoveCause : std::uint8_t {
  kSlow,        // the run itself is slower than predicted
  kFragmented,  // a task waits for whole nodes, and enough GPUs are free on many
};

std::string_view to_string(MoveCause cause);  // "slow", "fragmented"

struct MovedRun {
  ObjectKey task;
  std::vector<NodeName> from;  // each once
  std::vector<NodeName> to;    // each once; empty: once another task has ended
  double lost_gpu_s = 0;       // work done again and start-up

  friend bool operator==(const MovedRun&, const MovedRun&) = default;
};

struct MoveAdvice {
  MoveCause cause = MoveCause::kSlow;
  ObjectKey task;         // that gains
  double speed = 1;       // of a slow run, as a share of the predicted speed
  double gain_s = 0;      // it is expected to end (a slow run) or to start so much earlier
  double lost_gpu_s = 0;  // by all moves
  std::vector<MovedRun> moves;

  friend bool operator==(const MoveAdvice&, const MoveAdvice&) = default;
};

}  // namespace slackline
