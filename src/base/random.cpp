#include "slackline/base/random.h"

#include <cmath>
#include <numbers>

namespace slackline {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

double Random::uniform() {
  return static_cast<double>(next() >> 11U) * 0x1.0p-53;
}

double Random::uniform(double a, double b) {
  return a + (b - a) * uniform();
}

double Random::exponential(double mean) {
  return -mean * portable_log(1.0 - uniform());  // the argument is never 0
}

double Random::normal() {
  for (;;) {
    const double u = uniform(-1, 1);
    const double v = uniform(-1, 1);
    const double s = u * u + v * v;
    if (s > 1e-300 && s < 1) return u * std::sqrt(-2 * portable_log(s) / s);
  }
}

std::uint64_t Random::index(std::uint64_t n) {
  const std::uint64_t biased = (0 - n) % n;  // the lowest values would come up once more often
  for (;;) {
    const std::uint64_t draw = next();
    if (draw >= biased) return draw % n;
  }
}

std::size_t Random::weighted(std::span<const double> weights) {
  double total = 0;
  for (const double weight : weights)
    total += weight;
  double at = uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    if (at < weights[i]) return i;
    at -= weights[i];
    last = i;
  }
  return last;  // rounding carried it past the end
}

double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < std::numbers::sqrt2 / 2) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 atanh(z), |z| < 0.172: twelve terms leave less than 1e-19.
  const double z = (mantissa - 1) / (mantissa + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int k = 12; k >= 1; --k)
    sum = (sum + 1.0 / (2 * k + 1)) * z2;
  return 2 * z * (1 + sum) + exponent * std::numbers::ln2;
}

}  // namespace slackline
