// How fast training tasks ran beside each other on one GPU of a type, as somebody measured it.
#pragma once

#include <string>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

// Two tasks by their index, first <= second, and the iterations/s of each beside the other. Both
// are 0 where the pair did not run.
struct MeasuredPair {
  int first = 0;
  int second = 0;
  double first_per_s = 0;
  double second_per_s = 0;

  bool ran() const { return first_per_s > 0 && second_per_s > 0; }
};

struct PairMeasurements {
  GpuType gpu_type;
  std::vector<std::string> tasks;     // each once
  std::vector<std::string> families;  // of each task: its name without the batch size
  std::vector<double> batch_sizes;    // of each task; 1 where its name has none
  std::vector<double> alone_per_s;    // iterations/s of each task alone, > 0
  std::vector<MeasuredPair> pairs;    // by (first, second), each once
};

}  // namespace slackline
