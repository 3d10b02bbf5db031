// Placement: the shape of a task, d_node nodes with d_gpn GPUs on each (000 eq 3), written "2x4".
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline {

struct Placement {
  int d_node = 1;
  int d_gpn = 1;

  int gpus() const { return d_node * d_gpn; }
  std::string str() const;
  friend auto operator<=>(const Placement&, const Placement&) = default;
};

// "2x4"; both factors 1..65536.
Result<Placement> parse_placement(std::string_view text);

}  // namespace slackline
