#include "slackline/core/verbs/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/cluster/holds.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using namespace slackline::test;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr const char* kMemoryShare = "gpu.example.com/mem-mib";

GpuCatalog catalog() {
  GpuCatalog catalog = default_gpu_catalog();
  catalog.resources.push_back({kMemoryShare, GpuSharing::kVgpu, true});
  return catalog;
}

FilterReply reply(const ClusterSnapshot& cluster, const PodBuilder& pod,
                  std::vector<std::string_view> names, FilterOptions options = {}) {
  const GpuCatalog known = catalog();
  options.catalog = &known;
  NodesRequest request;
  request.pod = pod.build();
  request.node_names = std::move(names);
  return filter_nodes(cluster, request, options);
}

std::vector<Verdict> verdicts(const ClusterSnapshot& cluster, const PodBuilder& pod,
                              std::vector<std::string_view> names, FilterOptions options = {}) {
  return reply(cluster, pod, std::move(names), options).verdicts;
}

ClusterBuilder mixed() {
  return a_cluster()
      .with(a_node("a100").of("A100", 4))
      .with(a_node("k80").of("K80", 2))
      .with(a_node("plain").of("", 4))
      .with(a_node("broken").of("A100", 4).unreadable("allocatable nvidia.com/gpu: \"many\""));
}

TEST(Filter, NamesWhatCanNeverFit) {
  EXPECT_THAT(verdicts(mixed().build(), a_pod("p").gpus(3).accepts({"A100"}),
                       {"a100", "k80", "plain", "broken"}),
              ElementsAre(Verdict::kPass, Verdict::kGpuTypeNotAccepted, Verdict::kGpuTypeUnknown,
                          Verdict::kNodeUnreadable));
  EXPECT_THAT(verdicts(mixed().build(), a_pod("p").gpus(3), {"a100", "k80", "plain"}),
              ElementsAre(Verdict::kPass, Verdict::kNodeTooSmall, Verdict::kPass));
}

TEST(Filter, ReadsGpuTypesInEveryVocabulary) {
  const auto cluster = mixed().build();
  EXPECT_THAT(verdicts(cluster, a_pod("p").gpus(1).accepts({"a100"}), {"a100"}),
              ElementsAre(Verdict::kPass));
  EXPECT_THAT(verdicts(cluster, a_pod("p").gpus(1).accepts({"NVIDIA-A100-SXM4-40GB"}), {"a100"}),
              ElementsAre(Verdict::kPass));
  PodBuilder any = a_pod("p").gpus(1);
  any.intent().any_gpu_type = true;
  EXPECT_THAT(verdicts(cluster, any, {"a100", "k80", "plain"}), Each(Verdict::kPass));
  EXPECT_THAT(verdicts(cluster, a_pod("p").accepts({"A100"}), {"k80"}), Each(Verdict::kPass))
      << "a pod without GPUs has no GPU type";
}

TEST(Filter, LeavesAFullNodeToTheScheduler) {
  const auto cluster = a_cluster().with(a_node("a")).with(a_pod("running").gpus(4).on("a")).build();
  EXPECT_THAT(verdicts(cluster, a_pod("p").gpus(4), {"a"}), ElementsAre(Verdict::kPass))
      << "NodeResourcesFit is fresher than our cache";
}

TEST(Filter, HoldsAgainstEqualRankAndYieldsToHigher) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(a_node("b"))
                           .with(a_pod("next").gpus(2).priority(5).gated().nominated("a"))
                           .build();
  const auto managed = a_pod("p").managed().gpus(3);
  EXPECT_THAT(verdicts(cluster, PodBuilder(managed).priority(5), {"a", "b"}),
              ElementsAre(Verdict::kHeldForOthers, Verdict::kPass));
  EXPECT_THAT(verdicts(cluster, PodBuilder(managed).priority(6), {"a", "b"}), Each(Verdict::kPass));
  EXPECT_THAT(verdicts(cluster, PodBuilder(managed).gpus(2), {"a"}), Each(Verdict::kPass))
      << "what is left beside the hold is free to take";
  EXPECT_THAT(verdicts(cluster, a_pod("next").managed().gpus(2).priority(5), {"a"}),
              Each(Verdict::kPass))
      << "its own nomination";
}

TEST(Filter, TurnsAnUnmanagedPodAwayOnlyIfItCanGoElsewhere) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(a_node("b"))
                           .with(a_node("small").of("K80", 1))
                           .with(a_pod("next").gpus(2).nominated("a"))
                           .build();
  EXPECT_THAT(verdicts(cluster, a_pod("p").gpus(3), {"a", "b"}),
              ElementsAre(Verdict::kHeldForOthers, Verdict::kPass));
  EXPECT_THAT(verdicts(cluster, a_pod("p").gpus(3), {"a", "small"}),
              ElementsAre(Verdict::kPass, Verdict::kNodeTooSmall));
  EXPECT_THAT(verdicts(cluster, a_pod("p").managed().gpus(3), {"a", "small"}),
              ElementsAre(Verdict::kHeldForOthers, Verdict::kNodeTooSmall));
}

TEST(Filter, KeepsAPlannedPodOnItsNodesWhileThePlanLives) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(a_node("b"))
                           .with(a_job("train").of(1).gpus(4).planned({"b"}))
                           .sighted(job_uid("train"), 100)
                           .build();
  const auto pod = a_pod("train-0").of_job("train").managed().gpus(4);
  EXPECT_THAT(verdicts(cluster, pod, {"a", "b", "unknown"}, {{.now_steady_s = 120}}),
              ElementsAre(Verdict::kNotPlanned, Verdict::kPass, Verdict::kNotPlanned));
  EXPECT_THAT(verdicts(cluster, pod, {"a", "b", "unknown"}, {{.now_steady_s = 160}}),
              Each(Verdict::kPass));
}

TEST(Filter, PassesUnknownNodesForWholeGpusOnly) {
  const auto cluster = a_cluster().with(a_node("a").resource(kMemoryShare, 1000)).build();
  EXPECT_THAT(verdicts(cluster, a_pod("p").gpus(1), {"new"}), Each(Verdict::kPass));
  EXPECT_THAT(verdicts(cluster, a_pod("p").gpus(500, kMemoryShare), {"a", "new"}),
              ElementsAre(Verdict::kPass, Verdict::kNotYetObserved));
}

TEST(Filter, AccountsItsOwnResourcesOnEveryNode) {
  const auto cluster = a_cluster()
                           .with(a_node("a").resource(kMemoryShare, 1000))
                           .with(a_node("b").resource(kMemoryShare, 1000))
                           .with(a_pod("running").gpus(600, kMemoryShare).on("a"))
                           .with(a_pod("next").gpus(600, kMemoryShare).nominated("b"))
                           .build();
  const auto pod = a_pod("p").managed().gpus(500, kMemoryShare);
  EXPECT_THAT(verdicts(cluster, pod, {"a", "b"}),
              ElementsAre(Verdict::kInsufficientGpus, Verdict::kHeldForOthers));
  EXPECT_THAT(verdicts(cluster, PodBuilder(pod).gpus(400, kMemoryShare), {"a", "b"}),
              Each(Verdict::kPass));
}

TEST(Filter, FailsOpenWhileTheCacheIsNotTrusted) {
  const auto cluster = mixed().build();
  const FilterOptions untrusted{{.trusted = false}};
  const auto whole = reply(cluster, a_pod("p").gpus(3).accepts({"T4"}), {"a100", "k80"}, untrusted);
  EXPECT_THAT(whole.verdicts, Each(Verdict::kPass));
  EXPECT_EQ(whole.error, "");
  EXPECT_NE(reply(cluster, a_pod("p").gpus(500, kMemoryShare), {"a100"}, untrusted).error, "");
}

TEST(Filter, CannotAnswerForAPodItCannotRead) {
  const auto answer =
      reply(mixed().build(), a_pod("p").problem("requests nvidia.com/gpu: \"1e999\""), {"a100"});
  EXPECT_THAT(answer.error, ::testing::HasSubstr("1e999"));
  EXPECT_EQ(answer.verdicts.size(), 1U);
}

TEST(Filter, AnswersAnEmptyRequest) {
  EXPECT_TRUE(verdicts(mixed().build(), a_pod("p").gpus(1), {}).empty());
  EXPECT_THAT(verdicts(ClusterSnapshot{}, a_pod("p").gpus(1), {"a"}), Each(Verdict::kPass));
}

}  // namespace
}  // namespace slackline::core
