// eventually: waits for what another thread, or another process, is about to do; patient: how long
// that may take here.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <sys/sysinfo.h>

#include "slackline/base/clock.h"

namespace slackline::test {

// By how much this build on this machine is slower than the one for which the limits were tried
// (asan-ubsan): processor time of a short fixed piece of work against the recorded one, and its
// time on the clock against its processor time. Measured once for each program of tests, which
// prints it.
inline double measured_slowness() {
  static const double measured = [] {
    constexpr double kRecorded_s = 0.0055;
    const auto spent_s = [] {
      timespec now{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
      return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    };
    const double began_s = system_clock().steady_s();
    const double before_s = spent_s();
    double least_s = 1e9;
    for (int round = 0; round < 10; ++round) {
      const double round_s = spent_s();
      std::array<unsigned, 4096> numbers{1};
      for (std::size_t i = 1; i < 64 * numbers.size(); ++i)
        numbers[i % numbers.size()] = numbers[(i - 1) % numbers.size()] * 1664525U + 1013904223U;
      if (numbers[0] == 0) std::abort();  // never; the work is not to be left out
      least_s = std::min(least_s, spent_s() - round_s);
    }
    const double speed = least_s / kRecorded_s;
    const double contention = (system_clock().steady_s() - began_s) / (spent_s() - before_s);
    std::printf(
        "limits of waiting: %.1f times the recorded processor time, %.1f of it on the clock\n",
        speed, contention);
    return std::max(1.0, speed) * std::max(1.0, contention);
  }();
  return measured;
}

// A limit of waiting, or a bound of a duration, as it is here and now: 1 to 6 times as long. The
// load is read anew each time, because compilers beside the tests come and go; by sysinfo(2) and
// not getloadavg(3), which opens a file: tests that leave no file descriptor free wait, too.
inline double patient(double limit_s) {
  static const double cores = std::max(1U, std::thread::hardware_concurrency());
  struct sysinfo system{};
  ::sysinfo(&system);
  const double load = static_cast<double>(system.loads[0]) / (1 << SI_LOAD_SHIFT) / cores;
  return limit_s * std::clamp(std::max(load, measured_slowness()), 1.0, 6.0);
}

inline std::chrono::milliseconds patient(std::chrono::milliseconds limit) {
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(1000 * patient(1e-3 * static_cast<double>(limit.count()))));
}

// Whether the condition became true within the limit.
template <class Condition>
bool eventually(const Condition& condition, double limit_s = 20) {
  const double began_s = system_clock().steady_s();
  while (!condition()) {
    if (system_clock().steady_s() - began_s > patient(limit_s)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace slackline::test
