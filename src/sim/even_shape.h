// The shape of a task of which only the number of GPUs is known.
#pragma once

#include "slackline/model/placement.h"

namespace slackline::sim {

// As many GPUs on each of as few nodes as there can be, at most `most` on one.
inline Placement even_shape(int gpus, int most) {
  int nodes = (gpus + most - 1) / most;
  while (gpus % nodes != 0)
    ++nodes;
  return {nodes, gpus / nodes};
}

}  // namespace slackline::sim
