// Answers of a Prometheus become the tasks of a replay: every case that needs no server.
#include "sim/replay/cluster_history.h"

#include <gmock/gmock.h>

#include "sim/replay/replay.h"
#include "slackline/core/planning/policy.h"

namespace slackline::sim {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr double kFrom_s = 1.8e9;
constexpr double kTo_s = kFrom_s + 10'000;
constexpr TimeSpan kAsked{kFrom_s, kTo_s};

struct PodOf {
  std::string name;
  std::string job;
  int gpus = 1;
  std::optional<double> bound{};  // these three after kFrom_s
  std::optional<double> completed{};
  double last_seen = 10'000;
  bool ended = true;
  std::string node = "n1";
  std::string owner_kind = "Job";
  std::string resource = "nvidia_com_gpu";
  double created = 0;
};

class ClusterHistoryTest : public testing::Test {
 protected:
  void add(HistoryFact fact, Labels labels, double value, const TimeSpan& window = kAsked) {
    const wire::Series series{std::move(labels), {{window.to_s, value}}};
    past_.add(fact, window, {&series, 1});
  }
  static Labels labels_of(const PodOf& pod) {
    return {{"namespace", "ml"}, {"pod", pod.name}, {"uid", "u-" + pod.name}};
  }
  void pod(const PodOf& pod) {
    const Labels labels = labels_of(pod);
    Labels gpus = labels;
    gpus.insert(gpus.end(),
                {{"container", "main"}, {"node", pod.node}, {"resource", pod.resource}});
    add(HistoryFact::kGpus, gpus, pod.gpus);
    add(HistoryFact::kLastSeen, labels, kFrom_s + pod.last_seen);
    Labels owner = labels;
    owner.insert(owner.end(), {{"owner_kind", pod.owner_kind}, {"owner_name", pod.job}});
    add(HistoryFact::kOwner, owner, 1);
    add(HistoryFact::kPodCreated, labels, kFrom_s + pod.created);
    if (pod.bound) add(HistoryFact::kScheduled, labels, kFrom_s + *pod.bound);
    if (pod.completed) add(HistoryFact::kCompleted, labels, kFrom_s + *pod.completed);
    if (pod.ended && pod.completed) add(HistoryFact::kEnded, labels, 1);
  }
  void job(const std::string& name, double created) {
    add(HistoryFact::kJobCreated, {{"namespace", "ml"}, {"job_name", name}}, kFrom_s + created);
  }
  void nodes(const std::vector<std::pair<std::string, int>>& all, const std::string& product) {
    std::vector<wire::Series> answer;
    for (const auto& [name, gpus] : all) {
      answer.push_back(
          {{{"node", name}, {"resource", "nvidia_com_gpu"}}, {{kTo_s, static_cast<double>(gpus)}}});
      if (!product.empty())
        add(HistoryFact::kNodeLabels, {{"node", name}, {"label_nvidia_com_gpu_product", product}},
            1);
    }
    past_.add(HistoryFact::kNodeGpus, kAsked, answer);
  }
  void one_node() { nodes({{"n1", 4}}, "NVIDIA-A100-SXM4-80GB"); }
  History history() {
    auto made = past_.history(kAsked);
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : History();
  }
  std::string refusal() {
    const auto made = past_.history(kAsked);
    return made ? "" : made.error().message;
  }

  ClusterHistory past_{default_gpu_catalog(), 60};
};

TEST_F(ClusterHistoryTest, AJobThatEndedWaitsFromItsCreationAndRunsUntilItsLastContainerEnds) {
  one_node();
  job("train", 100);
  pod({.name = "a", .job = "train", .gpus = 2, .bound = 400, .completed = 1'400, .created = 101});
  const History found = history();
  ASSERT_EQ(found.jobs.size(), 1U);
  const HistoryJob& job = found.jobs[0];
  EXPECT_EQ(job.ns, "ml");
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.submit_s, kFrom_s + 100);
  EXPECT_EQ(job.start_s, kFrom_s + 400);
  EXPECT_EQ(job.run_s, 1'000);
  EXPECT_EQ(job.gpus(), 2);
  EXPECT_EQ(job.type, GpuType("A100"));
  EXPECT_EQ(found.pools, (std::vector<core::Pool>{{GpuType("A100"), "", 1, 4, 1.0}}));
}

TEST_F(ClusterHistoryTest, AGangBeginsWithItsLastPodAndPodsOneByOneWithTheFirst) {
  one_node();
  job("gang", 0);
  pod({.name = "g0", .job = "gang", .bound = 100, .completed = 2'000});
  pod({.name = "g1", .job = "gang", .bound = 500, .completed = 2'000});
  job("line", 0);
  for (int i = 0; i < 3; ++i)
    pod({.name = "l" + std::to_string(i),
         .job = "line",
         .gpus = 2,
         .bound = 1'000.0 * (i + 1),
         .completed = 1'000.0 * (i + 1) + 600});
  const History found = history();
  ASSERT_EQ(found.jobs.size(), 2U);
  EXPECT_EQ(found.jobs[0].pods, 2);
  EXPECT_EQ(found.jobs[0].start_s, kFrom_s + 500);
  EXPECT_EQ(found.jobs[0].run_s, 1'500);
  EXPECT_EQ(found.jobs[1].gpus(), 2);
  EXPECT_EQ(found.jobs[1].start_s, kFrom_s + 1'000);
  EXPECT_EQ(found.jobs[1].run_s, 1'800) << "without the time when none of them ran";
  EXPECT_EQ(found.jobs[1].end_s, kFrom_s + 3'600);
  EXPECT_THAT(found.remarks, Contains(HasSubstr("1 Jobs ran in several parts")));
}

TEST_F(ClusterHistoryTest, WhatStillRunsWasDeletedOrNeverRanIsSaid) {
  one_node();
  job("runs", 9'000);
  pod({.name = "r", .job = "runs", .bound = 9'000, .completed = 9'500, .ended = false});
  job("deleted", 0);
  pod({.name = "d", .job = "deleted", .bound = 1'000, .last_seen = 3'000});
  job("waits", 5'000);
  pod({.name = "w", .job = "waits", .node = ""});
  job("before", -5'000);
  pod({.name = "b", .job = "before", .bound = -4'000, .completed = 2'000, .created = -5'000});
  job("gone", -5'000);
  pod({.name = "o", .job = "gone", .bound = -4'000, .completed = -100, .created = -5'000});
  const History found = history();
  ASSERT_EQ(found.jobs.size(), 3U);
  EXPECT_EQ(found.jobs[0].name, "before");
  EXPECT_EQ(found.jobs[0].submit_s, kFrom_s);
  EXPECT_EQ(found.jobs[0].run_s, 2'000);
  EXPECT_EQ(found.jobs[1].name, "deleted");
  EXPECT_EQ(found.jobs[1].end_s, kFrom_s + 3'000);
  EXPECT_EQ(found.jobs[2].name, "runs");
  EXPECT_EQ(found.jobs[2].run_s, 1'000) << "a container beside the training has ended";
  for (const char* said : {"1 Jobs still run", "1 pods were deleted", "1 Jobs waited and never ran",
                           "1 Jobs were created before"})
    EXPECT_THAT(found.remarks, Contains(HasSubstr(said)));
}

TEST_F(ClusterHistoryTest, AJobOfTheSameNameIsAnotherJob) {
  one_node();
  job("nightly", 0);
  job("nightly", 5'000);
  pod({.name = "a", .job = "nightly", .bound = 0, .completed = 1'000, .created = 1});
  pod({.name = "b", .job = "nightly", .bound = 5'500, .completed = 6'500, .created = 5'001});
  const History found = history();
  ASSERT_EQ(found.jobs.size(), 2U);
  EXPECT_EQ(found.jobs[1].submit_s, kFrom_s + 5'000);
}

TEST_F(ClusterHistoryTest, MissingScrapesAndRenamedLabelsAreMadeUpFor) {
  nodes({{"n1", 4}}, "");
  add(HistoryFact::kGpuModel, {{"Hostname", "n1"}, {"modelName", "NVIDIA A100-SXM4-80GB"}}, 1);
  const Labels labels = {{"namespace", "monitoring"},
                         {"pod", "ksm-0"},
                         {"exported_namespace", "ml"},
                         {"exported_pod", "a"},
                         {"uid", "u"}};
  Labels gpus = labels;
  gpus.insert(gpus.end(), {{"container", "ksm"},
                           {"exported_container", "main"},
                           {"node", "n1"},
                           {"resource", "nvidia_com_gpu"}});
  add(HistoryFact::kGpus, gpus, 1);
  add(HistoryFact::kLastSeen, labels, kFrom_s + 2'000);
  Labels owner = labels;
  owner.insert(owner.end(), {{"owner_kind", "Job"}, {"owner_name", "train"}});
  add(HistoryFact::kOwner, owner, 1);
  add(HistoryFact::kStarted, labels, kFrom_s + 500);
  const History found = history();
  ASSERT_EQ(found.jobs.size(), 1U);
  EXPECT_EQ(found.jobs[0].ns, "ml");
  EXPECT_EQ(found.jobs[0].submit_s, kFrom_s + 500) << "its creation is not known: it did not wait";
  EXPECT_EQ(found.jobs[0].run_s, 1'500);
  EXPECT_EQ(found.jobs[0].type, GpuType("A100"));
  EXPECT_THAT(found.remarks, Contains(HasSubstr("no sample of kube_job_created")));
}

TEST_F(ClusterHistoryTest, OnlyWholeGpusOfJobsArePlayed) {
  one_node();
  pod({.name = "part", .job = "part", .bound = 0, .resource = "nvidia_com_mig_1g_10gb"});
  pod({.name = "web", .job = "web", .gpus = 2, .bound = 0, .owner_kind = "ReplicaSet"});
  EXPECT_THAT(refusal(), HasSubstr("no Job with whole GPUs ran in the 2h46m"));
  EXPECT_THAT(refusal(),
              HasSubstr("(6 GPU-hours, 50 % of the platform) are free: 1 of ReplicaSet"));
  EXPECT_THAT(refusal(), HasSubstr("1 pods with parts of GPUs"));
}

TEST_F(ClusterHistoryTest, RefusalsSayWhatIsMissing) {
  EXPECT_THAT(refusal(), HasSubstr("let this Prometheus scrape kube-state-metrics"));
  one_node();
  EXPECT_THAT(refusal(), HasSubstr("no pod with GPUs in the last 2h46m"));
  const std::vector<wire::Series> two = {
      {{{"node", "n"}, {"resource", "nvidia_com_gpu"}, {"cluster", "a"}}, {{kTo_s, 1}}}};
  past_.add(HistoryFact::kNodeGpus, kAsked, two);
  EXPECT_THAT(refusal(), HasSubstr("name one with --cluster-label"));
}

TEST_F(ClusterHistoryTest, OldDataThatAreGoneShortenTheTime) {
  const TimeSpan first{kFrom_s, kFrom_s + 5'000};
  past_.add(HistoryFact::kNodeGpus, first, {});
  const std::vector<wire::Series> node = {
      {{{"node", "n1"}, {"resource", "nvidia_com_gpu"}}, {{kTo_s, 4}}}};
  past_.add(HistoryFact::kNodeGpus, {first.to_s, kTo_s}, node);
  pod({.name = "a", .job = "a", .bound = 6'000, .completed = 7'000});
  EXPECT_EQ(history().time.from_s, first.to_s);
}

// The points of one answer: a burst of two nodes that were not there when the day ended.
TEST_F(ClusterHistoryTest, NodesThatCameAndWentCount) {
  std::vector<wire::Series> answer = {{{{"node", "n1"}, {"resource", "nvidia_com_gpu"}},
                                       {{kFrom_s, 8}, {kFrom_s + 600, 8}, {kTo_s, 8}}}};
  for (const char* node : {"n2", "n3"})
    answer.push_back({{{"node", node}, {"resource", "nvidia_com_gpu"}}, {{kFrom_s + 600, 8}}});
  past_.add(HistoryFact::kNodeGpus, kAsked, answer);
  for (const char* name : {"1", "2", "3"})
    pod({.name = name,
         .job = name,
         .gpus = 8,
         .bound = 500,
         .completed = 900,
         .node = std::string("n") + name});
  const History found = history();
  ASSERT_EQ(found.pools.size(), 1U);
  EXPECT_EQ(found.pools[0].nodes, 3);
  EXPECT_THAT(found.remarks,
              Contains(HasSubstr("at one of 3 times; together the nodes had from 8 to 24 GPUs")));
  EXPECT_THAT(found.remarks, Not(Contains(HasSubstr("not fair"))));
}

TEST_F(ClusterHistoryTest, RunsOnMoreGpusThanThePlatformHasAreNoFairComparison) {
  one_node();
  for (const char* name : {"a", "b"})
    pod({.name = name, .job = name, .gpus = 4, .bound = 500, .completed = 900, .node = name});
  pod({.name = "c", .job = "c", .gpus = 4, .bound = 900, .completed = 1'200});
  EXPECT_THAT(history().remarks,
              Contains(HasSubstr("held up to 8 GPUs at once, more than the 4 of the platform")));
}

TEST_F(ClusterHistoryTest, TheLongestGapInTheDataIsTold) {
  const std::vector<wire::Series> answer = {
      {{{"node", "n1"}, {"resource", "nvidia_com_gpu"}},
       {{kFrom_s, 4}, {kFrom_s + 600, 4}, {kFrom_s + 6'600, 4}, {kTo_s, 4}}}};
  past_.add(HistoryFact::kNodeGpus, kAsked, answer);
  pod({.name = "a", .job = "a", .bound = 100, .last_seen = 600});
  EXPECT_THAT(history().remarks,
              Contains(AllOf(HasSubstr("no sample of a GPU node for 1h40m"),
                             HasSubstr("from 2027-01-15T08:10:00Z to 2027-01-15T09:50:00Z"))));
}

// Four GPUs: "small" needs one and comes behind "big", which needs all of them.
TEST_F(ClusterHistoryTest, AReplayLetsTheSmallPassInStockOrder) {
  one_node();
  job("first", 0);
  pod({.name = "f", .job = "first", .gpus = 2, .bound = 0, .completed = 1'000});
  job("big", 10);
  pod({.name = "b", .job = "big", .gpus = 4, .bound = 1'000, .completed = 2'000, .created = 10});
  job("small", 20);
  pod({.name = "s", .job = "small", .bound = 2'000, .completed = 2'500, .created = 20});
  job("huge", 30);
  for (const char* name : {"h0", "h1"})
    pod({.name = name, .job = "huge", .gpus = 4, .bound = 3'000, .completed = 3'100});
  ReplayOptions options;
  options.rule = RunTimeRule::kStated;
  const auto replay = make_replay(history(), options);
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_EQ(replay->too_large, 1U) << "one node of four cannot hold both pods of \"huge\"";
  const auto row = [&](const std::string& policy) {
    const Outcome outcome =
        simulate(replay->tasks, replay->platform, *core::parse_policy(policy), replay->noise);
    return replayed_row(*replay, options, policy, outcome);
  };
  EXPECT_NEAR(recorded_row(*replay, options).max_wait_h, 1'980.0 / 3600, 1e-9);
  EXPECT_NEAR(row("fifo").max_wait_h, 1'980.0 / 3600, 1e-9);
  EXPECT_NEAR(row("fifo/skip").max_wait_h, 990.0 / 3600, 1e-9) << "of \"big\"";
  EXPECT_NEAR(row("fifo/skip").gpu_hours, (2'000 + 4'000 + 500) / 3600.0, 1e-9);
  EXPECT_NEAR(row("fifo").in_time, 200.0 / 3, 1e-6) << "\"small\" is due at 1,020";
  EXPECT_EQ(row("fifo/skip").in_time, 100);
}

TEST_F(ClusterHistoryTest, PodsThatDoNotDivideEvenlyArePlayedToo) {
  nodes({{"n1", 8}, {"n2", 8}}, "NVIDIA-A100-SXM4-80GB");
  job("eleven", 0);
  for (int i = 0; i < 11; ++i)
    pod({.name = "p" + std::to_string(i), .job = "eleven", .bound = 100, .completed = 1'100});
  const auto replay = make_replay(history(), {});
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_EQ(replay->too_large, 0U);
  EXPECT_THAT(replay_assumptions(*replay, {}),
              Contains(HasSubstr("1 Jobs take up to 1 GPUs more than they had")));
  const Outcome outcome =
      simulate(replay->tasks, replay->platform, *core::parse_policy("fifo/skip"), replay->noise);
  EXPECT_TRUE(outcome.tasks[0].finished);
  EXPECT_NEAR(outcome.gpu_seconds, 12 * 1'000, 1e-6) << "six on each of two nodes";
}

TEST_F(ClusterHistoryTest, AReplayKnowsOfRunsThatHaveEnded) {
  one_node();
  job("train", 0);
  pod({.name = "a", .job = "train", .bound = 2'000, .completed = 3'000});
  job("train", 1'500);
  pod({.name = "b", .job = "train", .bound = 1'500, .completed = 1'600, .created = 1'500});
  job("train", 3'500);
  pod({.name = "c", .job = "train", .bound = 3'500, .completed = 3'600, .created = 3'500});
  const auto replay = make_replay(history(), {});
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_EQ(replay->unknown, 2U) << "the first had not begun when the second came";
}

TEST_F(ClusterHistoryTest, TheJobsAreWrittenAsARecording) {
  one_node();
  pod({.name = "a", .job = "train", .gpus = 2, .bound = 400, .completed = 1'400});
  EXPECT_EQ(format_history_csv(history()),
            "submit_time,num_gpus,duration,cluster,job,start_time,end_time,pods,gpus_per_pod,"
            "gpu_type\n1800000000,2,1000,ml,train,1800000400,1800001400,1,2,A100\n");
}

}  // namespace
}  // namespace slackline::sim
