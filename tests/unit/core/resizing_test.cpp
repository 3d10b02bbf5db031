// Right-sizing: whose mode counts, what is applied, and how it is taken back.
#include "slackline/core/cluster/resizing.h"

#include <gtest/gtest.h>

#include "slackline/core/cluster/moves.h"
#include "slackline/core/cluster/placement_table.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/handover/return_to_scheduler.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/model/pod_ask.h"
#include "support/hand_over_world.h"
#include "support/portrait_runs.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::HandOverWorld;
using test::JobBuilder;
using test::WorldPlanner;

constexpr double kNight_s = 86400;
const ContainerAmounts kWritten{"8", "16", "64G", "64G"};

// One night's run of a family on four GPUs of an A100: a third of their time, a fifth of their
// memory, 2 cores, 4 GB.
PortraitRun nightly_run(int number) {
  PortraitRun run = test::a_run(number, {.gpu = 0.3, .gpu_memory = 0.2});
  run.finished_s = kNight_s + number;
  run.usage.from_s = run.finished_s - test::kRun_s;
  run.requests = {8000, 16000, 64'000'000'000};
  return run;
}

PortraitRun resized_run(int number, RunOutcome outcome = RunOutcome::kSucceeded) {
  PortraitRun run = nightly_run(number);
  run.outcome = outcome;
  run.shape = {1, 2};
  run.resized = ResizedRun{.given = {4000, 8000, 5'000'000'000}, .expected_s = run.run_s};
  return run;
}

class ResizingTest : public testing::Test {
 protected:
  ResizingTest() {
    world_.pass(10 * kNight_s);
    world_.add(a_node("n1").of("A100", 8));
    planner_.follow(&queues_);
    queues_.defaults.resize = ResizeMode::kAuto;
    learn({nightly_run(1), nightly_run(2), nightly_run(3)});
  }

  void learn(const std::vector<PortraitRun>& runs) {
    Portrait portrait;
    portrait.identity.department = "default";
    portrait.identity.family = "nightly";
    for (const PortraitRun& run : runs)
      add_run(portrait, run);
    PortraitBook book;
    book.portraits[portrait_key(portrait.identity)] = std::make_shared<const Portrait>(portrait);
    portraits_ = std::make_shared<const PortraitBook>(std::move(book));
    planner_.know(portraits_);
  }

  JobBuilder nightly(const std::string& name, bool shapes = true) const {
    JobBuilder job = a_job(name).gpus(4).waiting().amounts(kWritten).created(world_.now_s());
    job.intent().family = "nightly";
    job.intent().any_placement = shapes;
    return job;
  }

  ResizingPtr resizing(const std::string& job) const {
    const ClusterSnapshot snapshot = world_.snapshot();
    const QueueOptions options = planner_.options(world_.now_s());
    const Job& asked = *snapshot.find_job("default", job);
    return Resizer(snapshot, options).of(asked, *asked.intent);
  }
  ResizeHold hold(const std::string& job) const {
    const ResizingPtr found = resizing(job);
    return found ? found->hold : ResizeHold::kAdvise;
  }
  std::int64_t gpus_of(const std::string& job) const {
    return world_.jobs().at({"default", job}).pod_requests.gpu_count(test::kGpu);
  }
  const ReleaseJob* release_of(const std::string& job) const {
    for (const OwnWrite& write : world_.performed)
      if (write.target.key.name == job && write.is<ReleaseJob>()) return write.as<ReleaseJob>();
    return nullptr;
  }

  QueueRulebook queues_;
  std::shared_ptr<const PortraitBook> portraits_;
  HandOverWorld world_;
  WorldPlanner planner_{1, "fifo"};
};

TEST_F(ResizingTest, TheJobsModeCountsThenItsNamespacesThenItsQueues) {
  ClusterSnapshot snapshot;
  TaskIntent intent;
  EXPECT_EQ(resize_mode(snapshot, nullptr, "lab", intent), ResizeMode::kAdvise) << "nothing said";
  queues_.defaults.resize = ResizeMode::kOff;
  EXPECT_EQ(resize_mode(snapshot, &queues_, "lab", intent), ResizeMode::kOff);
  queues_.named["vision"].resize = ResizeMode::kAuto;
  intent.queue = "vision";
  EXPECT_EQ(resize_mode(snapshot, &queues_, "lab", intent), ResizeMode::kAuto);
  const auto lab = std::make_shared<const Namespace>(
      Namespace{.uid = {}, .key = {"", "lab"}, .resize = ResizeMode::kAdvise});
  snapshot.namespaces =
      std::make_shared<const std::vector<std::shared_ptr<const Namespace>>>(1, lab);
  EXPECT_EQ(resize_mode(snapshot, &queues_, "lab", intent), ResizeMode::kAdvise);
  EXPECT_EQ(resize_mode(snapshot, &queues_, "other", intent), ResizeMode::kAuto);
  intent.resize = ResizeMode::kOff;
  EXPECT_EQ(resize_mode(snapshot, &queues_, "lab", intent), ResizeMode::kOff);
}

TEST_F(ResizingTest, AJobIsReleasedWithWhatItsFamilyUsed) {
  world_.add(nightly("tonight"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound("tonight"), 1);
  const Job& job = world_.job("tonight");
  EXPECT_EQ(gpus_of("tonight"), 2) << "1.2 of 4 were used";
  EXPECT_EQ(*job.amounts, (ContainerAmounts{"4", "6", "4387Mi", "4387Mi"}));
  EXPECT_EQ(job.original->gpus, 4);
  EXPECT_EQ(*job.original->amounts, kWritten) << "byte for byte";
  ASSERT_TRUE(job.plan->resize);
  EXPECT_EQ(job.plan->resize->asked, (Placement{1, 4}));
  EXPECT_EQ(job.plan->resize->shape, (Placement{1, 2}));
  EXPECT_TRUE(job.plan->resize->trial);
  EXPECT_NEAR(job.plan->resize->expected_s, test::kRun_s, 1) << "as long as before";
  EXPECT_EQ(written_requests(job), (PodRequests{8000, 16000, 64'000'000'000}));
}

TEST_F(ResizingTest, WithoutPlacementsOnlyCpuAndMemoryChange) {
  world_.add(nightly("tonight", /*shapes=*/false));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(gpus_of("tonight"), 4);
  EXPECT_EQ(world_.job("tonight").amounts->memory_request, "4387Mi");
  EXPECT_FALSE(world_.job("tonight").plan->resize->shape);
}

TEST_F(ResizingTest, WhatALimitRangeRefusesStaysAsWritten) {
  world_.add(nightly("tonight", /*shapes=*/false));
  const auto amounts_where_least_is = [&](std::int64_t bytes) {
    ClusterSnapshot snapshot = world_.snapshot();
    auto admission = std::make_shared<PodAdmission>();
    LimitRange::Item item;
    item.least = {{"memory", bytes}};
    admission->limit_ranges["default"] = {
        std::make_shared<const LimitRange>(LimitRange{Uid("l"), {"default", "large"}, {item}})};
    snapshot.admission = std::move(admission);
    Job asked = *snapshot.find_job("default", "tonight");
    PodAsk ask;
    ask.containers.push_back({.requests = asked.pod_requests, .limits = asked.pod_requests});
    asked.ask = std::make_shared<const PodAsk>(ask);
    const QueueOptions options = planner_.options(world_.now_s());
    return Resizer(snapshot, options).of(asked, *asked.intent)->types.front().amounts;
  };
  ASSERT_TRUE(amounts_where_least_is(1 << 30));
  EXPECT_EQ(amounts_where_least_is(1 << 30)->memory_request, "4387Mi");
  EXPECT_EQ(amounts_where_least_is(std::int64_t{8} << 30), std::nullopt);
}

TEST_F(ResizingTest, AdviceAloneChangesNothing) {
  queues_.defaults.resize = ResizeMode::kAdvise;
  world_.add(nightly("tonight"));
  const ResizingPtr found = resizing("tonight");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->changes());
  EXPECT_EQ(suggestions(*found).front().rfind("asks for 4 GPUs, the last 3 runs used 1.2", 0), 0U)
      << suggestions(*found).front();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(gpus_of("tonight"), 4);
  EXPECT_EQ(*world_.job("tonight").amounts, kWritten);
  EXPECT_EQ(world_.job("tonight").original, nullptr);
  queues_.defaults.resize = ResizeMode::kOff;
  EXPECT_EQ(resizing("tonight"), nullptr);
}

TEST_F(ResizingTest, AJobWhosePodsStartOneByOneIsOpenedAsItIsWritten) {
  world_.add(nightly("folds").of(1, 10).limited(86400));
  const ResizingPtr found = resizing("folds");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->changes());
  EXPECT_EQ(found->mode, ResizeMode::kAdvise);
}

TEST_F(ResizingTest, ThePlacementsOfAJobAreThoseThatItIsPlannedIn) {
  world_.add(nightly("tonight"));
  const ClusterSnapshot snapshot = world_.snapshot();
  const auto task = TaskCatalog(snapshot).find({"default", "tonight"});
  ASSERT_TRUE(task);
  static const GpuCatalog kCatalog = default_gpu_catalog();
  PlacementOptions options{planner_.options(world_.now_s())};
  options.catalog = &kCatalog;
  const PlacementTable table = placement_table(snapshot, *task, options);
  std::vector<Placement> allowed;
  for (const PlacementRow& row : table.rows)
    if (row.allowed) allowed.push_back(row.shape);
  EXPECT_EQ(allowed, (std::vector<Placement>{{1, 2}}));
}

TEST_F(ResizingTest, WhoCannotStartYetIsNoTrialForOthers) {
  for (const char* name : {"held", "depends"}) {
    JobBuilder job = nightly(name);
    job.intent().hold = name == std::string("held");
    if (name == std::string("depends")) job.intent().depends_on = {"never"};
    world_.add(job);
  }
  world_.pass(1);
  world_.add(nightly("next"));
  EXPECT_EQ(hold("next"), ResizeHold::kNone);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(gpus_of("next"), 2);
}

TEST_F(ResizingTest, OneRunTriesItAndThenAllAreResized) {
  world_.add(nightly("first"));
  world_.pass(1);
  world_.add(nightly("second"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(gpus_of("first"), 2);
  EXPECT_EQ(gpus_of("second"), 4) << "beside the trial it runs as written";
  world_.add(nightly("third"));
  EXPECT_EQ(hold("third"), ResizeHold::kTrial) << "the trial still runs";
  world_.finish("first");
  learn({nightly_run(1), nightly_run(2), nightly_run(3), resized_run(4)});
  world_.add(nightly("fourth"));
  EXPECT_EQ(hold("third"), ResizeHold::kNone);
  EXPECT_EQ(hold("fourth"), ResizeHold::kNone);
}

TEST_F(ResizingTest, ARunThatWasTooSmallFreezesItsFamilyForSevenDays) {
  world_.add(nightly("tonight"));
  for (const RunOutcome outcome : {RunOutcome::kOutOfMemory, RunOutcome::kGpuOutOfMemory}) {
    PortraitRun failed = resized_run(4, outcome);
    failed.finished_s = world_.now_s() - 6 * kNight_s;
    learn({nightly_run(1), nightly_run(2), nightly_run(3), failed});
    EXPECT_EQ(hold("tonight"), ResizeHold::kFrozen);
    failed.finished_s -= 2 * kNight_s;
    learn({nightly_run(1), nightly_run(2), nightly_run(3), failed});
    EXPECT_EQ(hold("tonight"), ResizeHold::kNone);
  }
  PortraitRun slow = resized_run(4);
  slow.finished_s = world_.now_s() - kNight_s;
  slow.run_s = 1.16 * slow.resized->expected_s;
  learn({nightly_run(1), nightly_run(2), nightly_run(3), slow});
  EXPECT_EQ(hold("tonight"), ResizeHold::kFrozen);
  slow.run_s = 1.14 * slow.resized->expected_s;
  learn({nightly_run(1), nightly_run(2), nightly_run(3), slow});
  EXPECT_EQ(hold("tonight"), ResizeHold::kNone);
}

TEST_F(ResizingTest, WhereOthersChangeThePodsSlacklineDoesNot) {
  PortraitRun changed = nightly_run(4);
  changed.others_changed = true;
  learn({nightly_run(1), nightly_run(2), nightly_run(3), changed});
  world_.add(nightly("tonight"));
  EXPECT_EQ(hold("tonight"), ResizeHold::kOthersChanged);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(gpus_of("tonight"), 4);
  learn({nightly_run(1), nightly_run(2), changed, nightly_run(5)});
  world_.add(nightly("tomorrow"));
  EXPECT_EQ(hold("tomorrow"), ResizeHold::kNone);
}

TEST_F(ResizingTest, AFamilyWithoutAPastRunsAsWritten) {
  JobBuilder unknown = nightly("unknown");
  unknown.intent().family = "unheard-of";
  world_.add(unknown);
  EXPECT_EQ(resizing("unknown"), nullptr);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(gpus_of("unknown"), 4);
}

TEST_F(ResizingTest, WhoAsksAnewRunsAsWrittenOnce) {
  world_.add(nightly("tonight").gpus(8));
  EXPECT_EQ(hold("tonight"), ResizeHold::kAskedAnew);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(gpus_of("tonight"), 8);
  PortraitRun wide = nightly_run(4);
  wide.asked = wide.shape = {1, 8};
  learn({nightly_run(1), nightly_run(2), nightly_run(3), wide});
  world_.add(nightly("tomorrow").gpus(8));
  EXPECT_EQ(hold("tomorrow"), ResizeHold::kNone);
}

TEST_F(ResizingTest, ARunShortOfMemoryIsStoppedAndGoesOnAsWritten) {
  world_.add(nightly("tonight"));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(gpus_of("tonight"), 2);
  world_.pass(60);
  world_.run_short("tonight-0");
  world_.performed.clear();
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_FALSE(world_.performed.empty());
  const auto* stop = world_.performed.front().as<StopJob>();
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(world_.performed.front().decision.reason, reason::kResizeRolledBack);
  EXPECT_EQ(stop->preemptions->too_small, ResizeFailure::kOutOfMemory);
  const Job& job = world_.job("tonight");
  EXPECT_EQ(world_.bound("tonight"), 1) << "it was released again";
  EXPECT_EQ(gpus_of("tonight"), 4);
  EXPECT_EQ(*job.amounts, kWritten) << "byte for byte";
  EXPECT_FALSE(job.original->amounts);
  EXPECT_FALSE(job.plan->resize);
  world_.add(nightly("other"));
  EXPECT_EQ(hold("other"), ResizeHold::kFrozen) << "before its end is known";
}

TEST_F(ResizingTest, WhatAPersonWritesLaterStays) {
  world_.add(nightly("tonight"));
  ASSERT_TRUE(planner_.settle(world_));
  Job& job = world_.job("tonight");
  job.suspended = job.suspended_by_us = true;
  job.plan = nullptr;
  world_.make_pods();
  const ContainerAmounts wanted{"8", "16", "8Gi", "8Gi"};
  change_amounts(job.pod_requests, *job.amounts, wanted);
  job.amounts = wanted;
  job.pod_requests.set_gpus(test::kGpu, 3);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound("tonight"), 1);
  EXPECT_EQ(*world_.job("tonight").amounts, wanted);
  EXPECT_EQ(gpus_of("tonight"), 3);
}

TEST_F(ResizingTest, TheWayBackToTheSchedulerRestoresWhatWasWritten) {
  world_.add(nightly("tonight"));
  ASSERT_TRUE(planner_.settle(world_));
  Job& job = world_.job("tonight");
  job.suspended = job.suspended_by_us = true;
  job.plan = nullptr;
  world_.make_pods();
  for (const OwnWrite& write : return_to_scheduler(world_.snapshot()))
    world_.perform(write);
  EXPECT_EQ(gpus_of("tonight"), 4);
  EXPECT_EQ(*world_.job("tonight").amounts, kWritten);
}

TEST_F(ResizingTest, WhereTemplatesAreFixedThePlanSaysWhatPodsGet) {
  planner_.find_templates_fixed();
  world_.add(nightly("tonight"));
  ASSERT_TRUE(planner_.settle(world_));
  const ReleaseJob* release = release_of("tonight");
  ASSERT_NE(release, nullptr);
  EXPECT_FALSE(release->shape.amounts);
  EXPECT_EQ(release->plan->resize->amounts->memory_request, "4387Mi");
  EXPECT_EQ(release->plan->shape, (Placement{1, 2}));
}

// One GPU is free on each node, and it takes two where its Job names four.
TEST_F(ResizingTest, RunsMakeWayForTheShapeThatItIsResizedTo) {
  world_.add(a_node("n2").of("A100", 2));
  for (const auto& [name, gpus] : {std::pair("small", 1), std::pair("large", 7)}) {
    auto job = a_job(name).gpus(gpus).waiting().created(world_.now_s());
    job.intent().expected_duration_s = kNight_s;
    world_.add(job);
    ASSERT_TRUE(planner_.settle(world_));
    ASSERT_EQ(world_.bound(name), 1);
  }
  world_.add(nightly("tonight"));
  const ClusterSnapshot snapshot = world_.snapshot();
  const QueueOptions options = planner_.options(world_.now_s());
  TaskMenus menus;
  const Queue queue = make_queue(snapshot, options, menus);
  const RunSpeeds speeds;
  const auto advised =
      Moves(snapshot, options, queue, speeds, *parse_policy("savable,headroom=0,calm=0")).advised();
  ASSERT_EQ(advised.size(), 1U);
  EXPECT_EQ(advised[0].advice.cause, MoveCause::kFragmented);
  EXPECT_EQ(advised[0].advice.task.name, "tonight");
  EXPECT_EQ(advised[0].advice.moves.at(0).task.name, "small");
}

AmountAdvice amount(std::int64_t asked, std::int64_t advised, bool raise = false) {
  AmountAdvice advice;
  advice.asked = asked;
  advice.advised = advised;
  advice.raise = raise;
  return advice;
}

TEST(AdvisedAmountsTest, NothingIsAddedAndLimitsFollow) {
  Advice advice;
  advice.cpu_request = amount(8000, 3000);
  advice.cpu_limit = amount(16000, 5500);
  advice.memory = amount(64'000'000'000, 5LL << 30);
  EXPECT_EQ(advised_amounts({}, advice), ContainerAmounts{});
  EXPECT_EQ(advised_amounts({"8", "", "64G", ""}, advice), (ContainerAmounts{"3", "", "5Gi", ""}));
  EXPECT_EQ(advised_amounts({"8", "16", "64G", "80G"}, advice),
            (ContainerAmounts{"3", "5500m", "5Gi", "80G"}))
      << "a limit above the request is for bursts";
  EXPECT_EQ(advised_amounts({"8", "8", "64G", "64G"}, advice),
            (ContainerAmounts{"5500m", "5500m", "5Gi", "5Gi"}))
      << "Guaranteed pods stay so";
  advice.memory = amount(64'000'000'000, 96LL << 30, true);
  EXPECT_EQ(advised_amounts({"8", "16", "64G", "80G"}, advice).memory_limit, "96Gi");
  advice.memory = amount(16LL << 30, 24LL << 30, true);
  EXPECT_EQ(advised_amounts({"8", "16", "16Gi", "64Gi"}, advice).memory_limit, "64Gi");
  advice.memory->shortage = true;
  EXPECT_EQ(advised_amounts({"8", "16", "16Gi", "64Gi"}, advice),
            (ContainerAmounts{"3", "5500m", "24Gi", "96Gi"}))
      << "a run was killed at the limit";
  advice.memory = amount(64'000'000'000, 96LL << 30, true);
  advice.cpu_request->advised = 7500;
  advice.cpu_limit->advised = 15000;
  EXPECT_EQ(advised_amounts({"8", "16", "", ""}, advice), (ContainerAmounts{"8", "16", "", ""}))
      << "less than a tenth";
}

}  // namespace
}  // namespace slackline::core
