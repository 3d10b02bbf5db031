#include "slackline/model/task_intent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline {
namespace {

using ::testing::ElementsAre;

TEST(TaskIntent, OfThePodWinsKeyByKey) {
  TaskIntent pod;
  pod.model = "bert";
  pod.problems = {"batch-size: \"many\""};
  TaskIntent job;
  job.model = "resnet50";
  job.batch_size = 256;
  job.gpu_types = {GpuType("A100")};
  job.problems = {"deadline: \"soon\""};
  const TaskIntent both = merge(pod, job);
  EXPECT_EQ(both.model, "bert");
  EXPECT_EQ(both.batch_size, 256);
  EXPECT_THAT(both.gpu_types, ElementsAre(GpuType("A100")));
  EXPECT_EQ(both.problems.size(), 2U);
}

TEST(TaskIntent, TreatsGpuTypesAndPlacementsAsOneKeyEach) {
  TaskIntent pod;
  pod.any_gpu_type = true;
  pod.placements = {{1, 4}};
  TaskIntent job;
  job.gpu_types = {GpuType("A100")};
  job.any_placement = true;
  const TaskIntent both = merge(pod, job);
  EXPECT_TRUE(both.any_gpu_type);
  EXPECT_TRUE(both.gpu_types.empty());
  EXPECT_FALSE(both.any_placement);
  EXPECT_THAT(both.placements, ElementsAre(Placement{1, 4}));
}

TEST(TaskIntent, IsKnownByItsModelElseByItsFamily) {
  TaskIntent trial;
  trial.family = "resnet";
  EXPECT_EQ(trial.workload(), std::nullopt) << "nothing can be predicted without a length";
  trial.batch_size = 256;
  trial.iterations = 1000;
  EXPECT_EQ(trial.workload(), "resnet");
  trial.mode = WorkloadMode::kInference;
  EXPECT_EQ(trial.workload(), "resnet:inference");
  trial.model = "resnet50";
  EXPECT_EQ(trial.workload(), "resnet50:inference");
}

TEST(Placement, IsWrittenNodesTimesGpus) {
  EXPECT_EQ(parse_placement("2x4").value(), (Placement{2, 4}));
  EXPECT_EQ((Placement{2, 4}).str(), "2x4");
  EXPECT_EQ((Placement{2, 4}).gpus(), 8);
  for (const char* text : {"", "4", "x4", "2x", "0x4", "2x-1", "2x4x1", "2X4", "65537x1", "axb"})
    EXPECT_FALSE(parse_placement(text).has_value()) << text;
}

}  // namespace
}  // namespace slackline
