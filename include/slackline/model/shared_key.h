// SharedKey: a key that all replicas have, and since when.
#pragma once

#include <string>

namespace slackline {

struct SharedKey {
  double made_s = 0;  // epoch seconds, by the clock of the replica that made it
  std::string bytes;

  friend bool operator==(const SharedKey&, const SharedKey&) = default;
};

}  // namespace slackline
