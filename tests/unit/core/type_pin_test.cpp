// The node affinity that keeps a pod on the GPU type of its plan.
#include <gtest/gtest.h>

#include "slackline/core/handover/hand_over.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;

// AKS labels so: a vendor's name would let the pod go to any type.
TEST(TypePin, NeverNamesOnlyAVendor) {
  test::HandOverWorld world;
  test::WorldPlanner planner{1};
  const auto add = [&](const char* name, const char* type) {
    world.add(a_node(name)
                  .of(type, 4)
                  .label("accelerator", "amd")
                  .label("amd.com/gpu.product-name", type));
  };
  add("m1", "MI300X");
  add("m2", "MI325X");
  world.node("m2").unschedulable = true;
  world.add(a_job("train").gpus(4).waiting());
  planner.find_templates_fixed();
  ASSERT_TRUE(planner.settle(world, /*bind=*/true));
  const Pod& pod = world.pods().at({"default", "train-0"});
  ASSERT_TRUE(pod.constraints);
  ASSERT_EQ(pod.constraints->affinity_terms.size(), 1U);
  EXPECT_EQ(pod.constraints->affinity_terms[0][0].key, "amd.com/gpu.product-name");
}

}  // namespace
}  // namespace slackline::core
