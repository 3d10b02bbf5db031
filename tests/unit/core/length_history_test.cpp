// Run times from a family's own past: after the model and what people state, before any default.
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "slackline/core/cluster/placement_table.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"
#include "support/hand_over_world.h"
#include "support/portrait_runs.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

class LengthHistoryTest : public testing::Test {
 protected:
  // Two GPUs of a T4, `hours[i]` each.
  static std::shared_ptr<const PortraitBook> past_of(const std::vector<double>& hours,
                                                     const char* type = "T4", int gpus = 2) {
    Portrait portrait;
    portrait.identity.department = "default";
    portrait.identity.family = "nightly";
    int night = 0;
    for (const double each : hours) {
      PortraitRun run = test::a_run(++night);
      run.gpu_type = GpuType(type);
      run.shape = run.asked = {1, gpus};
      run.run_s = 3600 * each;
      add_run(portrait, run);
    }
    PortraitBook book;
    book.portraits[portrait_key(portrait.identity)] = std::make_shared<const Portrait>(portrait);
    return std::make_shared<const PortraitBook>(std::move(book));
  }
  static test::JobBuilder nightly() {
    auto job = a_job("tonight").gpus(2).waiting();
    job.intent().family = "nightly";
    return job;
  }
  Queue queue(const ClusterSnapshot& snapshot) {
    QueueOptions options = planner_.options(0);
    options.portraits = portraits_;
    options.foresee = true;
    return make_queue(snapshot, options, menus_);
  }
  static const Choice& fastest(const Queue& queue, TaskIndex task = 0) {
    return queue.state().tasks()[task].menu->fastest();
  }

  test::WorldPlanner planner_{3};
  TaskMenus menus_;
  std::shared_ptr<const PortraitBook> portraits_ = past_of({5, 6, 7});
};

TEST_F(LengthHistoryTest, ATaskRunsAsLongAsItsFamilyDid) {
  const Queue found = queue(a_cluster().with(a_node("n1").of("T4", 4)).with(nightly()).build());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.task(0).length, LengthSource::kHistory);
  EXPECT_TRUE(found.task(0).length_known());
  EXPECT_FALSE(found.task(0).length_is_told()) << "no run is called slow by it";
  EXPECT_NEAR(fastest(found).lat_s, 6 * 3600, 1);
  EXPECT_NEAR(fastest(found).error, std::log(5) / 1.645, 1e-9) << "three runs earn no interval";
}

// Its past is that of the whole Job.
TEST_F(LengthHistoryTest, APodOfManyDoesNotRunAsLongAsAllOfThemDid) {
  auto folds = nightly().of(1, 10).limited(86400);
  const Queue found = queue(a_cluster().with(a_node("n1").of("T4", 4)).with(folds).build());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found.task(0).opens);
  EXPECT_NE(found.task(0).length, LengthSource::kHistory);
}

TEST_F(LengthHistoryTest, TheIntervalIsAsWideAsItIsEarned) {
  portraits_ =
      past_of({6, 6.1, 5.9, 6, 6.2, 5.8, 6, 6.1, 5.9, 6, 6, 6.1, 5.9, 6, 6.2, 5.8, 6, 6.1, 5.9, 6});
  const Queue found = queue(a_cluster().with(a_node("n1").of("T4", 4)).with(nightly()).build());
  EXPECT_GT(fastest(found).error, 0);
  EXPECT_LT(fastest(found).error, 0.05);
}

TEST_F(LengthHistoryTest, WhatPeopleStateComesFirst) {
  auto job = nightly();
  job.intent().expected_duration_s = 600;
  const Queue found = queue(a_cluster().with(a_node("n1").of("T4", 4)).with(job).build());
  EXPECT_EQ(found.task(0).length, LengthSource::kStated);
  EXPECT_DOUBLE_EQ(fastest(found).lat_s, 600);
}

// The same person, image and request under another name.
TEST_F(LengthHistoryTest, ANewFamilyRunsAsLongAsWhatItsSubmitterRanBefore) {
  auto book = std::make_shared<PortraitBook>(*past_of({5, 6, 7}));
  auto known = std::make_shared<Portrait>(*book->portraits.begin()->second);
  known->identity.submitter = "jane";
  known->identity.image = "net:v1";
  book->portraits.begin()->second = known;
  book->renew_indexes();
  PortraitIdentity mine;
  mine.department = "default";
  mine.owner = "sweep";
  mine.image = "net:v1";
  mine.submitter = "jane";
  const auto length_of = [&](PortraitIdentity identity, Placement asked) {
    return book->find_same(identity, asked) == known;
  };
  EXPECT_TRUE(length_of(mine, {1, 2}));
  EXPECT_FALSE(length_of(mine, {1, 4})) << "another request";
  for (std::string* part : {&mine.submitter, &mine.image, &mine.department}) {
    const std::string before = std::exchange(*part, "other");
    EXPECT_FALSE(length_of(mine, {1, 2})) << before;
    *part = before;
  }
  mine.submitter.clear();
  EXPECT_FALSE(length_of(mine, {1, 2})) << "nobody proved who it is";
}

// Two Jobs under names of their own, nobody having proved whose they are.
TEST_F(LengthHistoryTest, WithoutAWebhookTheSameImageAndRequestRecur) {
  auto book = std::make_shared<PortraitBook>(*past_of({5, 6, 7}));
  auto known = std::make_shared<Portrait>(*book->portraits.begin()->second);
  known->identity.family.clear();
  known->identity.owner = "exp-16";
  known->identity.image = "net:v1";
  book->portraits = {{portrait_key(known->identity), known}};
  book->renew_indexes();
  portraits_ = book;
  const auto length_of = [&](const test::JobBuilder& job) {
    return queue(a_cluster().with(a_node("n1").of("T4", 4)).with(job).build()).task(0).length;
  };
  const auto mine = [] { return a_job("exp-17").gpus(2).waiting().image("net:v1"); };
  EXPECT_EQ(length_of(mine()), LengthSource::kHistory);
  EXPECT_EQ(length_of(mine().image("net:v2")), LengthSource::kSimilar);
  EXPECT_EQ(length_of(mine().gpus(4)), LengthSource::kUnknown) << "another request";
  const Job job = mine().build();
  EXPECT_EQ(core::past_of(book.get(), &job).portrait, known);
  EXPECT_EQ(family_of(book.get(), &job), nullptr) << "nothing is resized by runs of who knows whom";
}

// Families of other names: what is borrowed is never narrower than what is assumed without a
// record.
TEST_F(LengthHistoryTest, AFirstRunBorrowsTheTimeOfTheNearestFamily) {
  auto book = std::make_shared<PortraitBook>(*past_of(std::vector<double>(20, 6.0)));
  auto known = std::make_shared<Portrait>(*book->portraits.begin()->second);
  known->identity.family.clear();
  known->identity.owner = "big";
  known->identity.model = "ournet1";
  book->portraits = {{portrait_key(known->identity), known}};
  book->renew_indexes();
  portraits_ = book;
  const auto task_of = [&](const test::JobBuilder& job) {
    return queue(a_cluster().with(a_node("n1").of("T4", 4)).with(job).build());
  };
  const auto first = [](const char* model) {
    auto job = a_job("first").gpus(2).waiting();
    job.intent().model = model;
    return job;
  };
  const Queue found = task_of(first("ournet2"));
  EXPECT_EQ(found.task(0).length, LengthSource::kSimilar);
  EXPECT_FALSE(found.task(0).length_is_told()) << "no run is called slow by it";
  EXPECT_NEAR(fastest(found).lat_s, 6 * 3600, 1);
  EXPECT_NEAR(fastest(found).error, std::log(5) / 1.645, 1e-9) << "it has not earned less";
  EXPECT_EQ(task_of(first("theirs")).task(0).length, LengthSource::kUnknown) << "nothing in common";
  const Job job = first("ournet2").build();
  Job elsewhere = job;
  elsewhere.key.ns = "other";
  EXPECT_EQ(core::past_of(book.get(), &elsewhere).portrait, nullptr);
  EXPECT_EQ(family_of(book.get(), &job), nullptr) << "nothing is resized by it";

  auto own = std::make_shared<Portrait>();
  own->identity = identity_of(job);
  PortraitRun run = test::a_run(1);
  run.gpu_type = GpuType("T4");
  run.shape = run.asked = {1, 2};
  run.run_s = 3600;
  add_run(*own, run);
  book->portraits[portrait_key(own->identity)] = own;
  book->renew_indexes();
  const Queue second = task_of(first("ournet2"));
  EXPECT_EQ(second.task(0).length, LengthSource::kHistory) << "it has a past of its own";
  EXPECT_NEAR(fastest(second).lat_s, 3600, 1);
}

TEST_F(LengthHistoryTest, AFamilyWithoutAPastIsUnknown) {
  const auto other = a_job("other").gpus(2).waiting();
  const auto snapshot = a_cluster().with(a_node("n1").of("T4", 4)).with(other).build();
  const Queue found = queue(snapshot);
  EXPECT_EQ(found.task(0).length, LengthSource::kUnknown);
  EXPECT_DOUBLE_EQ(fastest(found).lat_s, kUnknownRun_s);
  portraits_ = nullptr;
  EXPECT_EQ(queue(snapshot).task(0).length, LengthSource::kUnknown);
}

TEST_F(LengthHistoryTest, OnATypeThatItNeverRanOnItsLastRunIsAnUncertainGuess) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1").of("T4", 4))
                            .with(a_node("n2").of("A100", 4))
                            .with(nightly())
                            .build();
  const Queue found = queue(snapshot);
  const PlacementMenu& menu = *found.state().tasks()[0].menu;
  ASSERT_EQ(menu.all.size(), 2U) << "it may run on both";
  for (const Choice& choice : menu.all) {
    EXPECT_NEAR(choice.lat_s, 6 * 3600, 1);
    const bool known = found.pools()[choice.pool].pool.type == GpuType("T4");
    EXPECT_NEAR(choice.error, known ? std::log(5) / 1.645 : kUnknownError, 1e-9);
  }
}

TEST_F(LengthHistoryTest, AnotherEndOfItsRunsChangesWhatIsExpected) {
  const auto snapshot = a_cluster().with(a_node("n1").of("T4", 4)).with(nightly()).build();
  EXPECT_NEAR(fastest(queue(snapshot)).lat_s, 6 * 3600, 1);
  portraits_ = past_of({5, 6, 7, 7, 7});
  EXPECT_NEAR(fastest(queue(snapshot)).lat_s, 7 * 3600, 1) << "with the same menus";
}

// A forecast asks when the runs of others end.
TEST_F(LengthHistoryTest, RunsOfOthersEndAsTheirFamilysDid) {
  auto running = a_job("running").gpus(2).started(0);
  running.intent().family = "nightly";
  const auto snapshot = a_cluster()
                            .with(a_node("n1").of("T4", 4))
                            .with(running)
                            .with(a_pod("running-0").of_job("running").gpus(2).on("n1").started(0))
                            .with(a_job("who-asks").gpus(4).waiting())
                            .build();
  EXPECT_EQ(queue(snapshot).runs_of_unknown_length(), 0U);
  portraits_ = nullptr;
  EXPECT_EQ(queue(snapshot).runs_of_unknown_length(), 1U);
}

TEST_F(LengthHistoryTest, TheTableOfPlacementsSaysTheSame) {
  const auto snapshot = a_cluster().with(a_node("n1").of("T4", 4)).with(nightly()).build();
  const auto task = TaskCatalog(snapshot).find({"default", "tonight"});
  PlacementOptions options;
  static_cast<Situation&>(options) = planner_.options(0);
  options.portraits = portraits_;
  const PlacementTable table = placement_table(snapshot, *task, options);
  int told = 0;
  for (const PlacementRow& row : table.rows) {
    if (!row.lat_s) continue;
    ++told;
    EXPECT_EQ(row.model_source, "history");
    EXPECT_NEAR(*row.lat_s, 6 * 3600, 1);
  }
  EXPECT_EQ(told, 1) << "the shape as it is written";
}

}  // namespace
}  // namespace slackline::core
