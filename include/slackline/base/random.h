// Random numbers that are the same on every platform: SplitMix64, and distributions made of IEEE
// additions, multiplications, divisions and square roots alone (libm may differ in the last bit).
//
// One generator is one stream: the order of draws is part of the caller's contract.
#pragma once

#include <cstdint>
#include <span>

namespace slackline {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();                  // 64 of them
  double uniform();                      // [0, 1), 53 bits
  double uniform(double a, double b);    // [a, b)
  double exponential(double mean);       // by inverse transform
  double normal();                       // mean 0, variance 1; polar method
  std::uint64_t index(std::uint64_t n);  // 0 .. n-1, unbiased; n > 0
  // 0 .. weights.size()-1, each as often as its weight says; the weights are not negative and not
  // all 0.
  std::size_t weighted(std::span<const double> weights);

 private:
  std::uint64_t state_;
};

// Natural logarithm of a positive normal double, within 2 units in the last place of the true one.
double portable_log(double x);

}  // namespace slackline
