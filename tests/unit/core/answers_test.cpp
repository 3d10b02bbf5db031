// Why a task waits, what would help, what one would cost, and what a change would do.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slackline/core/answers/calendar.h"
#include "slackline/core/answers/changes.h"
#include "slackline/core/answers/quote.h"
#include "slackline/core/answers/what_if.h"
#include "slackline/model/reason.h"
#include "support/answer_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using test::a_quota;
using test::add_running;
using test::kGpu;

constexpr double kAsked_s = 1'000'000;

test::JobBuilder stated(const std::string& name, double minutes) {
  auto job = a_job(name).created(kAsked_s - 600);
  job.intent().expected_duration_s = 60 * minutes;
  return job;
}

class AnswersTest : public testing::Test {
 protected:
  AnswersTest() {
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
    options_.now_wall_s = options_.now_steady_s = kAsked_s;
    options_.foresee = true;  // and nobody is stopped by the policy
  }

  // A task of a cluster, and the question about it, which refers to both.
  struct Asked {
    Asked(const ClusterSnapshot& cluster, const QueueOptions& options, TaskMenus& menus,
          const Policy& policy, const std::string& name)
        : snapshot(cluster),
          queue(make_queue(snapshot, options, menus)),
          question{.snapshot = snapshot,
                   .queue = queue,
                   .task = 0,
                   .catalog = *options.catalog,
                   .now_s = kAsked_s,
                   .now_steady_s = kAsked_s} {
      for (TaskIndex task = 0; task < queue.size(); ++task) {
        names.push_back(queue.task(task).uid);
        if (queue.task(task).key.name == name) question.task = task;
      }
      book = ForecastBook(queue.state(), names, kAsked_s, policy);
      question.forecast = [this](TaskIndex task) {
        return task < names.size() ? book.find(names[task]) : nullptr;
      };
    }
    Asked(const Asked&) = delete;

    ClusterSnapshot snapshot;
    Queue queue;
    std::vector<Uid> names;
    ForecastBook book;
    ExplainQuestion question;
  };
  std::unique_ptr<Asked> about(const std::string& name, const test::ClusterBuilder& cluster) {
    return std::make_unique<Asked>(cluster.build(), options_, menus_, policy_, name);
  }

  Changes changes(const Asked& asked, const ChangeOptions& options = {}) {
    return find_changes(asked.question, options_, policy_, menus_, options);
  }

  static const Change* find(const Changes& changes, ChangeKind kind) {
    for (const Change& change : changes.helpful)
      if (change.kind == kind) return &change;
    return nullptr;
  }

  static std::vector<std::string> reasons(const std::vector<Blocker>& blockers) {
    std::vector<std::string> codes;
    for (const Blocker& blocker : blockers)
      codes.emplace_back(blocker.reason);
    return codes;
  }

  const GpuCatalog catalog_ = default_gpu_catalog();
  const Policy policy_ = *parse_policy("savable-p,headroom=0,calm=0");
  QueueOptions options_;
  TaskMenus menus_;
};

TEST_F(AnswersTest, AllBlockersAreToldTheWorstFirst) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_node("n2"));
  add_running(cluster, stated("long", 60), "long", 4, "n1", "", kAsked_s - 600);
  add_running(cluster, stated("short", 30), "short", 4, "n2", "", kAsked_s - 600);
  cluster.with(stated("prep", 10).gpus(1).waiting());
  cluster.with(a_quota("gpus").limit(kGpu, 10));
  auto waits = stated("waits", 10).gpus(4).waiting();
  waits.intent().depends_on = {"prep"};
  const auto asked = about("waits", cluster.with(waits));
  const auto blockers = explain(asked->question, reason::kDependencyPending);
  EXPECT_EQ(reasons(blockers),
            (std::vector<std::string>{"QuotaExceeded", "DependencyPending", "WaitsItsTurn"}));
  EXPECT_EQ(blockers[0].need, 4);
  EXPECT_EQ(blockers[0].have, 2) << "eight of ten run";
  EXPECT_EQ(blockers[0].lacking(), 2);
  ASSERT_EQ(blockers[1].on.size(), 1U);
  EXPECT_EQ(blockers[1].on.front().str(), "default/prep");
  const Blocker& gpus = blockers[2];
  EXPECT_EQ(gpus.need, 4);
  EXPECT_EQ(gpus.have, 0);
  ASSERT_EQ(gpus.relief.size(), 1U) << "the first to end is enough";
  EXPECT_EQ(gpus.relief.front().task.name, "short");
  EXPECT_NEAR(*gpus.p50_s, kAsked_s + 1200, 300);
  EXPECT_GT(*gpus.p90_s, *gpus.p50_s);
}

TEST_F(AnswersTest, WhatRanIsNotToldOfDependenciesThatAreGone) {
  auto cluster = a_cluster().with(a_node("n1"));
  add_running(cluster, stated("runs", 60), "runs", 4, "n1", "", kAsked_s - 600);
  auto waits = stated("waits", 10).gpus(4).waiting();
  waits.intent().depends_on = {"deleted-since"};
  auto stopped = cluster;
  const auto never_ran = about("waits", cluster.with(waits));
  EXPECT_EQ(reasons(explain(never_ran->question, reason::kDependencyMissing)).front(),
            reason::kDependencyMissing);
  const auto ran = about("waits", stopped.with(waits.stopped(1)));
  EXPECT_EQ(reasons(explain(ran->question, reason::kWaitsItsTurn)),
            std::vector<std::string>{"WaitsItsTurn"});
}

// Only a stop lets it start before those end whom it would wait for.
TEST_F(AnswersTest, WhoStartsBeforeTheEndsThatHelpIsToldOfAStop) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  const auto alone =
      about("waits", test::ClusterBuilder(cluster).with(stated("waits", 10).gpus(4).waiting()));
  const Forecast at_once = *alone->question.forecast(alone->question.task);
  add_running(cluster, stated("long", 60), "long", 4, "n1", "", kAsked_s - 600);
  const auto asked = about("waits", cluster.with(stated("waits", 10).gpus(4).waiting()));
  const auto known = asked->question.forecast;
  asked->question.forecast = [&](TaskIndex task) {
    return task == asked->question.task ? &at_once : known(task);
  };
  EXPECT_EQ(explain(asked->question, reason::kWaitsItsTurn).front().detail, "");
  asked->question.policy = &policy_;
  EXPECT_EQ(
      explain(asked->question, reason::kWaitsItsTurn).front().detail,
      "it is predicted to start before that: one of these runs may end earlier, or be stopped "
      "for it");
}

TEST_F(AnswersTest, WhoFitsAndYieldsIsToldToWhom) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("H100", 8)).with(a_node("n2").of("H100", 8));
  add_running(cluster, stated("runs", 300), "runs", 8, "n1", "H100", kAsked_s - 600);
  auto gang = stated("gang", 60).of(2).gang().gpus(8).waiting();
  gang.intent().deadline_s = kAsked_s + 8 * 3600;
  auto large = stated("large", 600).gpus(8).waiting();
  large.intent().deadline_s = kAsked_s + 48 * 3600;
  const auto asked = about("large", cluster.with(gang).with(large));
  const Policy keeps = *parse_policy("savable");
  asked->question.policy = &keeps;
  const auto blockers = explain(asked->question, reason::kWaitsItsTurn);
  ASSERT_EQ(reasons(blockers), std::vector<std::string>{"WaitsItsTurn"});
  ASSERT_EQ(blockers.front().on.size(), 1U);
  EXPECT_EQ(blockers.front().on.front().str(), "default/gang");
}

TEST_F(AnswersTest, WhoseEndsItWaitsForOnTheNodesThatAreKeptForItIsTold) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_node("n2")).with(a_node("n3"));
  add_running(cluster, stated("long", 60), "long", 4, "n1", "", kAsked_s - 600);
  add_running(cluster, stated("short", 30), "short", 4, "n2", "", kAsked_s - 600);
  add_running(cluster, stated("beside", 20), "beside", 4, "n3", "", kAsked_s - 600);
  cluster.with(stated("gang", 10).of(2).gang().gpus(4).waiting());
  const auto asked = about("gang", cluster);
  const std::vector<NodeName> kept = {NodeName("n1"), NodeName("n2")};
  asked->question.kept = kept;
  const auto blockers = explain(asked->question, reason::kWaitsForRoom);
  ASSERT_EQ(reasons(blockers), (std::vector<std::string>{"WaitsForRoom"}));
  EXPECT_EQ(blockers.front().detail, "kept for it: n1, n2");
  EXPECT_EQ(blockers.front().lacking(), 8);
  std::vector<std::string> ends;
  for (const Relief& relief : blockers.front().relief)
    ends.push_back(relief.task.name);
  EXPECT_EQ(ends, (std::vector<std::string>{"short", "long"})) << "n3 is nothing to it";
  EXPECT_NEAR(*blockers.front().p50_s, kAsked_s + 3000, 60);
  add_running(cluster, stated("overdue", 5), "overdue", 4, "n4", "", kAsked_s - 600);
  const auto later = about("gang", cluster.with(a_node("n4")));
  const std::vector<NodeName> moved = {NodeName("n4"), NodeName("n2")};
  later->question.kept = moved;
  const auto late = explain(later->question, reason::kWaitsForRoom);
  ASSERT_FALSE(late.empty());
  EXPECT_EQ(late.front().detail,
            "kept for it: n4, n2; a run takes longer than predicted: this time moves with it");
}

TEST_F(AnswersTest, EveryNodeIsCountedOnceByWhatKeepsTheTaskOff) {
  auto cluster = a_cluster();
  cluster.with(a_node("a-full").of("A100", 4).other("rdma/hca", 1))
      .with(a_node("b-free").of("A100", 4).other("rdma/hca", 1))
      .with(a_node("c-other").of("K80", 4))
      .with(a_node("d-other").of("K80", 4))
      .with(a_node("e-taint").of("A100", 4).other("rdma/hca", 1).taint("team", "x"))
      .with(a_node("f-small").of("A100", 2))
      .with(a_node("g-cpu").of("A100", 4).other("rdma/hca", 1).cpus(0))
      .with(a_node("h-cordoned").of("A100", 4).other("rdma/hca", 1).cordoned())
      .with(a_node("i-none").of("A100", 0))
      .with(a_node("n-unhealthy").of("A100", 3).other("rdma/hca", 1).unhealthy(1))
      .with(a_node("j-unknown").of("", 4))
      .with(a_node("k-busy").of("A100", 4).other("rdma/hca", 1).cpus(1))
      .with(a_pod("cpu-only").cpus(1).on("k-busy"))
      .with(a_node("l-rdma").of("A100", 4).other("rdma/hca", 0))
      .with(a_node("m-rdma-taken").of("A100", 4).other("rdma/hca", 1))
      .with(a_pod("rdma-only").other("rdma/hca", 1).on("m-rdma-taken"));
  add_running(cluster, stated("runs", 60), "runs", 4, "a-full", "A100", kAsked_s - 600);
  auto waits = stated("waits", 10).gpus(4).other("rdma/hca", 1).waiting();
  waits.intent().gpu_types = {GpuType("A100")};
  const auto asked = about("waits", cluster.with(waits));
  const std::map<std::string_view, std::int64_t> expected = {
      {"GpuTypeNotAccepted", 2}, {"NodeTooSmall", 3}, {"NoCpuOrMemory", 2}};
  std::int64_t nodes = 0;
  std::vector<std::string> codes;
  for (const NodeGroup& group : group_nodes(asked->question)) {
    nodes += group.nodes;
    codes.emplace_back(group.code);
    EXPECT_EQ(group.nodes, expected.contains(group.code) ? expected.at(group.code) : 1)
        << group.code;
    if (group.code == "Full") {
      EXPECT_NEAR(*group.until_s, kAsked_s + 3000, 300);
    }
  }
  EXPECT_EQ(nodes, 14);
  std::sort(codes.begin(), codes.end());
  EXPECT_EQ(codes, (std::vector<std::string>{"Free", "Full", "GpuTypeNotAccepted", "GpuTypeUnknown",
                                             "GpusUnhealthy", "NoCpuOrMemory", "NoGpus",
                                             "NodeTooSmall", "Taint", "Unschedulable"}));
  EXPECT_EQ(group_of(asked->question, *asked->snapshot.find_node("e-taint")).code, "Taint");
}

TEST_F(AnswersTest, WhatNoNodeHasEnoughOfIsNamed) {
  const auto detail = [&](test::JobBuilder job) {
    auto cluster = a_cluster();
    cluster.with(a_node("n1").of("A100", 4).cpus(16).other("rdma/hca", 2))
        .with(a_node("n2").of("A100", 4).cpus(64).taint("team", "x"));
    const auto asked = about("large", cluster.with(job.waiting()));
    const auto blockers = explain(asked->question, reason::kNoNodeFits);
    EXPECT_EQ(reasons(blockers), std::vector<std::string>{"NoNodeFits"});
    return blockers.front().detail;
  };
  EXPECT_EQ(detail(stated("large", 10).gpus(1).cpus(20)),
            "a pod asks for 20 cpu, and no node that it may use has more than 16");
  EXPECT_EQ(detail(stated("large", 10).gpus(1).other("rdma/hca", 3)),
            "a pod asks for 3 rdma/hca, and no node that it may use has more than 2");
  EXPECT_EQ(detail(stated("large", 10).of(4).gang().gpus(1).cpus(9)),
            "2 pods on one node ask for 18 cpu, and no node that it may use has more than 16");
}

TEST_F(AnswersTest, GpusThatAreUnhealthyAreNamedWhereNoNodeIsLargeEnough) {
  const auto detail = [&](const test::NodeBuilder& node) {
    auto cluster = a_cluster();
    cluster.with(node).with(stated("waits", 10).gpus(8).waiting());
    const auto blockers = explain(about("waits", cluster)->question, reason::kNoNodeFits);
    return blockers.empty() ? std::string() : blockers.front().detail;
  };
  EXPECT_EQ(detail(a_node("n1").of("A100", 7).unhealthy(1)),
            "a pod asks for 8 GPUs, and no node that it may use has more than 7; 1 GPU of n1 is "
            "unhealthy, or the device plugin is down");
  EXPECT_EQ(detail(a_node("n1").of("A100", 0).unhealthy(8)),
            "8 GPUs of n1 are unhealthy, or the device plugin is down");
}

TEST_F(AnswersTest, WhatBarsItFromAllNodesOfItsTypeIsNamedAndNotCpuOrMemory) {
  const auto asked_for = [&](const char* type, std::int64_t gpus) {
    auto cluster = a_cluster();
    cluster.with(a_node("spot").of("L4", 4).taint("cloud.google.com/gke-spot", "true"))
        .with(a_node("shared").of("T4-SHARED", 4))
        .with(a_node("other").of("A100", 4));
    auto job = stated("waits", 10).gpus(gpus).waiting();
    job.intent().gpu_types = {GpuType(type)};
    return about("waits", cluster.with(job));
  };
  const auto detail = [](const Asked& asked) {
    return explain(asked.question, reason::kNoNodeFits).front().detail;
  };
  EXPECT_EQ(detail(*asked_for("L4", 1)),
            "no node with GPUs of a type that it accepts takes its pods: node has a taint that the "
            "pod does not tolerate (cloud.google.com/gke-spot=true) (1 node)");
  const auto shares = asked_for("T4-SHARED", 2);
  EXPECT_EQ(detail(*shares),
            "no node with GPUs of a type that it accepts takes its pods: its GPUs are shared, and "
            "no pod is planned there that asks for 2 shares (1 node)");
  EXPECT_EQ(group_of(shares->question, *shares->snapshot.find_node("shared")).code, "SharedGpus");
  const auto one = asked_for("T4-SHARED", 1);
  EXPECT_EQ(group_of(one->question, *one->snapshot.find_node("shared")).code, "Free");
}

TEST_F(AnswersTest, NoGpusLackWhereOneOfItsPlacementsHasRoom) {
  auto cluster = a_cluster();
  for (const char* node : {"n1", "n2"})
    cluster.with(a_node(node).of("A100", 4).cpus(16));
  const auto asked =
      about("wide", cluster.with(stated("wide", 10).of(4).gang().gpus(1).cpus(5).waiting()));
  EXPECT_EQ(reasons(explain(asked->question, reason::kStartsNow)),
            std::vector<std::string>{"StartsNow"});
}

TEST_F(AnswersTest, EveryKindOfChangeThatHelpsIsFound) {
  auto cluster = a_cluster();
  cluster.with(a_node("full").of("A100", 4))
      .with(a_node("half").of("A100", 4))
      .with(a_node("idle").of("K80", 4));
  add_running(cluster, stated("runs", 600), "runs", 4, "full", "A100", kAsked_s - 900);
  add_running(cluster, stated("team-b/small", 600), "team-b/small", 2, "half", "A100",
              kAsked_s - 900);
  auto waits = stated("waits", 60).gpus(4).waiting();
  waits.intent().gpu_types = {GpuType("A100")};
  waits.intent().deadline_s = kAsked_s + 3 * 3600;
  const auto asked = about("waits", cluster.with(waits));
  const Changes found = changes(*asked);
  EXPECT_EQ(found.not_tried, 0);
  ASSERT_TRUE(found.unchanged);
  EXPECT_GT(found.unchanged->start_s.p50(), kAsked_s + 5 * 3600);
  EXPECT_EQ(found.unchanged->chance, 0);

  const Change* fewer = find(found, ChangeKind::kFewerGpus);
  ASSERT_NE(fewer, nullptr);
  EXPECT_EQ(fewer->what, "2 GPUs instead of 4");
  EXPECT_EQ(fewer->outlook.start_s.p50(), kAsked_s);
  EXPECT_NEAR(fewer->outlook.finish_s.p50(), kAsked_s + 7200, 1000) << "twice as long";
  const Change* type = find(found, ChangeKind::kOtherType);
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->what, "gpu-types: K80");
  EXPECT_EQ(type->outlook.start_s.p90(), kAsked_s);
  EXPECT_FALSE(std::isfinite(type->outlook.finish_s.p50()))
      << "an hour on A100 says nothing of K80";
  EXPECT_FALSE(type->outlook.chance);
  const Change* way = find(found, ChangeKind::kGiveWay);
  ASSERT_NE(way, nullptr);
  EXPECT_TRUE(way->by->name == "runs" || way->by->name == "small");
  EXPECT_EQ(way->outlook.start_s.p50(), kAsked_s);
  const Change* deadline = find(found, ChangeKind::kLaterDeadline);
  ASSERT_NE(deadline, nullptr);
  EXPECT_GE(*deadline->outlook.chance, 0.8);
  EXPECT_EQ(deadline->what.rfind("deadline-after: ", 0), 0U) << "its deadline is a promise";
  EXPECT_EQ(find(found, ChangeKind::kQuota), nullptr);
  EXPECT_EQ(find(found, ChangeKind::kFreeShape), nullptr) << "it names no model";
  for (std::size_t i = 1; i < found.helpful.size(); ++i)
    EXPECT_GE(found.helpful[i - 1].outlook.chance.value_or(0),
              found.helpful[i].outlook.chance.value_or(0));
}

TEST_F(AnswersTest, WhatAQuotaKeepsStartsOnceRunsOfItsNamespaceEnd) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_node("n2").of("A100", 8));
  cluster.with(a_quota("gpus").limit(kGpu, 8));
  add_running(cluster, stated("runs", 60), "runs", 6, "n1", "A100", kAsked_s - 600);
  cluster.with(stated("first", 60).gpus(4).created(kAsked_s - 90).waiting())
      .with(stated("second", 60).gpus(8).created(kAsked_s - 60).waiting())
      .with(stated("huge", 60).gpus(16).created(kAsked_s - 30).waiting());
  const auto first = about("first", cluster);
  const Forecast* starts = first->question.forecast(first->question.task);
  ASSERT_NE(starts, nullptr);
  EXPECT_NEAR(starts->start_s.p50(), kAsked_s + 3000, 10) << "GPUs are free, and no quota";
  const auto blockers = explain(first->question, reason::kQuotaExceeded);
  ASSERT_EQ(reasons(blockers), std::vector<std::string>{"QuotaExceeded"});
  ASSERT_EQ(blockers.front().relief.size(), 1U);
  EXPECT_EQ(blockers.front().relief.front().task.name, "runs");
  EXPECT_EQ(blockers.front().relief.front().gpus, 6);
  EXPECT_NEAR(*blockers.front().p50_s, kAsked_s + 3000, 10);
  const auto second = about("second", cluster);
  const Forecast* later = second->question.forecast(second->question.task);
  ASSERT_NE(later, nullptr);
  EXPECT_GE(later->start_s.p50(), starts->finish_s.p50()) << "who was there first has it first";
  const auto huge = about("huge", cluster);
  EXPECT_EQ(huge->question.forecast(huge->question.task), nullptr);
  EXPECT_EQ(explain(huge->question, reason::kQuotaExceeded).front().detail,
            "the quota allows 8 in all: it never starts as it is");
}

TEST_F(AnswersTest, AGangThatAQuotaCutsOffNamesTheQuota) {
  const auto blockers = [&](std::int64_t hard) {
    auto cluster = a_cluster();
    cluster.with(a_node("n1").of("A100", 8)).with(a_node("n2").of("A100", 8));
    cluster.with(a_quota("gpus").limit(kGpu, hard, hard));
    for (const char* name : {"half-0", "half-1"})
      cluster.with(a_pod(name).in_gang("half", 3).gpus(4).managed().gated());
    return explain(about("half", cluster)->question, reason::kGangIncomplete);
  };
  const auto waits = blockers(12);
  ASSERT_EQ(reasons(waits), (std::vector<std::string>{"QuotaExceeded", "GangIncomplete"}));
  EXPECT_EQ(waits.front().need, 4) << "of its third pod";
  EXPECT_EQ(waits.front().have, 0);
  const auto never = blockers(8);
  ASSERT_EQ(reasons(never), (std::vector<std::string>{"QuotaExceeded", "GangIncomplete"}));
  EXPECT_EQ(never.front().detail, "the quota allows 8 in all: it never starts as it is");
}

// The API server counts pods behind a gate as well.
TEST_F(AnswersTest, PodsThatWaitAreNamedAsHoldersOfAQuota) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_node("n2").of("A100", 8));
  cluster.with(a_quota("gpus").limit(kGpu, 8, 8));
  for (const char* name : {"half-0", "half-1"})
    cluster.with(a_pod(name).in_gang("half", 3).gpus(4).managed().gated());
  cluster.with(a_pod("team-b/other-0").in_gang("other", 3).gpus(4).managed().gated());
  cluster.with(stated("next", 60).gpus(4).waiting());
  const auto blockers = explain(about("next", cluster)->question, reason::kQuotaExceeded);
  ASSERT_EQ(reasons(blockers), std::vector<std::string>{"QuotaExceeded"});
  EXPECT_EQ(blockers.front().detail,
            "pods that wait hold 8 of it, those of half: it comes free when they have run, or are "
            "deleted");
}

// Each of them is within the quota, but not both.
TEST_F(AnswersTest, TwoThatAQuotaAdmitsOneByOneAreNotForetoldTogether) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_quota("gpus").limit(kGpu, 6));
  cluster.with(stated("one", 60).gpus(4).created(kAsked_s - 90).waiting())
      .with(stated("two", 60).gpus(4).created(kAsked_s - 60).waiting())
      .with(stated("team-b/three", 60).gpus(4).created(kAsked_s - 30).waiting());
  std::map<std::string, double> starts;
  for (const char* name : {"one", "two", "three"}) {
    const auto asked = about(name, cluster);
    starts[name] = asked->question.forecast(asked->question.task)->start_s.p50();
  }
  EXPECT_EQ(starts["one"], kAsked_s);
  EXPECT_EQ(starts["three"], kAsked_s) << "the quota is another namespace's";
  EXPECT_NEAR(starts["two"], kAsked_s + 3600, 60);
}

// Whatever is chosen: each node is a pod.
TEST_F(AnswersTest, AQuotaOfPodsCountsThePodsOfThePlacementThatIsChosen) {
  options_.predictor = std::make_shared<const Predictor>(
      WorkloadProfiles({{"bert", GpuType("K80"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}}));
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("K80", 4)).with(a_node("n2").of("K80", 4));
  cluster.with(a_quota("pods").limit("pods", 3));
  auto job = a_job("train").of(1).gang().gpus(1).waiting().trains("bert", 256, 90000);
  job.intent().placements = {{2, 4}};
  const auto asked = about("train", cluster.with(job));
  const PlanState& state = asked->queue.state();
  const TaskIndex task = asked->question.task;
  ASSERT_EQ(state.tasks()[task].quotas.size(), 1U);
  SharedUse use = state.use_of(task, state.tasks()[task].menu->all.at(0));
  EXPECT_EQ(use.of(use.quotas[0]), 2);
  use.nodes = 1;
  EXPECT_EQ(use.of(use.quotas[0]), 1);
}

// Its place is kept, and what its next run takes of the quota.
TEST_F(AnswersTest, WhatGoesOnElsewhereTakesOfItsQuotaUntilItEnds) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_quota("gpus").limit(kGpu, 6));
  Job moved = stated("moved", 60).gpus(4).waiting().build();
  PreemptionNote note{.count = 1, .at_s = kAsked_s - 5};
  note.goes_on = PreemptionNote::GoesOn{
      .shape = {1, 4}, .gpu_type = GpuType("A100"), .nodes = {NodeName("n1")}, .from = {1, 4}};
  moved.preemptions = std::make_shared<const PreemptionNote>(note);
  cluster.add(moved)
      .with(stated("one", 60).gpus(4).created(kAsked_s - 60).waiting())
      .with(stated("two", 60).gpus(4).created(kAsked_s - 30).waiting());
  std::map<std::string, double> starts;
  for (const char* name : {"one", "two"}) {
    const auto asked = about(name, cluster);
    starts[name] = asked->question.forecast(asked->question.task)->start_s.p50();
  }
  EXPECT_NEAR(starts["one"], kAsked_s + 3600, 60);
  EXPECT_GE(starts["two"], starts["one"] + 3600);
}

// Pods that are there hold the quota, and give it back when they have ended.
TEST_F(AnswersTest, PodsOfOthersGiveTheirQuotaBack) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_quota("gpus").limit(kGpu, 6));
  Pod theirs = a_pod("theirs").gpus(4).on("n1").started(kAsked_s - 600).build();
  auto stated_hour = std::make_shared<TaskIntent>();
  stated_hour->expected_duration_s = 3600;
  theirs.intent = stated_hour;
  cluster.add(theirs).with(stated("waits", 60).gpus(4).waiting());
  const auto asked = about("waits", cluster);
  EXPECT_EQ(asked->queue.task(asked->question.task).hindrance->reason, reason::kQuotaExceeded);
  EXPECT_NEAR(asked->question.forecast(asked->question.task)->start_s.p50(), kAsked_s + 3000, 60);
}

// Whoever holds it back, or what it depends on, comes before a quota.
TEST_F(AnswersTest, AQuotaIsNoReasonForWhatSomethingElseKeeps) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_quota("gpus").limit(kGpu, 4));
  add_running(cluster, stated("runs", 60), "runs", 2, "n1", "", kAsked_s - 600);
  auto held = stated("held", 60).gpus(4).suspended();
  auto after = stated("after", 60).gpus(4).waiting();
  after.intent().depends_on = {"prep"};
  cluster.with(held.managed()).with(after).with(stated("prep", 10).gpus(2).waiting());
  const auto asked = about("held", cluster);
  EXPECT_EQ(asked->queue.task(asked->question.task).hindrance->reason, reason::kHeldByUser);
  EXPECT_EQ(asked->question.forecast(asked->question.task), nullptr);
  const auto follows = about("after", cluster);
  const Forecast* starts = follows->question.forecast(follows->question.task);
  ASSERT_NE(starts, nullptr);
  EXPECT_NEAR(starts->start_s.p50(), kAsked_s + 3000, 10)
      << "what it depends on is done long before the quota has room";
}

TEST_F(AnswersTest, AQuotaToAskForIsWhatIsLacking) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_quota("gpus").limit(kGpu, 3));
  const auto asked = about("waits", cluster.with(stated("waits", 60).gpus(4).waiting()));
  const Changes found = changes(*asked);
  EXPECT_FALSE(found.unchanged) << "it is not planned at all";
  const Change* quota = find(found, ChangeKind::kQuota);
  ASSERT_NE(quota, nullptr);
  EXPECT_EQ(quota->what, "1 more nvidia.com/gpu in the ResourceQuota gpus");
  EXPECT_EQ(quota->outlook.start_s.p50(), kAsked_s);
  const Change* fewer = find(found, ChangeKind::kFewerGpus);
  ASSERT_NE(fewer, nullptr) << "two GPUs are within the quota";
}

TEST_F(AnswersTest, OfAQuotaThatIsExceededMoreIsShortThanIsAskedFor) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_quota("gpus").limit(kGpu, 2));
  add_running(cluster, stated("runs", 60), "runs", 4, "n1", "A100", kAsked_s - 600);
  cluster.with(stated("waits", 60).gpus(1).waiting());
  const auto asked = about("waits", cluster);
  const auto blockers = explain(asked->question, reason::kQuotaExceeded);
  ASSERT_EQ(reasons(blockers), std::vector<std::string>{"QuotaExceeded"});
  EXPECT_EQ(blockers.front().have, -2);
  EXPECT_EQ(blockers.front().lacking(), 3);
  const Changes found = changes(*asked);
  const Change* quota = find(found, ChangeKind::kQuota);
  ASSERT_NE(quota, nullptr);
  EXPECT_EQ(quota->what, "3 more nvidia.com/gpu in the ResourceQuota gpus");
}

TEST_F(AnswersTest, WhoHoldsAQuotaForGoodIsNoRelief) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_quota("gpus").limit(kGpu, 4).limit("cpu", 8000));
  cluster.with(a_pod("serves").gpus(4).owned_by("ReplicaSet", "web").on("n1").started(kAsked_s));
  cluster.with(stated("waits", 60).gpus(4).cpus(9).waiting());
  const auto asked = about("waits", cluster);
  const auto blockers = explain(asked->question, reason::kQuotaExceeded);
  ASSERT_GE(blockers.size(), 2U);
  EXPECT_EQ(blockers[0].what, "nvidia.com/gpu in the ResourceQuota gpus");
  EXPECT_TRUE(blockers[0].relief.empty());
  EXPECT_NE(blockers[0].detail.find("does not end by itself"), std::string::npos);
  EXPECT_EQ(blockers[1].what.find("cpu in the ResourceQuota gpus: needs 9, has "), 0U);
}

// Nobody knows when ended pods are deleted.
TEST_F(AnswersTest, AQuotaThatCountsEndedPodsTooPromisesNoTime) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_quota("all").limit("count/pods", 1, 1));
  add_running(cluster, stated("runs", 60), "runs", 4, "n1", "A100", kAsked_s - 600);
  const auto asked = about("waits", cluster.with(stated("waits", 60).gpus(4).waiting()));
  const auto blockers = explain(asked->question, reason::kQuotaExceeded);
  ASSERT_EQ(reasons(blockers), std::vector<std::string>{"QuotaExceeded"});
  EXPECT_TRUE(blockers[0].relief.empty());
  EXPECT_FALSE(blockers[0].p50_s);
  EXPECT_NE(blockers[0].detail.find("it counts ended pods too"), std::string::npos);
  const Forecast* foretold = asked->question.forecast(asked->question.task);
  EXPECT_TRUE(foretold == nullptr || !std::isfinite(foretold->start_s.p50()));
}

TEST_F(AnswersTest, AQuotaToAskForIsToldInItsUnits) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_quota("cpus").limit("cpu", 1000));
  const auto asked = about("waits", cluster.with(stated("waits", 60).gpus(1).cpus(3).waiting()));
  const Changes found = changes(*asked);
  const Change* quota = find(found, ChangeKind::kQuota);
  ASSERT_NE(quota, nullptr);
  EXPECT_EQ(quota->what, "2 more cpu in the ResourceQuota cpus");
}

TEST_F(AnswersTest, WhoWasStoppedIsToldForWhomAndWhatIsLeftAndUntilWhenItsPodsMayTake) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 4)).with(a_node("idle").of("A100", 4));
  Job stopped = stated("waits", 60).gpus(4).waiting().stopped(1, kAsked_s - 10).build();
  PreemptionNote note = *stopped.preemptions;
  note.left = 0.62;
  note.nodes = {NodeName("n1")};
  stopped.preemptions = std::make_shared<const PreemptionNote>(note);
  cluster.add(std::move(stopped));
  cluster.with(a_pod("waits-0").of_job("waits").gpus(4).managed().on("n1").gone_by(kAsked_s + 20));
  cluster.with(stated("urgent", 10).gpus(4).managed().planned({"n1"}));
  const auto asked = about("waits", cluster);
  const auto blockers = explain(asked->question, reason::kPodsEnding);
  ASSERT_EQ(reasons(blockers), std::vector<std::string>{"PodsEnding"});
  EXPECT_EQ(blockers.front().on, std::vector<ObjectKey>{stated("urgent", 10).build().key});
  EXPECT_EQ(blockers.front().detail, "62 % of its work is left");
  EXPECT_EQ(blockers.front().p50_s, kAsked_s + 20);
}

// Its variants have no pods: "qos-class: prior" was told to start at once.
TEST_F(AnswersTest, WhoWaitsForItsOwnPodsIsHelpedByNoChange) {
  auto cluster = a_cluster();
  cluster.with(a_node("idle")).with(a_node("lost").not_ready());
  cluster.with(stated("waits", 60).gpus(4).waiting());
  cluster.with(a_pod("waits-0").of_job("waits").gpus(4).managed().on("lost").gone_by(kAsked_s));
  const auto asked = about("waits", cluster);
  const auto blockers = explain(asked->question, reason::kPodsEnding);
  ASSERT_EQ(reasons(blockers), std::vector<std::string>{"PodsEnding"});
  EXPECT_EQ(blockers.front().detail, "no answer from lost");
  const Changes found = changes(*asked, {.may_be_urgent = true});
  EXPECT_TRUE(found.helpful.empty());
  EXPECT_EQ(found.tried, 0);
}

TEST_F(AnswersTest, WhomItsOwnerHoldsBackIsHelpedByNoChange) {
  auto held = stated("waits", 60).gpus(4).waiting();
  held.intent().hold = true;
  const auto asked = about("waits", a_cluster().with(a_node("n1")).with(held));
  EXPECT_TRUE(changes(*asked, {.may_be_urgent = true}).helpful.empty());
}

// A guessed hour met every deadline: "in time 100 %".
TEST_F(AnswersTest, OfATaskWhoseLengthNobodyKnowsOnlyTheStartIsTold) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  add_running(cluster, stated("long", 60), "long", 4, "n1", "", kAsked_s - 600);
  auto waits = a_job("waits").created(kAsked_s - 600).gpus(4).waiting();
  waits.intent().deadline_s = kAsked_s + 86400;
  cluster.with(waits);
  const Changes found = changes(*about("waits", cluster));
  const Change* stop = find(found, ChangeKind::kGiveWay);
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->outlook.start_s.p50(), kAsked_s);
  EXPECT_FALSE(stop->outlook.chance);
  EXPECT_FALSE(std::isfinite(stop->outlook.finish_s.p50()));
}

TEST_F(AnswersTest, ADeadlineIsNoGainForWhoeverHadNone) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  add_running(cluster, stated("runs", 600), "runs", 4, "n1", "A100", kAsked_s - 900);
  auto waits = stated("waits", 60).gpus(4).waiting();
  waits.intent().qos_class.reset();
  const auto asked = about("waits", cluster.with(waits));
  const Changes found = changes(*asked);
  ASSERT_TRUE(found.unchanged);
  EXPECT_FALSE(found.unchanged->chance);
  EXPECT_EQ(find(found, ChangeKind::kHigherClass), nullptr) << "it would start no earlier";
}

TEST_F(AnswersTest, UrgentIsProposedToThoseWhoMayUseIt) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  const auto asked = about("waits", cluster.with(stated("waits", 60).gpus(4).waiting()));
  const auto classes = [&](bool may_be_urgent) {
    std::vector<std::string> texts;
    for (const Proposal& proposal : proposals(asked->question, {.may_be_urgent = may_be_urgent}))
      if (proposal.kind == ChangeKind::kHigherClass) texts.push_back(proposal.what);
    return texts;
  };
  EXPECT_EQ(classes(false), (std::vector<std::string>{"qos-class: prior"}));
  EXPECT_EQ(classes(true), (std::vector<std::string>{"qos-class: prior", "qos-class: urgent"}));
}

TEST_F(AnswersTest, WhatThereIsNoTimeForIsCounted) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_node("n2"));
  add_running(cluster, stated("runs", 60), "runs", 4, "n1", "", kAsked_s - 900);
  add_running(cluster, stated("too", 60), "too", 4, "n2", "", kAsked_s - 900);
  const auto asked = about("waits", cluster.with(stated("waits", 60).gpus(4).waiting()));
  ChangeOptions options;
  options.stop = [] { return true; };
  const Changes found = changes(*asked, options);
  EXPECT_TRUE(found.helpful.empty());
  EXPECT_EQ(found.tried, 0);
  EXPECT_GT(found.not_tried, 1);
}

class QuoteTest : public AnswersTest {
 protected:
  // `model`: on A100 three times as fast as on K80; nothing is known of P100.
  QuoteTest() {
    std::vector<ProfileEntry> entries = {
        {"bert", GpuType("A100"), {"S", {30, 1, 0, 0.1, 1.4}}, 30, 12, 0.0, ""},
        {"bert", GpuType("K80"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, 0.0, ""}};
    for (ProfileEntry& entry : entries)
      entry.held_out_p90 = 10;
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles(entries));
  }

  Quote quote(const test::ClusterBuilder& cluster, const test::JobBuilder& job,
              const StopAsked& stop = {}) {
    const QuotedTask task = quoted({std::make_shared<const Job>(job.build()), nullptr}, kAsked_s);
    const ClusterSnapshot snapshot = with_variants(cluster.build(), {task.written, task.free});
    queue_.emplace(make_queue(snapshot, options_, menus_));
    QuoteOptions options;
    options.stop = stop;
    return make_quote(snapshot, *queue_, task, policy_, kAsked_s, options);
  }

  static const QuoteRow* on(const Quote& quote, const std::string& type, Placement shape) {
    for (const QuoteRow& row : quote.rows)
      if (!row.written && row.gpu_type.str() == type && row.shape == shape) return &row;
    return nullptr;
  }

  std::optional<Queue> queue_;
};

TEST_F(QuoteTest, EveryTypeHasARowAndTheTaskAsWrittenTheFirst) {
  auto cluster = a_cluster();
  cluster.with(a_node("fast").of("A100", 4))
      .with(a_node("slow").of("K80", 4))
      .with(a_node("odd").of("P100", 4))
      .with(a_node("unknown").of("", 4));
  add_running(cluster, stated("runs", 120), "runs", 4, "fast", "A100", kAsked_s - 900);
  auto job = a_job("new").gpus(4).trains("bert", 64, 4000);
  job.intent().deadline_s = kAsked_s + 9 * 3600;
  const Quote found = quote(cluster, job);
  ASSERT_FALSE(found.rows.empty());
  EXPECT_TRUE(found.rows.front().written);
  ASSERT_TRUE(found.rows.front().forecast);
  EXPECT_EQ(found.deadline_s, kAsked_s + 9 * 3600);
  const QuoteRow* fast = on(found, "A100", {1, 4});
  const QuoteRow* slow = on(found, "K80", {1, 4});
  ASSERT_TRUE(fast && slow);
  EXPECT_EQ(slow->forecast->start_s.p50(), kAsked_s);
  EXPECT_GT(fast->forecast->start_s.p50(), kAsked_s + 3600);
  EXPECT_LT(*fast->run_s, *slow->run_s);
  EXPECT_NEAR(*fast->gpu_hours, 4 * *fast->run_s / 3600, 1e-9);
  EXPECT_NEAR(*slow->latest_s, *found.deadline_s - (slow->forecast->finish_s.p90() - kAsked_s), 1);
  job.intent().deadline_after_s = *job.intent().deadline_s - kAsked_s;
  job.intent().deadline_s = std::nullopt;
  const Quote moving = quote(cluster, job);
  EXPECT_EQ(moving.deadline_s, found.deadline_s);
  EXPECT_FALSE(moving.rows.front().latest_s) << "its deadline moves with its submission";
  for (const char* type : {"P100", ""}) {
    const auto row = std::find_if(found.rows.begin() + 1, found.rows.end(),
                                  [&](const QuoteRow& r) { return r.gpu_type.str() == type; });
    ASSERT_NE(row, found.rows.end()) << type;
    EXPECT_FALSE(row->forecast);
    EXPECT_NE(row->why_not, "");
  }
  ASSERT_TRUE(found.best);
  EXPECT_TRUE(found.rows[*found.best].accepted);
}

TEST_F(QuoteTest, WhereNoNodeCouldEverTakeItIsSaidAndNotThatItWaitsLong) {
  auto cluster = a_cluster();
  cluster.with(a_node("fast").of("A100", 4).taint("team", "other"))
      .with(a_node("slow").of("K80", 4));
  const Quote found = quote(cluster, a_job("new").gpus(4).trains("bert", 64, 4000));
  const QuoteRow* fast = on(found, "A100", {1, 4});
  ASSERT_NE(fast, nullptr);
  EXPECT_FALSE(fast->forecast);
  EXPECT_EQ(fast->why_not, reason::kNoNodeFits);
  EXPECT_TRUE(found.rows.front().forecast) << "K80 can take it";
}

TEST_F(QuoteTest, ThePlacementThatIsWrittenHasOneRow) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("K80", 4));
  add_running(cluster, stated("long", 60), "long", 4, "n1", "K80", kAsked_s - 600);
  const Quote found = quote(cluster, stated("new", 20).gpus(1));
  const QuoteRow& written = found.rows.front();
  ASSERT_TRUE(written.shape && written.forecast);
  EXPECT_EQ(on(found, "K80", *written.shape), nullptr);
  EXPECT_EQ(found.best, 0U);
}

TEST_F(AnswersTest, OthersHaveTheGpusOfWhatItsTimeLimitEnds) {
  auto cluster = a_cluster();
  auto first = stated("limited", 60).gpus(4).limited(600).waiting();
  first.intent().deadline_s = kAsked_s + 4200;
  cluster.with(a_node("n1").of("K80", 4)).with(first).with(stated("next", 20).gpus(4).waiting());
  const auto next = about("next", cluster);
  EXPECT_NEAR(next->question.forecast(next->question.task)->start_s.p90(), kAsked_s + 600, 10);
  const auto limited = about("limited", cluster);
  EXPECT_GT(limited->question.forecast(limited->question.task)->finish_s.p50(), kAsked_s + 3000)
      << "when it would be done";
}

// Of a free shape, the part that the quota admits: it is not kept by the quota.
TEST_F(QuoteTest, AQuotaThatAdmitsSomePlacementKeepsNobody) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_quota("pods").limit("pods", 1));
  auto free = a_job("free").of(2).gang().gpus(4).trains("bert", 1024, 4000).waiting();
  free.intent().any_placement = true;
  Job made = free.build();
  made.gpu_container = "train";
  const auto asked = about("free", cluster.add(made));
  ASSERT_FALSE(asked->queue.task(asked->question.task).hindrance) << "one pod will do";
  EXPECT_TRUE(lacking_quota(asked->question).empty());
}

TEST_F(QuoteTest, WhatItsTimeLimitEndsBeforeItIsDoneStartsAndIsCutShort) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("K80", 4));
  const Quote found = quote(cluster, stated("new", 20).gpus(1).limited(600));
  ASSERT_TRUE(found.rows.front().forecast);
  EXPECT_EQ(found.rows.front().forecast->start_s.p50(), kAsked_s);
  EXPECT_TRUE(found.rows.front().cut_short);
  EXPECT_EQ(found.rows.front().why_not, "its time limit ends it after 10m00s");
  EXPECT_FALSE(found.best);
  EXPECT_TRUE(quote(cluster, stated("new", 20).gpus(1).limited(3600)).best);
}

TEST_F(QuoteTest, AtMostSixteenAreTriedAndTheRestSaySo) {
  auto cluster = a_cluster();
  for (int i = 0; i < 6; ++i)
    cluster.with(a_node("fast" + std::to_string(i)).of("A100", 8))
        .with(a_node("slow" + std::to_string(i)).of("K80", 8));
  auto job = a_job("new").of(2).gang().gpus(4).trains("bert", 1024, 4000);
  Job made = job.build();
  made.gpu_container = "train";
  const QuotedTask task = quoted({std::make_shared<const Job>(made), nullptr}, kAsked_s);
  const ClusterSnapshot snapshot = with_variants(cluster.build(), {task.written, task.free});
  queue_.emplace(make_queue(snapshot, options_, menus_));
  const Quote found = make_quote(snapshot, *queue_, task, policy_, kAsked_s, {});
  EXPECT_EQ(found.tried, static_cast<int>(kMostCandidates));
  EXPECT_GT(found.rows.size(), kMostCandidates);
  const auto not_tried = std::count_if(
      found.rows.begin(), found.rows.end(),
      [](const QuoteRow& row) { return row.why_not == "not tried" && !row.forecast && row.run_s; });
  EXPECT_EQ(static_cast<std::size_t>(not_tried), found.rows.size() - kMostCandidates);

  const Quote hurried = quote(cluster, job, [] { return true; });
  EXPECT_EQ(hurried.tried, 0);
  EXPECT_EQ(hurried.rows.front().why_not, "not tried");
}

TEST_F(QuoteTest, WhomItDelaysIsSaid) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 4));
  auto other = a_job("other").gpus(4).trains("bert", 64, 4000).waiting().created(kAsked_s - 60);
  cluster.with(other);
  add_running(cluster, stated("runs", 60), "runs", 4, "n1", "A100", kAsked_s - 3300);
  auto urgent = a_job("new").gpus(4).trains("bert", 64, 4000);
  urgent.intent().qos_class = QosClass::kUrgent;
  const Quote found = quote(cluster, urgent);
  ASSERT_TRUE(found.rows.front().delays);
  const auto& delays = *found.rows.front().delays;
  ASSERT_EQ(delays.size(), 1U);
  EXPECT_EQ(queue_->task(delays.front().task).key.name, "other");
  EXPECT_NEAR(delays.front().by_s, *found.rows.front().run_s, 0.05 * *found.rows.front().run_s);

  auto last = a_job("new").gpus(4).trains("bert", 64, 4000);
  last.intent().deadline_s = kAsked_s - 3600;  // late already: it goes behind
  const Quote behind = quote(cluster, last);
  ASSERT_TRUE(behind.rows.front().delays);
  EXPECT_TRUE(behind.rows.front().delays->empty());
}

TEST_F(AnswersTest, AddedNodesHelpThoseWhoWaitAndADrainStopsWhoRuns) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 4)).with(a_node("n2").of("A100", 4));
  add_running(cluster, stated("runs", 120), "runs", 4, "n1", "A100", kAsked_s - 900);
  add_running(cluster, stated("stays", 120), "stays", 4, "n2", "A100", kAsked_s - 900);
  cluster.with(stated("waits", 60).gpus(4).waiting());
  const auto asked = about("waits", cluster);
  const Expected none;
  const ComparedState before{asked->queue.state(), policy_, asked->names, none, asked->queue};

  TaskMenus menus;
  const ClusterSnapshot more = with_nodes(asked->snapshot, {2, GpuType("A100"), 4}, kGpu);
  EXPECT_EQ(more.nodes.size(), 4U);
  EXPECT_EQ(more.nodes.back()->node->allocatable, more.nodes.front()->node->allocatable);
  const Queue larger = make_queue(more, options_, menus);
  const Comparison added =
      compare(before, {larger.state(), policy_, asked->names, none, larger}, kAsked_s, {});
  ASSERT_EQ(added.tasks.size(), 3U);
  for (const Outlook& outlook : added.tasks) {
    const bool waits = asked->queue.task(outlook.task).key.name == "waits";
    EXPECT_EQ(outlook.after.start_s.p50() < outlook.before.start_s.p50(), waits);
    if (waits) {
      EXPECT_EQ(outlook.after.start_s.p90(), kAsked_s);
    }
  }

  const PlanState empty = drained(asked->queue, {*asked->snapshot.find_node("n1")}, kAsked_s);
  EXPECT_EQ(empty.waiting().size(), 2U);
  const Comparison gone =
      compare(before, {empty, policy_, asked->names, none, asked->queue}, kAsked_s, {});
  for (const Outlook& outlook : gone.tasks) {
    if (asked->queue.task(outlook.task).key.name != "runs") continue;
    EXPECT_GT(outlook.after.finish_s.p50(), outlook.before.finish_s.p50() + 600);
  }
  EXPECT_FALSE(compare(before, before, kAsked_s, [] { return true; }).complete);
}

TEST_F(AnswersTest, ADrainIsForeseenAsFarAsRunsAreLong) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 4)).with(a_node("n2").of("A100", 4));
  add_running(cluster, stated("long", 7200), "long", 4, "n1", "A100", kAsked_s - 3600);
  auto after = stated("after", 60).gpus(4).waiting();
  after.intent().depends_on = {"long"};
  const auto asked = about("after", cluster.with(after));
  const Expected none;
  const PlanState empty = drained(asked->queue, {*asked->snapshot.find_node("n1")}, kAsked_s);
  const Comparison gone = compare({asked->queue.state(), policy_, asked->names, none, asked->queue},
                                  {empty, policy_, asked->names, none, asked->queue}, kAsked_s, {});
  ASSERT_EQ(gone.tasks.size(), 2U) << "what comes after it, too";
  for (const Outlook& outlook : gone.tasks) {
    EXPECT_TRUE(std::isfinite(outlook.after.finish_s.p50()));
    EXPECT_GT(outlook.after.finish_s.p50(), outlook.before.finish_s.p50() + 1800);
  }
}

// A run that is stopped gives its quota back once, and takes it again.
TEST_F(AnswersTest, WhatADrainStopsNeedsItsQuotaAgain) {
  auto cluster = a_cluster();
  for (const char* node : {"n1", "n2", "n3"})
    cluster.with(a_node(node).of("A100", 4));
  cluster.with(a_quota("gpus").limit(kGpu, 4));
  add_running(cluster, stated("runs", 600), "runs", 4, "n1", "A100", kAsked_s - 3600);
  const auto asked = about("waits", cluster.with(stated("waits", 60).gpus(4).waiting()));
  const Expected none;
  const PlanState empty = drained(asked->queue, {*asked->snapshot.find_node("n1")}, kAsked_s);
  const Comparison gone = compare({asked->queue.state(), policy_, asked->names, none, asked->queue},
                                  {empty, policy_, asked->names, none, asked->queue}, kAsked_s, {});
  ASSERT_EQ(gone.tasks.size(), 2U);
  const Forecast& one = gone.tasks[0].after;
  const Forecast& other = gone.tasks[1].after;
  EXPECT_TRUE(one.start_s.p50() >= other.finish_s.p50() - 60 ||
              other.start_s.p50() >= one.finish_s.p50() - 60)
      << "together they would exceed it";
}

TEST_F(AnswersTest, AnAddedNodeIsNotUnderMaintenanceLikeTheOneThatItIsMadeAfter) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")
                   .of("A100", 4)
                   .cordoned()
                   .label("kubernetes.io/hostname", "n1")
                   .taint("team", "a")
                   .taint("node.kubernetes.io/unschedulable", ""));
  const Node added = *with_nodes(cluster.build(), {1, GpuType("A100"), 4}, kGpu).nodes.back()->node;
  ASSERT_EQ(added.taints.size(), 1U);
  EXPECT_EQ(added.taints.front().key, "team");
  EXPECT_TRUE(added.labels.empty());
  cluster.with(a_node("n2").of("A100", 4));
  EXPECT_TRUE(
      with_nodes(cluster.build(), {1, GpuType("A100"), 4}, kGpu).nodes.back()->node->taints.empty())
      << "like one that is in use";
}

TEST_F(AnswersTest, WhatItsTimeLimitWouldEndIsNoHelp) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 4));
  add_running(cluster, stated("runs", 600), "runs", 2, "n1", "A100", kAsked_s - 3600);
  const auto fewer = [&](std::int64_t limit_s) {
    auto with_limit = cluster;
    const auto asked =
        about("waits", with_limit.with(stated("waits", 120).gpus(4).limited(limit_s).waiting()));
    return find(changes(*asked), ChangeKind::kFewerGpus) != nullptr;
  };
  EXPECT_TRUE(fewer(20 * 3600));
  EXPECT_FALSE(fewer(3 * 3600)) << "on two GPUs it takes four hours";
}

TEST_F(AnswersTest, ACalendarHasWhatIsFreeAllTheTime) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 4)).with(a_node("n2").of("K80", 8));
  add_running(cluster, stated("runs", 60), "runs", 3, "n1", "A100", kAsked_s - 1800);
  const auto asked = about("runs", cluster);
  CalendarOptions options;
  options.horizon_s = 4 * 3600;
  const auto slots = make_calendar(asked->queue, policy_, kAsked_s, options);
  ASSERT_EQ(slots.size(), 8U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(slots[i].gpu_type.str(), "A100");
    EXPECT_EQ(slots[i].gpus, 4);
    EXPECT_EQ(slots[i].begins_s, kAsked_s + 3600.0 * static_cast<double>(i));
    EXPECT_EQ(slots[i].free_p50, i == 0 ? 1 : 4) << i << ": it ends within the first hour";
    EXPECT_LE(slots[i].free_p90, slots[i].free_p50);
    EXPECT_EQ(slots[4 + i].free_p50, 8);
    EXPECT_EQ(slots[4 + i].free_p90, 8);
  }
  options.stop = [] { return true; };
  EXPECT_TRUE(make_calendar(asked->queue, policy_, kAsked_s, options).empty());
}

}  // namespace
}  // namespace slackline::core
