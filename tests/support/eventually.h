// eventually: waits for what another thread, or another process, is about to do.
#pragma once

#include <chrono>
#include <thread>

#include "slackline/base/clock.h"

namespace slackline::test {

// Whether the condition became true within the limit.
template <class Condition>
bool eventually(const Condition& condition, double limit_s = 20) {
  const double until_s = system_clock().steady_s() + limit_s;
  while (!condition()) {
    if (system_clock().steady_s() > until_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace slackline::test
