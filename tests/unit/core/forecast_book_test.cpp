// The book has the rollout's forecasts, by name.
#include "slackline/core/planning/forecast_book.h"

#include <gtest/gtest.h>

#include "slackline/model/reason.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;

TEST(ForecastBook, TellsEverybodyWhatTheRolloutTells) {
  test::HandOverWorld world;
  world.add(a_node("gpu-1"));
  for (const char* name : {"a", "b", "c"})
    world.add(a_job(name).gpus(4).waiting());
  test::WorldPlanner planner(1);
  TaskMenus menus;
  Queue queue = make_queue(world.snapshot(), planner.options(world.now_s()), menus);
  const Policy policy = *parse_policy("savable,headroom=0,calm=0");
  std::vector<Uid> names;
  for (TaskIndex task = 0; task < queue.size(); ++task)
    names.push_back(queue.task(task).uid);
  const ForecastBook book(queue.state(), names, world.now_s(), policy);
  EXPECT_EQ(book.size(), 3U);
  EXPECT_EQ(book.made_s(), world.now_s());
  EXPECT_EQ(book.find(Uid("nobody")), nullptr);
  RolloutOptions options;
  options.resolution = 0.01;
  for (TaskIndex task = 0; task < queue.size(); ++task) {
    const Forecast* told = book.find(names[task]);
    ASSERT_NE(told, nullptr);
    const Forecast asked = rollout(queue.state(), world.now_s(), policy, {task}, options)[0];
    EXPECT_EQ(told->start_s.deciles, asked.start_s.deciles);
    EXPECT_EQ(told->finish_s.deciles, asked.finish_s.deciles);
  }
}

TEST(ForecastBook, IsEmptyWhereItWasStopped) {
  test::HandOverWorld world;
  world.add(a_node("gpu-1"));
  for (int i = 0; i < 100; ++i)
    world.add(a_job("job-" + std::to_string(i)).gpus(4).waiting());
  test::WorldPlanner planner(1);
  TaskMenus menus;
  const Queue queue = make_queue(world.snapshot(), planner.options(world.now_s()), menus);
  std::vector<Uid> names;
  for (TaskIndex task = 0; task < queue.size(); ++task)
    names.push_back(queue.task(task).uid);
  int asked = 0;
  const ForecastBook book(queue.state(), names, world.now_s(), *parse_policy("savable"),
                          [&] { return ++asked == 5; });
  EXPECT_EQ(book.size(), 0U);
  EXPECT_EQ(asked, 5) << "it goes on after it was told to stop";
}

class HandOverNewsTest : public testing::Test {
 protected:
  void settle(bool bind) {
    for (int round = 0; round < 10; ++round) {
      planner_.act(world_);
      world_.make_pods();
      if (bind) world_.bind();
    }
  }
  std::vector<const OwnWrite*> with_reason(std::string_view reason) {
    std::vector<const OwnWrite*> found;
    for (const OwnWrite& write : world_.performed)
      if (write.decision.reason == reason) found.push_back(&write);
    return found;
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
};

TEST_F(HandOverNewsTest, TheLastLiftOfAGangReleasesItsJob) {
  world_.add(a_node("gpu-1"));
  world_.add(a_node("gpu-2"));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  settle(true);
  std::vector<OwnerRef> released;
  for (const OwnWrite& write : world_.performed)
    if (const auto* lift = write.as<LiftGate>(); lift != nullptr && lift->releases)
      released.push_back(*lift->releases);
  ASSERT_EQ(released.size(), 1U) << "once, not for each pod";
  EXPECT_EQ(released[0].kind, "Job");
  EXPECT_EQ(released[0].name, "gang");
  EXPECT_TRUE(with_reason(reason::kNodesLost).empty());
}

TEST_F(HandOverNewsTest, WhyATaskComesBackIsOfTheVocabulary) {
  for (const std::string_view code : {kNodesLost, kNotBound})
    EXPECT_NE(find_reason(code), nullptr) << code;
}

TEST_F(HandOverNewsTest, APlanThatMovesSaysSo) {
  world_.add(a_node("gpu-1"));
  world_.add(a_job("mover").gpus(4).waiting());
  settle(false);
  world_.add(a_node("gpu-2"));
  world_.node("gpu-1").unschedulable = true;
  world_.pass(31);
  settle(true);
  EXPECT_FALSE(with_reason(reason::kNodesLost).empty());
}

}  // namespace
}  // namespace slackline::core
