// The live cluster as the planner sees it, and what its plans write.
#include "slackline/core/cluster/queue.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

class QueueTest : public testing::Test {
 protected:
  Queue queue(const ClusterSnapshot& snapshot, double now_s = 0) {
    return make_queue(snapshot, planner_.options(now_s), menus_);
  }
  std::vector<OwnWrite> starts(const ClusterSnapshot& snapshot, double now_s = 0) {
    return planner_.plan(snapshot, now_s);
  }

  test::WorldPlanner planner_{3};
  TaskMenus menus_;
};

const ShapeChange& shape_of(const OwnWrite& write) {
  return write.as<ReleaseJob>()->shape;
}

// One GPU trains 10 samples per second, more are faster but not in proportion.
WorkloadProfiles bert(std::initializer_list<const char*> types) {
  std::vector<ProfileEntry> entries;
  for (const char* type : types)
    entries.push_back({"bert", GpuType(type), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""});
  return WorkloadProfiles(entries);
}

TEST_F(QueueTest, AJobThatLostItsPlanBeforeItWasBoundIsThereAsOneThatStarts) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(a_job("lost").gpus(1).managed())
                            .with(a_pod("lost-0").of_job("lost").gpus(1).managed())
                            .build();
  const Queue found = queue(snapshot);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found.task(0).plan);
  EXPECT_FALSE(found.task(0).is_planned());
  EXPECT_TRUE(found.state().waiting().empty());
}

TEST_F(QueueTest, OnlyWhatWeHoldBackWaits) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(a_job("ours").gpus(1).waiting())
                            .with(a_job("somebody-elses").gpus(1).suspended())
                            .with(a_job("no-gpus").waiting())
                            .with(a_job("over").gpus(1).waiting().finished())
                            .with(a_pod("gated").gpus(1).gated().managed())
                            .with(a_pod("not-managed").gpus(1).gated())
                            .with(a_pod("free").gpus(1).managed())
                            .build();
  const Queue found = queue(snapshot);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.task(0).key.name, "gated");
  EXPECT_EQ(found.task(1).key.name, "ours");
  EXPECT_EQ(found.state().waiting().size(), 2U);
}

TEST_F(QueueTest, WhatIsGivenToKueueLeavesTheQueueAndRunsOnWhereItRuns) {
  Job given = a_job("given").gpus(1).managed().suspended().build();
  Job runs = a_job("runs").gpus(1).managed().planned({"n1"}).build();
  given.kueue = runs.kueue = true;
  const auto snapshot = a_cluster().with(a_node("n1")).add(given).add(runs).build();
  const Queue found = queue(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.task(0).key.name, "runs");
  EXPECT_TRUE(found.task(0).plan);
}

TEST_F(QueueTest, WhatSomebodyHoldsBackIsListedAndNeverPlanned) {
  auto held = a_job("held").gpus(1).waiting();
  held.intent().hold = true;
  auto pod = a_pod("held-pod").gpus(1).gated().managed();
  pod.intent().hold = true;
  const auto snapshot =
      a_cluster()
          .with(a_node("n1"))
          .with(held)
          .with(pod)
          .with(a_job("paused").of(2).gpus(1).managed().suspended())
          .with(a_job("of-a-set").gpus(1).managed().suspended().owned_by("JobSet", "s"))
          .build();
  const Queue found = queue(snapshot, 3600);
  ASSERT_EQ(found.size(), 3U);
  for (TaskIndex task = 0; task < found.size(); ++task) {
    ASSERT_TRUE(found.task(task).hindrance) << found.task(task).key.name;
    EXPECT_EQ(found.task(task).hindrance->reason, reason::kHeldByUser);
  }
  EXPECT_TRUE(found.state().waiting().empty());
  EXPECT_TRUE(starts(snapshot, 3600).empty());
}

TEST_F(QueueTest, AJobThatAsksForNoPodsIsHeldBackUntilItAsksForSome) {
  const auto with = [](std::int64_t parallelism, std::optional<std::int64_t> completions) {
    Job job = a_job("zero").gpus(1).managed().waiting().build();
    job.parallelism = parallelism;
    job.completions = completions;
    return a_cluster().with(a_node("n1")).add(job).build();
  };
  for (const auto& completions : {std::optional<std::int64_t>(), std::optional<std::int64_t>(1)}) {
    const auto snapshot = with(0, completions);
    const Queue found = queue(snapshot);
    ASSERT_EQ(found.size(), 1U);
    ASSERT_TRUE(found.task(0).hindrance);
    EXPECT_EQ(found.task(0).hindrance->reason, reason::kHeldByUser);
    EXPECT_TRUE(starts(snapshot).empty());
    EXPECT_EQ(starts(with(1, completions)).size(), 1U);
  }
  EXPECT_EQ(starts(with(0, 0)).size(), 1U) << "its controller says that it is complete";
}

TEST_F(QueueTest, WhatIsBeingDeletedHasLeftTheQueue) {
  Job waits = a_job("waits").gpus(1).waiting().build();
  Job starts_soon = a_job("starting").gpus(1).managed().planned({"n1"}).build();
  Job runs = a_job("runs").gpus(1).managed().planned({"n1"}).build();
  Job loose = a_job("loose").of(2).gpus(1).managed().build();
  for (Job* job : {&waits, &starts_soon, &runs, &loose})
    job->deleting = true;
  const auto planned = a_pod("loose-1").of_job("loose").gpus(1).gated().managed().planned({"n1"});
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .add(waits)
                            .add(starts_soon)
                            .add(runs)
                            .add(loose)
                            .with(a_pod("runs-0").of_job("runs").gpus(1).managed().on("n1"))
                            .with(a_pod("loose-0").of_job("loose").gpus(1).gated().managed())
                            .with(planned)
                            .build();
  EXPECT_TRUE(planned_tasks(snapshot).empty()) << "no gate is lifted for it";
  const Queue found = queue(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.task(0).key.name, "runs");
  EXPECT_FALSE(runs_whole(found.task(0))) << "nobody asks it to make room";
  EXPECT_TRUE(starts(snapshot).empty());
}

// activeDeadlineSeconds would count while its pods wait behind their gates.
TEST_F(QueueTest, AJobWithATimeLimitIsOpenedWhenItsFirstPodHasItsTurn) {
  Job many = a_job("many").of(3).gpus(1).waiting().build();
  many.active_deadline_s = 60;
  const auto full = a_cluster().with(a_node("n1")).add(many).with(a_pod("other").gpus(4).on("n1"));
  EXPECT_TRUE(starts(full.build()).empty());
  EXPECT_TRUE(queue(full.build()).to_open().empty());
  const auto writes = starts(a_cluster().with(a_node("n1")).add(many).build());
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_TRUE(writes[0].is<OpenJob>());
}

// An earlier version planned it as one run, and pinned it to the type of its plan.
TEST_F(QueueTest, AJobIsOpenedAsItWasWritten) {
  Job folds = a_job("folds").of(1, 5).gpus(1).waiting().build();
  folds.active_deadline_s = 3600;
  OriginalShape written;
  written.affinity_terms.emplace();
  written.gpus = 2;
  folds.original = std::make_shared<const OriginalShape>(written);
  const auto writes = starts(a_cluster().with(a_node("n1")).add(folds).build());
  ASSERT_EQ(writes.size(), 1U);
  ASSERT_TRUE(writes[0].is<OpenJob>());
  const ShapeChange& shape = writes[0].as<OpenJob>()->shape;
  EXPECT_TRUE(shape.affinity_terms);
  ASSERT_TRUE(shape.reshape);
  EXPECT_EQ(shape.reshape->gpus, 2);
  EXPECT_EQ(shape.reshape->parallelism, 0) << "its completions stay";
}

TEST_F(QueueTest, AJobOfOnePodAfterTheOtherQueuesThemOneByOne) {
  Job folds = a_job("folds").of(1, 10).gpus(4).waiting().build();
  const auto opened = starts(a_cluster().with(a_node("n1")).add(folds).build());
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_TRUE(opened[0].is<OpenJob>());
  auto open = a_job("folds").of(1, 10).gpus(4).managed().succeeded(3);
  open.intent().expected_duration_s = 600;
  open.intent().deadline_s = 7200;
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(open)
                            .with(a_pod("folds-3").of_job("folds").gpus(4).managed().gated())
                            .build();
  const Queue found = queue(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.task(0).kind, TaskKind::kPod);
  EXPECT_EQ(found.task(0).deadline_s, 7200 - 6 * 600) << "six come after it";
}

// What its quota refuses would wait in no queue.
TEST_F(QueueTest, AJobWithinAQuotaIsOpenedWhenItsFirstPodHasItsTurn) {
  const auto with = [](std::int64_t used) {
    return a_cluster()
        .with(a_node("n1"))
        .with(test::a_quota("q").limit("nvidia.com/gpu", 4, used))
        .with(a_job("folds").of(2, 4).gpus(2).waiting())
        .build();
  };
  EXPECT_TRUE(starts(with(4)).empty());
  const Queue found = queue(with(4));
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found.task(0).hindrance);
  EXPECT_EQ(found.task(0).hindrance->reason, reason::kQuotaExceeded);
  EXPECT_TRUE(starts(with(2)).at(0).is<OpenJob>());
}

// A dump, or a run from before Slackline: nobody plans them, and more of them come.
TEST_F(QueueTest, ForecastsKnowWhatComesAfterTheRunsOfOthers) {
  auto folds = a_job("folds").of(1, 4).gpus(4).managed().succeeded(1);
  folds.intent().expected_duration_s = 600;
  const auto snapshot =
      a_cluster()
          .with(a_node("n1"))
          .with(folds)
          .with(a_pod("folds-1").of_job("folds").gpus(4).managed().on("n1").started(0))
          .build();
  QueueOptions options = planner_.options(0);
  options.foresee_always = options.foresee = true;
  const Queue found = make_queue(snapshot, options, menus_);
  const TaskTable& tasks = found.state().tasks();
  const PlanTask& last = tasks[static_cast<TaskIndex>(tasks.size() - 1)];
  ASSERT_EQ(last.after.size(), 1U);
  EXPECT_NEAR(last.menu->fastest().lat_s, 2 * 600, 1) << "two pods are still to come";
}

// Its controller needs a moment to make the pods.
TEST_F(QueueTest, AJobThatWasOpenedKeepsTheTurnOfItsFirstPod) {
  Job many = a_job("many").of(2).gpus(4).managed().build();
  many.active_deadline_s = 60;
  many.started_s = 1000;
  const auto cluster = a_cluster()
                           .with(a_node("n1"))
                           .add(many)
                           .with(a_job("younger").gpus(4).created(500).waiting());
  EXPECT_TRUE(starts(cluster.build(), 1001).empty());
  const auto later = starts(cluster.build(), 1060);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0].target.key.name, "younger");
}

TEST_F(QueueTest, OneThatIsStoppedHasNothingInIt) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(a_job("one").gpus(1).waiting())
                            .with(a_job("two").gpus(1).waiting())
                            .with(a_job("three").of(2).gpus(1).waiting())
                            .with(a_pod("gated").gpus(1).gated().managed())
                            .build();
  QueueOptions options = planner_.options(0);
  const std::size_t whole = make_queue(snapshot, options, menus_).size();
  int most = 0;
  for (bool gave_up = true; gave_up; ++most) {
    ASSERT_LT(most, 100);
    options.stop = [asked = 0, most]() mutable { return ++asked > most; };
    Queue found = make_queue(snapshot, options, menus_);
    gave_up = found.gave_up();
    EXPECT_EQ(found.size(), gave_up ? 0 : whole) << most;
    EXPECT_EQ(found.state().waiting().size(), found.size()) << most;
    if (!gave_up) continue;
    EXPECT_TRUE(found.to_open().empty()) << most;
    EXPECT_TRUE(plan(found.state(), 0, *parse_policy("default")).effects.empty()) << most;
  }
  EXPECT_GT(most, 8) << "every Job, pod and task is asked for";
}

TEST_F(QueueTest, GpusOfEverybodyElseAreNotOurs) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(a_node("n2").cordoned())
                            .with(a_node("n3"))
                            .with(a_pod("stranger").gpus(3).on("n1"))
                            .with(a_pod("promised").gpus(2).nominated("n3"))
                            .build();
  const Queue found = queue(snapshot);
  ASSERT_EQ(found.pools().size(), 1U);
  EXPECT_EQ(found.state().free().total(), 3);
  EXPECT_EQ(found.state().free().at(0, 0), 1);
  EXPECT_EQ(found.state().free().at(0, 1), 2);
}

TEST_F(QueueTest, ATaskWithAPlanRunsOnItsNodes) {
  auto job = a_job("train").of(2).gang().gpus(4).managed().planned({"n1", "n2"});
  const auto snapshot =
      a_cluster().with(a_node("n1")).with(a_node("n2")).with(a_node("n3")).with(job).build();
  const Queue found = queue(snapshot);
  ASSERT_EQ(found.state().running().size(), 1U);
  EXPECT_EQ(found.state().progress(0).run.nodes, (std::vector<PoolNode>{0, 1}));
  EXPECT_EQ(found.state().free().total(), 12);
  EXPECT_EQ(found.state().free().idle(), 4);
}

// It was released, has lost its plan, or was there before Slackline.
TEST_F(QueueTest, WhatRunsWithoutAPlanRunsWhereItIs) {
  auto cluster = a_cluster();
  for (const char* node : {"n1", "n2", "n3"})
    cluster.with(a_node(node).of("K80", 4));
  cluster.with(a_job("gang").of(2).gang().gpus(4).managed())
      .with(a_pod("gang-0").of_job("gang").gpus(4).managed().on("n1"))
      .with(a_pod("gang-1").of_job("gang").gpus(4).managed().on("n2"))
      .with(a_job("single").gpus(1).managed())
      .with(a_pod("single-0").of_job("single").gpus(1).managed().on("n3"))
      .with(a_job("each").of(2).gpus(1).managed())
      .with(a_pod("each-0").of_job("each").gpus(1).managed().on("n3"))
      .with(a_pod("not-managed").gpus(1).on("n3"));
  const ClusterSnapshot snapshot = cluster.build();
  QueueOptions options = planner_.options(0);
  options.foresee_always = options.foresee = true;
  const Queue found = make_queue(snapshot, options, menus_);
  std::map<std::string, TaskKind> kinds;
  for (TaskIndex task = 0; task < found.size(); ++task) {
    kinds[found.task(task).key.name] = found.task(task).kind;
    EXPECT_EQ(found.state().progress(task).phase, TaskPhase::kRunning);
    EXPECT_FALSE(found.task(task).is_planned());
    EXPECT_FALSE(found.state().tasks()[task].preemptible) << "nobody stops what has no plan";
  }
  const std::map<std::string, TaskKind> expected = {
      {"gang", TaskKind::kJob}, {"single", TaskKind::kJob}, {"each-0", TaskKind::kPod}};
  EXPECT_EQ(kinds, expected);
  EXPECT_EQ(found.runs_of_unknown_length(), 1U) << "a pod is counted once";
  EXPECT_TRUE(starts(snapshot).empty());
}

TEST_F(QueueTest, PredicatesDecideWhichNodesATaskMayUse) {
  SchedulingConstraints wants_ssd;
  wants_ssd.node_selector = {{"disk", "ssd"}};
  const auto snapshot =
      a_cluster()
          .with(a_node("n1"))
          .with(a_node("n2").label("disk", "ssd").taint("broken", ""))
          .with(a_node("n3").label("disk", "ssd").cpus(1))
          .with(a_node("n4").label("disk", "ssd"))
          .with(a_pod("p").gpus(1).cpus(8).gated().managed().constrained(wants_ssd))
          .build();
  const auto writes = starts(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().plan()->nodes, (std::vector<NodeName>{NodeName("n4")}));
}

TEST_F(QueueTest, EarlierDeadlinesAreReleasedFirst) {
  auto late = a_job("a-late").gpus(4).waiting();
  late.intent().deadline_s = 90000;
  auto soon = a_job("b-soon").gpus(4).waiting();
  soon.intent().deadline_s = 40000;
  const auto snapshot = a_cluster().with(a_node("n1")).with(late).with(soon).build();
  const auto writes = starts(snapshot, 20000);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().target.key.name, "b-soon");
  EXPECT_EQ(writes.front().plan()->id, "p3-1");
  EXPECT_EQ(writes.front().plan()->epoch, 3);
  EXPECT_FALSE(shape_of(writes.front()).reshape);
}

TEST_F(QueueTest, PodsOfAGangShareNodesWhereTheyFit) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1").of("K80", 8))
                            .with(a_job("gang").of(4).gang().gpus(2).waiting())
                            .build();
  const auto writes = starts(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().plan()->shape, (Placement{1, 8}));
  EXPECT_EQ(writes.front().plan()->nodes, std::vector<NodeName>(4, NodeName("n1")));
  EXPECT_FALSE(shape_of(writes.front()).reshape);
}

TEST_F(QueueTest, AFreeShapeIsChosenAndTheOldOneKept) {
  planner_.know(bert({"K80"}));
  auto job = a_job("train").of(1).gang().gpus(1).waiting().trains("bert", 256, 90000);
  job.intent().placements = {{2, 4}};
  const auto snapshot =
      a_cluster().with(a_node("n1").of("K80", 4)).with(a_node("n2").of("K80", 4)).with(job).build();
  const auto writes = starts(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  const OwnWrite& release = writes.front();
  EXPECT_EQ(release.plan()->shape, (Placement{2, 4}));
  ASSERT_TRUE(shape_of(release).reshape);
  EXPECT_EQ(shape_of(release).reshape->parallelism, 2);
  EXPECT_EQ(shape_of(release).reshape->gpus, 4);
  EXPECT_EQ(shape_of(release).reshape->container, "train");
  ASSERT_TRUE(shape_of(release).original);
  EXPECT_EQ(shape_of(release).original->parallelism, 1);
  EXPECT_EQ(shape_of(release).original->gpus, 1);
}

TEST_F(QueueTest, AShapeThatWasChangedIsReadAsItWasWritten) {
  auto job = a_job("train").of(2).gang().gpus(4).waiting().build();
  OriginalShape original;
  original.parallelism = 4;
  original.gpus = 1;
  job.original = std::make_shared<const OriginalShape>(original);
  ClusterSnapshot snapshot = a_cluster().with(a_node("n1")).build();
  snapshot.jobs.push_back(std::make_shared<const Job>(job));
  const auto writes = starts(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().plan()->nodes.size(), 4U);
  ASSERT_TRUE(shape_of(writes.front()).reshape);
  EXPECT_EQ(shape_of(writes.front()).reshape->parallelism, 4);
  EXPECT_EQ(shape_of(writes.front()).reshape->gpus, 1);
}

TEST_F(QueueTest, AChosenTypeIsPinnedBesideWhatTheTaskRequires) {
  planner_.know(bert({"K80", "T4"}));
  const auto snapshot =
      a_cluster()
          .with(a_node("k1").of("K80", 4).label("nvidia.com/gpu.product", "Tesla-K80"))
          .with(a_node("t1").of("T4", 4).label("nvidia.com/gpu.product", "Tesla-T4"))
          .with(a_job("train").gpus(1).waiting().trains("bert", 256, 9000))
          .build();
  const auto writes = starts(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  ASSERT_TRUE(shape_of(writes.front()).affinity_terms);
  const MatchExpression& type = shape_of(writes.front()).affinity_terms->front().front();
  EXPECT_EQ(type.key, "nvidia.com/gpu.product");
  EXPECT_EQ(type.values,
            (std::vector<std::string>{"Tesla-" + writes.front().plan()->gpu_type.str()}));
  EXPECT_TRUE(shape_of(writes.front()).original->affinity_terms->empty());
}

TEST_F(QueueTest, ALessPreferredTypeWaitsUntilItIsNeeded) {
  planner_.know(bert({"K80", "T4"}));
  const auto offer = [&](double deadline_s) {
    auto job = a_job("train").gpus(1).waiting().trains("bert", 256, 9000);
    job.intent().gpu_types = {GpuType("T4"), GpuType("K80")};
    job.intent().deadline_s = deadline_s;
    return a_cluster()
        .with(a_node("k1").of("K80", 4))
        .with(a_node("t1").of("T4", 4))
        .with(a_pod("busy").gpus(4).on("t1"))
        .with(job)
        .build();
  };
  EXPECT_TRUE(starts(offer(1e9)).empty());         // T4 would do, but later
  EXPECT_EQ(starts(offer(100)).size(), 1U);        // nothing meets it: any type
  EXPECT_EQ(starts(offer(1e9), 1800).size(), 1U);  // waited long enough
}

// The model knows the time on one type, and the pods may go to another one only.
TEST_F(QueueTest, AModelOfATypeOutOfReachHoldsNothingBack) {
  planner_.know(bert({"K80"}));
  SchedulingConstraints to_t4;
  to_t4.node_selector = {{"pool", "new"}};
  const auto job = a_job("train").gpus(1).waiting().trains("bert", 256, 9000).constrained(to_t4);
  const auto starts_beside = [&](const test::NodeBuilder& k80) {
    return starts(a_cluster()
                      .with(k80)
                      .with(a_node("t1").of("T4", 4).label("pool", "new"))
                      .with(job)
                      .build());
  };
  const auto writes = starts_beside(a_node("k1").of("K80", 4));
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().as<ReleaseJob>()->plan->nodes, (std::vector<NodeName>{NodeName("t1")}));
  const auto known = starts_beside(a_node("k1").of("K80", 4).label("pool", "new"));
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known.front().as<ReleaseJob>()->plan->nodes, (std::vector<NodeName>{NodeName("k1")}))
      << "where it may, it runs where its time is known";
}

// Parts of GPUs under the resource of whole ones: eight slices or shares are not eight GPUs.
TEST_F(QueueTest, WhoNamesNoTypeTakesWholeGpusOnly) {
  struct Case {
    const char* node_type;
    std::vector<const char*> named;
    std::int64_t gpus;
    bool starts;
  };
  const std::vector<Case> cases = {
      {"A100", {}, 4, true},
      {"A100-MIG-1g.5gb", {}, 4, false},
      {"T4-SHARED", {}, 1, false},
      {"A100-MIG-1g.5gb", {"A100"}, 4, false},
      {"A100-MIG-1g.5gb", {"A100-MIG-1g.5gb"}, 4, true},
      {"T4-SHARED", {"T4-SHARED"}, 1, true},
      {"T4-SHARED", {"T4-SHARED"}, 2, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::to_string(c.gpus) + " GPUs on " + c.node_type);
    auto job = a_job("train").gpus(c.gpus).waiting();
    job.intent().expected_duration_s = 3600;
    for (const char* type : c.named)
      job.intent().gpu_types.emplace_back(type);
    const auto snapshot = a_cluster().with(a_node("n1").of(c.node_type, 8)).with(job).build();
    EXPECT_EQ(starts(snapshot).size(), c.starts ? 1U : 0U);
    job.intent().any_gpu_type = c.named.empty();
    EXPECT_EQ(starts(a_cluster().with(a_node("n1").of(c.node_type, 8)).with(job).build()).size(),
              c.starts ? 1U : 0U)
        << "any is any whole GPU";
  }
}

// bert has measurements but no held-out error: 9 of 10 runs are taken to be within 30 %.
TEST_F(QueueTest, TheErrorOfTheModelsIsBelieved) {
  planner_.know(bert({"K80"}));
  const auto node = a_node("n1").of("K80", 4);
  const auto modelled = a_job("train").gpus(1).waiting().trains("bert", 256, 90000);
  const auto guessed = a_job("guessed").gpus(1).waiting();
  const double sigma = std::log(1.3) / 1.645;
  const auto rms = [&](const ClusterSnapshot& snapshot) {
    return queue(snapshot).state().error().rms();
  };
  EXPECT_EQ(rms(a_cluster().with(node).build()), 0);
  EXPECT_EQ(rms(a_cluster().with(node).with(guessed).build()), 0);
  EXPECT_NEAR(rms(a_cluster().with(node).with(modelled).build()), sigma, 1e-9);
  EXPECT_NEAR(rms(a_cluster().with(node).with(modelled).with(guessed).build()),
              sigma / std::sqrt(2.0), 1e-9);
}

TEST_F(QueueTest, IsTheSameForTheSameCluster) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(a_node("n2"))
                            .with(a_job("a").gpus(2).waiting())
                            .with(a_job("b").gpus(3).waiting())
                            .with(a_job("c").gpus(3).waiting())
                            .build();
  test::WorldPlanner again(3);
  const auto first = starts(snapshot);
  const auto second = again.plan(snapshot, 0);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].target.key, second[i].target.key);
    EXPECT_EQ(first[i].plan()->nodes, second[i].plan()->nodes);
  }
}

// ---- depends-on --------------------------------------------------------------------------------

TEST_F(QueueTest, ATaskIsNotPlannedBeforeWhatItDependsOn) {
  auto train = a_job("train").gpus(1).waiting();
  train.intent().depends_on = {"prep"};
  auto cluster = a_cluster().with(a_node("n1")).with(train);
  auto before = cluster;
  const auto waits = before.with(a_job("prep")).build();
  EXPECT_TRUE(starts(waits).empty());
  const Queue found = queue(waits);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.task(0).hindrance, (Hindrance{reason::kDependencyPending, "prep"}));
  const auto done = cluster.with(a_job("prep").finished().completed(9)).build();
  EXPECT_EQ(starts(done).size(), 1U);
  EXPECT_FALSE(queue(done).task(0).hindrance);
}

TEST_F(QueueTest, AJobWhosePodsQueueOneByOneIsNotOpenedBeforeWhatItDependsOn) {
  auto many = a_job("many").of(3).gpus(1).waiting();
  many.intent().depends_on = {"prep"};
  const auto snapshot = a_cluster().with(a_node("n1")).with(many).with(a_job("prep")).build();
  EXPECT_TRUE(starts(snapshot).empty());
  EXPECT_EQ(queue(snapshot).task(0).key.name, "many");
}

TEST_F(QueueTest, PodsOfAJobThatHadItsTurnNeedItsDependenciesNoMore) {
  auto many = a_job("many").of(3).gpus(1).managed().resumed();
  many.intent().depends_on = {"deleted-since"};
  auto bare = a_pod("bare").gpus(1).gated().managed();
  bare.intent().depends_on = {"deleted-since"};
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(many)
                            .with(a_pod("many-0").of_job("many").gpus(1).gated().managed())
                            .with(bare)
                            .build();
  const auto writes = starts(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().target.key.name, "many-0");
}

TEST_F(QueueTest, AJobThatRanNeedsItsDependenciesNoMore) {
  auto train = a_job("train").gpus(1).waiting();
  train.intent().depends_on = {"deleted-since"};
  EXPECT_TRUE(starts(a_cluster().with(a_node("n1")).with(train).build()).empty());
  Job told = train.build();
  told.progress = std::make_shared<const ProgressNote>(ProgressNote{.iteration = 1, .total = 9});
  EXPECT_EQ(starts(a_cluster().with(a_node("n1")).add(told).build()).size(), 1U)
      << "somebody suspended and resumed it";
  EXPECT_EQ(starts(a_cluster().with(a_node("n1")).with(train.stopped(1)).build()).size(), 1U);
}

TEST_F(QueueTest, WhatIsLeftOfAReshapedGangGoesOnInItsShape) {
  planner_.know(bert({"K80"}));
  auto gang = a_job("gang").of(2).gang().gpus(4).succeeded(1).stopped(1).waiting();
  gang.trains("bert", 256, 90000).intent().placements = {{1, 8}, {2, 4}};
  Job job = gang.build();
  job.original = std::make_shared<const OriginalShape>(OriginalShape{8, 1, {}});
  const auto writes = starts(
      a_cluster().with(a_node("n1").of("K80", 4)).with(a_node("n2").of("K80", 4)).add(job).build());
  ASSERT_EQ(writes.size(), 1U) << "it is not one pod of 7";
  EXPECT_EQ(writes.front().plan()->shape, (Placement{1, 4}));
  EXPECT_EQ(writes.front().plan()->nodes.size(), 1U);
  EXPECT_FALSE(shape_of(writes.front()).reshape);
}

// ---- per queue ---------------------------------------------------------------------------------

TEST_F(QueueTest, EachQueueHasItsOwnPatienceForPreferredTypes) {
  const auto wants = [](const std::string& name, const std::string& in) {
    auto pod = a_pod(name).gpus(1).gated().managed();
    pod.intent().gpu_types = {GpuType("V100"), GpuType("K80")};
    pod.intent().queue = in;
    return pod;
  };
  const auto snapshot = a_cluster()
                            .with(a_node("k80").of("K80", 4))
                            .with(a_node("v100").of("V100", 4))
                            .with(a_pod("stranger").gpus(4).on("v100"))
                            .with(wants("patient", "text"))
                            .with(wants("eager", "vision"))
                            .build();
  QueueRulebook queues;
  queues.named["vision"].fallback_after_s = 60;
  EXPECT_TRUE(starts(snapshot, 30).empty());
  planner_.follow(&queues);
  const auto writes = starts(snapshot, 90);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().target.key.name, "eager");
}

TEST_F(QueueTest, ANewJobKeepsItsPlaceUntilItsControllerHasHaltedIt) {
  const auto started = [&](bool halted, double now_s) {
    auto first = a_job("first").gpus(4).waiting().created(100);
    if (!halted) first.not_halted();
    const auto snapshot = a_cluster()
                              .with(a_node("n1"))
                              .with(first)
                              .with(a_job("second").gpus(4).waiting().created(100))
                              .build();
    const auto writes = starts(snapshot, now_s);
    return writes.empty() ? "" : writes.front().target.key.name;
  };
  EXPECT_EQ(started(false, 101), "");
  EXPECT_EQ(started(true, 101), "first");
  EXPECT_EQ(started(false, 111), "second") << "nobody waits for a controller that is away";
}

// ---- scaleUp -----------------------------------------------------------------------------------

class ScaleUpTest : public QueueTest {
 protected:
  ScaleUpTest() {
    queues_.named["grows"].scale_up = true;
    planner_.follow(&queues_);
  }
  static test::JobBuilder job_in(const std::string& queue, const std::string& name, int gpus) {
    auto job = a_job(name).gpus(gpus).waiting();
    job.intent().queue = queue;
    return job;
  }
  static test::PodBuilder pod_in(const std::string& queue, const std::string& name, int gpus) {
    auto pod = a_pod(name).gpus(gpus).gated().managed();
    pod.intent().queue = queue;
    return pod;
  }
  QueueRulebook queues_;
};

TEST_F(ScaleUpTest, WhatIsLetGoHasTheShapeInWhichItWasWritten) {
  Job job = job_in("grows", "big-job", 8).build();
  const std::vector<NodeSelectorTerm> written = {{{"zone", MatchOperator::kIn, {"a"}}}};
  job.original = std::make_shared<const OriginalShape>(OriginalShape{1, 8, written});
  const auto writes = starts(a_cluster().with(a_node("n1")).add(job).build());
  ASSERT_EQ(writes.size(), 1U);
  ASSERT_TRUE(writes[0].is<OpenJob>());
  EXPECT_EQ(writes[0].as<OpenJob>()->shape.affinity_terms, written) << "and no type of a plan";
}

TEST_F(ScaleUpTest, WhatNoNodeCouldEverRunIsLetGoWithoutANomination) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(job_in("grows", "big-job", 8))
                            .with(job_in("other", "stays", 8))
                            .with(pod_in("grows", "big-pod", 8))
                            .build();
  const auto writes = starts(snapshot);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes[0].is<OpenJob>());
  EXPECT_EQ(writes[0].target.key.name, "big-job");
  EXPECT_TRUE(writes[1].is<LiftGate>());
  EXPECT_EQ(writes[1].target.key.name, "big-pod");
}

TEST_F(ScaleUpTest, WhatFitsANodeThatIsOnlyBusyOrAwayWaits) {
  const auto snapshot = a_cluster()
                            .with(a_node("full"))
                            .with(a_pod("stranger").gpus(4).on("full"))
                            .with(a_node("away").of("V100", 8).not_ready().taint(
                                "node.kubernetes.io/unreachable", ""))
                            .with(a_node("cordoned").of("T4", 16).cordoned())
                            .with(job_in("grows", "a", 4))
                            .with(job_in("grows", "b", 8))
                            .with(job_in("grows", "c", 16))
                            .build();
  EXPECT_TRUE(starts(snapshot).empty());
}

TEST_F(ScaleUpTest, PredicatesCountToo) {
  SchedulingConstraints elsewhere;
  elsewhere.node_selector = {{"zone", "b"}};
  auto typed = pod_in("grows", "typed", 1);
  typed.intent().gpu_types = {GpuType("H100")};
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(pod_in("grows", "selective", 1).constrained(elsewhere))
                            .with(pod_in("grows", "thirsty", 1).cpus(1000))
                            .with(typed)
                            .build();
  EXPECT_EQ(starts(snapshot).size(), 3U);
}

TEST_F(ScaleUpTest, AGangStaysWithItsReason) {
  auto gang = a_job("gang").of(4).gang().gpus(4).waiting();
  gang.intent().queue = "grows";
  const auto snapshot = a_cluster().with(a_node("n1")).with(gang).build();
  EXPECT_TRUE(starts(snapshot).empty());
  const Queue found = queue(snapshot);
  ASSERT_TRUE(found.task(0).hindrance);
  EXPECT_EQ(found.task(0).hindrance->reason, reason::kGangCannotScaleUp);
}

TEST_F(ScaleUpTest, WhatWasLetGoWaitsAgainOnceANodeCouldRunIt) {
  const auto big_in = [](const std::string& queue) {
    auto pod = a_pod("big-in-" + queue).gpus(8).managed();
    pod.intent().queue = queue;
    return pod;
  };
  auto cluster = a_cluster().with(a_node("n1")).with(big_in("grows")).with(big_in("other"));
  EXPECT_EQ(queue(cluster.build()).size(), 0U);
  const auto grown = cluster.with(a_node("new").of("A100", 8))
                         .with(job_in("other", "behind", 8).created(5))
                         .build();
  EXPECT_EQ(queue(grown).size(), 2U);
  const auto writes = starts(grown);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_TRUE(writes[0].is<PlanPod>());
  EXPECT_EQ(writes[0].target.key.name, "big-in-grows");
  EXPECT_EQ(writes[0].plan()->nodes, (std::vector<NodeName>{NodeName("new")}));
}

TEST_F(ScaleUpTest, WhatDependsOnOthersIsNotLetGoBeforeThem) {
  auto job = job_in("grows", "big", 8);
  job.intent().depends_on = {"prep"};
  EXPECT_TRUE(starts(a_cluster().with(a_node("n1")).with(job).build()).empty());
}

}  // namespace
}  // namespace slackline::core
