// Whose GPUs a start is on decides the band of its pods.
#include <map>

#include "slackline/core/handover/begin_starts.h"
#include "support/share_world.h"

namespace slackline::core {
namespace {

using test::kSharedAt_s;

class BandsTest : public test::ShareWorld {
 protected:
  // By Job, of those that the plan starts.
  std::map<std::string, std::string> bands() {
    Queue found = queue();
    auto admission = std::make_shared<PodAdmission>();
    admission->bands = classes_;
    snapshot_.admission = admission;
    PlanStamp stamp;
    const Plan made = plan(found.state(), kSharedAt_s, *parse_policy("default"));
    std::map<std::string, std::string> bands;
    for (const OwnWrite& write :
         begin_starts(snapshot_, {}, found, made, catalog_, stamp, 0, kSharedAt_s))
      if (const auto* release = write.as<ReleaseJob>()) {
        bands[write.target.key.name] = release->plan->band;
        EXPECT_EQ(release->shape.band, release->plan->band);
      }
    return bands;
  }

  using Bands = std::map<std::string, std::string>;
  std::map<std::string, std::int32_t> classes_ = {
      {"private-5", 150}, {"public-5", 50}, {"public-6", 60}, {"public-10", 100}};
};

TEST_F(BandsTest, ATaskOnItsQueuesOwnGpusIsPrivate) {
  waits("v0", "vision", 4, 0);
  waits("v1", "vision", 4, 1);
  waits("t0", "text", 4, 2);
  waits("o0", "other", 2, 3);
  EXPECT_EQ(bands(), (Bands{{"v0", "private-5"},
                            {"v1", "public-5"},  // two of them are borrowed
                            {"t0", "private-5"},
                            {"o0", "public-5"}}));
}

TEST_F(BandsTest, WhatThePlanStopsLeavesItsShare) {
  runs("v0", "vision", 4, "n1", -100);
  runs("v1", "vision", 4, "n2", -99);
  runs("v2", "vision", 4, "n3", -98);
  runs("o0", "other", 4, "n4", -97);
  waits("t0", "text", 4, 0);
  EXPECT_EQ(bands(), (Bands{{"t0", "private-5"}}));
}

TEST_F(BandsTest, EachStopRaisesIt) {
  cluster_.with(test::in_queue("once", "other", 0).gpus(1).stopped(1, kSharedAt_s - 900).waiting());
  cluster_.with(
      test::in_queue("often", "other", 1).gpus(1).stopped(7, kSharedAt_s - 900).waiting());
  EXPECT_EQ(bands(), (Bands{{"once", "public-6"}, {"often", "public-10"}}));
}

TEST_F(BandsTest, WithoutTheClassesThereIsNone) {
  classes_.erase("private-5");
  waits("v0", "vision", 4, 0);
  waits("o0", "other", 2, 3);
  EXPECT_EQ(bands(), (Bands{{"v0", ""}, {"o0", "public-5"}}));
}

TEST_F(BandsTest, AClassThatThePersonChoseStays) {
  cluster_.with(test::in_queue("v0", "vision", 0).gpus(4).of_class("batch").waiting());
  EXPECT_EQ(bands(), (Bands{{"v0", ""}}));
}

}  // namespace
}  // namespace slackline::core
