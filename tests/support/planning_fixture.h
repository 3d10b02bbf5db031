// What planning is asked with: the default GPU types, nothing learnt, and a policy that keeps no
// GPUs free, so that on a small cluster whatever fits starts.
#pragma once

#include <gtest/gtest.h>

#include "control/plan/planner_loop.h"
#include "slackline/core/throughput/predictor.h"

namespace slackline::test {

class PlanningFixture : public testing::Test {
 protected:
  PlanningFixture() {
    control::Settings settings;
    settings.policy = *core::parse_policy("savable,headroom=0,calm=0");
    settings_.publish(settings);
    options_.catalog = default_gpu_catalog();
    options_.settings = &settings_;
  }

  const control::KnownBoard board_;
  control::SettingsBoard settings_;
  control::PlannerOptions options_;
};

}  // namespace slackline::test
