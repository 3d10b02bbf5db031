// What planning is asked with: the default GPU types, nothing learnt, and a policy that keeps no
// GPUs free, so that on a small cluster whatever fits starts.
#pragma once

#include <gtest/gtest.h>

#include "control/plan/planner.h"
#include "slackline/base/published.h"
#include "slackline/core/throughput/predictor.h"

namespace slackline::test {

class PlanningFixture : public testing::Test {
 protected:
  PlanningFixture() {
    control::Settings settings;
    settings.policy = *core::parse_policy("savable,headroom=0,calm=0");
    settings_.set(settings);
    options_.catalog = default_gpu_catalog();
    options_.settings = &settings_;
  }

  const Published<control::Known> known_{control::make_known({})};
  Published<control::Settings> settings_;
  control::PlannerOptions options_;
};

}  // namespace slackline::test
