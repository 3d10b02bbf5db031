// Random numbers that are the same on every machine: SplitMix64, and Marsaglia's polar method for
// normal ones (no library function but sqrt and log).
#pragma once

#include <cstdint>

namespace slackline::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  double uniform();  // [0, 1), 53 bits
  double normal();   // mean 0, deviation 1

 private:
  std::uint64_t state_;
};

}  // namespace slackline::sim
