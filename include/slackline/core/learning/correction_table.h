// CorrectionTable: how much longer tasks take than was predicted, by where they ran and in which
// state the node was. It stands for the learned scorer of paper 001 (LDWP) where there is little
// data, and learns what a prediction does not know: a type that is slow for a family, what
// neighbours and lack of memory cost.
//
// One entry for each key, from coarse to fine:
//   (family, node type)
//   (family, node type, whether memory is short)
//   (family, node type, whether memory is short, min(3, floor(3 x busy share)))
//
// A finished task adds e = ln(observed / predicted) to each: S = 0.995 S + e, n = 0.995 n + 1. The
// correction is summed from coarse to fine, each entry shrunk towards the ones before it:
//   v = 0; for k: v += (S_k - n_k v) / (n_k + 5);   clamped to [ln 0.33, ln 6]
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>

namespace slackline::core {

class CorrectionTable {
 public:
  static constexpr double kLeastFactor = 0.33;
  static constexpr double kMostFactor = 6;

  // When the task was placed.
  struct Circumstances {
    std::string family;
    std::string node_type;
    bool memory_short = false;
    double busy_share = 0;  // of the node's GPUs, 0..1
  };

  // From placement to the end; both > 0, in one unit.
  void observe(const Circumstances& placed, double observed, double predicted);
  // ln of the factor by which a prediction is to be multiplied; 0 where nothing is known.
  double log_factor(const Circumstances& placed) const;

 private:
  static constexpr int kAny = -1;

  struct Entry {
    double sum = 0;
    double count = 0;
  };
  using Key = std::tuple<std::string, std::string, int, int>;  // memory and busy may be kAny

  static std::array<Key, 3> keys_of(const Circumstances& placed);

  std::map<Key, Entry> entries_;
};

}  // namespace slackline::core
