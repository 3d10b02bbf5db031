#include "slackline/core/verbs/score.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"
#include "slackline/model/decision.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using namespace slackline::test;
using ::testing::ElementsAre;

const Coefficients kFast{"S", {100, 1, 0, 0.1, 1.4}};
const Coefficients kSlow{"S", {10, 0.1, 0, 0.1, 1.4}};

WorkloadProfiles known_models() {
  return WorkloadProfiles({{"bert", GpuType("A100"), kFast, 30, 12, 5.0, "measured"},
                           {"bert", GpuType("K80"), kSlow, 30, 0, std::nullopt, "guessed"}});
}

NodesRequest request_of(const PodBuilder& pod, std::vector<std::string_view> names) {
  NodesRequest request;
  request.pod = pod.build();
  request.node_names = std::move(names);
  return request;
}

ScoreSheet sheet_of(const ClusterSnapshot& cluster, const NodesRequest& request,
                    const WorkloadProfiles& profiles = known_models()) {
  const GpuCatalog catalog = default_gpu_catalog();
  const auto predictor = std::make_shared<const Predictor>(profiles);
  return score_nodes(cluster, request, {{.catalog = &catalog, .predictor = predictor}});
}

std::vector<int> scores(const ClusterSnapshot& cluster, const PodBuilder& pod,
                        std::vector<std::string_view> names) {
  return sheet_of(cluster, request_of(pod, std::move(names))).scores;
}

ClusterBuilder two_types() {
  return a_cluster()
      .with(a_node("a1").of("A100", 4))
      .with(a_node("a2").of("A100", 4))
      .with(a_node("k1").of("K80", 4))
      .with(a_node("t1").of("T4", 4));
}

// An A100 is ten times as fast as a K80, for more than ten times the cost.
std::vector<int> scores_by_deadline(double deadline_s) {
  GpuCatalog catalog = default_gpu_catalog();
  for (GpuTypeRule& rule : catalog.types)
    if (rule.alias.str() == "A100") rule.cost = 40;
  const auto predictor = std::make_shared<const Predictor>(known_models());
  PodBuilder pod = a_pod("p").gpus(2).trains("bert", 64, 1000);
  pod.intent().deadline_s = 1000 + deadline_s;
  const auto request = request_of(pod, {"a1", "k1", "t1"});
  return score_nodes(two_types().build(), request,
                     {{.catalog = &catalog, .predictor = predictor, .now_wall_s = 1000}})
      .scores;
}

TEST(Score, PutsTypesThatMeetTheDeadlineBeforeCheaperOnesThatDoNot) {
  EXPECT_THAT(scores_by_deadline(1e6), ElementsAre(7, 8, 6)) << "both meet it: the CER decides";
  EXPECT_THAT(scores_by_deadline(600), ElementsAre(8, 6, 7))
      << "only the A100 does; of the T4 nobody knows";
  EXPECT_THAT(scores_by_deadline(1), ElementsAre(6, 7, 8)) << "both miss it";
}

// Four of the seventh parts of a GPU would be four GPUs.
TEST(Score, PutsAPartOfWhichNobodyKnowsBelowGpusThatWillBeLate) {
  const auto cluster = a_cluster()
                           .with(a_node("a1").of("A100", 8))
                           .with(a_node("am").of("A100-MIG-1g.5gb", 7))
                           .with(a_node("t1").of("T4", 4))
                           .build();
  for (const double deadline_s : {1.0, 600.0, 1e6}) {
    PodBuilder pod = a_pod("p").gpus(4).trains("bert", 64, 1000);
    pod.intent().deadline_s = deadline_s;
    const auto given = scores(cluster, pod, {"a1", "am", "t1"});
    EXPECT_LT(given[1], given[0]) << deadline_s;
    EXPECT_LT(given[1], given[2]) << deadline_s;
  }
}

TEST(Score, PutsTheHighestCerFirstAndUnknownSpeedLast) {
  const auto pod = a_pod("p").gpus(2).trains("bert", 64, 100);
  EXPECT_THAT(scores(two_types().build(), pod, {"t1", "k1", "a1", "a2"}), ElementsAre(6, 7, 8, 8));
}

TEST(Score, TellsTheModelsAnswerAndItsSource) {
  const auto cluster = two_types().build();
  const auto sheet =
      sheet_of(cluster, request_of(a_pod("p").gpus(2).trains("bert", 64, 100), {"a1", "k1", "t1"}));
  ASSERT_EQ(sheet.measured.types.size(), 3U);
  const auto of = [&](const char* node) {
    return sheet.measured.types[cluster.node_table.rows[*cluster.find_node(node)].type];
  };
  const TypeEstimate a100 = of("a1");
  EXPECT_EQ(a100.model_source, "fitted");
  EXPECT_EQ(a100.prediction->throughput_samples_per_s,
            predict_throughput(kFast, 64, Placement{1, 2}));
  EXPECT_DOUBLE_EQ(*a100.cost, 2.0 / 8 + 1.0 / 2);
  EXPECT_DOUBLE_EQ(*a100.cer, a100.prediction->throughput_samples_per_s / *a100.cost);
  EXPECT_EQ(of("k1").model_source, "default");
  EXPECT_EQ(of("t1").model_source, "none: nothing is known about bert on T4");
  EXPECT_EQ(of("t1").cer, std::nullopt);
}

TEST(Score, SaysWhenThePodGivesNoModel) {
  const auto cluster = two_types().build();
  EXPECT_EQ(
      sheet_of(cluster, request_of(a_pod("p").gpus(1), {"a1"})).measured.types[0].model_source,
      "none: pod names no model");
  PodBuilder no_batch = a_pod("p").gpus(1);
  no_batch.intent().model = "bert";
  EXPECT_EQ(sheet_of(cluster, request_of(no_batch, {"a1"})).measured.types[0].model_source,
            "none: pod gives no batch-size");
}

TEST(Score, PrefersTheListedTypeOverAFasterOne) {
  const auto pod = a_pod("p").gpus(1).trains("bert", 64, 100).accepts({"K80", "A100"});
  EXPECT_THAT(scores(two_types().build(), pod, {"a1", "k1", "t1"}), ElementsAre(7, 8, 0))
      << "a type that is not listed gets nothing";
  PodBuilder any = a_pod("p").gpus(1).trains("bert", 64, 100).accepts({"K80"});
  any.intent().any_gpu_type = true;
  EXPECT_THAT(scores(two_types().build(), any, {"a1", "k1"}), ElementsAre(8, 7));
}

TEST(Score, FillsTheFullestNodeFirst) {
  const auto cluster = a_cluster()
                           .with(a_node("empty"))
                           .with(a_node("half"))
                           .with(a_node("held"))
                           .with(a_pod("x").gpus(2).on("half"))
                           .with(a_pod("y").gpus(3).nominated("held"))
                           .build();
  EXPECT_THAT(scores(cluster, a_pod("p").gpus(1), {"empty", "half", "held"}), ElementsAre(6, 7, 8));
}

TEST(Score, PrefersNotToStrandGpus) {
  const auto cluster = a_cluster()
                           .with(a_node("balanced"))
                           .with(a_node("no-cpu").cpus(32))
                           .with(a_pod("x").gpus(1).on("balanced"))
                           .with(a_pod("y").gpus(1).cpus(30).on("no-cpu"))
                           .build();
  const auto sheet = sheet_of(cluster, request_of(a_pod("p").gpus(1), {"balanced", "no-cpu"}));
  EXPECT_EQ(sheet.measured.nodes[0].free_gpus_after, 2);
  EXPECT_EQ(sheet.measured.nodes[1].free_gpus_after, 2);
  EXPECT_EQ(sheet.measured.nodes[0].stranded_gpus, 0);
  EXPECT_EQ(sheet.measured.nodes[1].stranded_gpus, 2);
  EXPECT_GT(sheet.scores[0], sheet.scores[1]);
}

TEST(Score, PutsAFullNodeLastNotFirst) {
  const auto cluster = a_cluster()
                           .with(a_node("full"))
                           .with(a_node("free"))
                           .with(a_pod("x").gpus(4).on("full"))
                           .build();
  EXPECT_THAT(scores(cluster, a_pod("p").gpus(1), {"full", "free"}), ElementsAre(7, 8));
}

TEST(Score, GivesTenToThePlannedNodeAlone) {
  const auto cluster = a_cluster().with(a_node("a")).with(a_node("b")).with(a_node("c")).build();
  EXPECT_THAT(scores(cluster, a_pod("p").gpus(1).planned({"b"}), {"a", "b", "c"}),
              ElementsAre(8, 10, 8));
}

TEST(Score, UsesTheShapeOfTheGang) {
  const auto cluster = two_types().with(a_job("train").of(2).gang().gpus(4)).build();
  const auto sheet = sheet_of(
      cluster, request_of(a_pod("train-0").of_job("train").gpus(4).trains("bert", 64, 9), {"a1"}));
  EXPECT_EQ(sheet.measured.shape, (Placement{2, 4}));
  EXPECT_EQ(sheet.measured.types[0].prediction->throughput_samples_per_s,
            predict_throughput(kFast, 64, Placement{2, 4}));
}

TEST(Score, StaysFiniteWhateverTheProfileSays) {
  const double nan = std::nan("");
  const WorkloadProfiles broken({{"bert", GpuType("A100"), {"S", {nan, 1, 0, 0, 1}}, 0, 1, {}, ""},
                                 {"bert", GpuType("K80"), {"S", {0, 0, 0, 0, 1}}, 0, 1, {}, ""}});
  const auto sheet =
      sheet_of(two_types().build(),
               request_of(a_pod("p").gpus(1).trains("bert", 64, 9), {"a1", "k1"}), broken);
  for (const TypeEstimate& type : sheet.measured.types)
    EXPECT_EQ(type.cer, std::nullopt);
  EXPECT_THAT(sheet.scores[0], 8);
  EXPECT_THAT(sheet.scores[1], 8);
}

TEST(Score, PutsSlowNodesBelowAllOthers) {
  const GpuCatalog catalog = default_gpu_catalog();
  const auto cluster = two_types().build();
  const auto request = request_of(a_pod("p").gpus(2).trains("bert", 64, 1000), {"a1", "a2", "k1"});
  MeasureOptions options{
      {.catalog = &catalog, .predictor = std::make_shared<const Predictor>(known_models())}};
  EXPECT_THAT(score_nodes(cluster, request, options).scores, ElementsAre(8, 8, 7));
  options.slow_nodes = std::make_shared<const std::unordered_set<NodeName>>(
      std::unordered_set{NodeName("k1"), NodeName("a1"), NodeName("gone")});
  EXPECT_THAT(score_nodes(cluster, request, options).scores, ElementsAre(7, 8, 6));
  const auto no_choice = request_of(a_pod("p").gpus(2), {"k1"});
  EXPECT_THAT(score_nodes(cluster, no_choice, options).scores, ElementsAre(8));
}

TEST(Score, KnowsNothingOfUnknownNodes) {
  const auto cluster = two_types().build();
  const auto request = request_of(a_pod("p").gpus(1), {"new", "a1", "another"});
  const auto sheet = sheet_of(cluster, request);
  EXPECT_FALSE(sheet.measured.nodes[0].known());
  EXPECT_EQ(sheet.scores[0], 0);
  EXPECT_THAT(sheet.best_first(request), ElementsAre(1, 2, 0)) << "then by name";
}

TEST(Features, AreTheListOfTheJournalsSchemaVersion) {
  ASSERT_EQ(kDecisionSchemaVersion, 4) << "a new list is a new version, and decision.h has both";
  EXPECT_THAT(kFeatureNames,
              ElementsAre("planned", "preference", "throughput_samples_per_s", "throughput_low",
                          "throughput_high", "cost", "cer", "lat_s", "meets_deadline",
                          "free_gpus_after", "stranded_gpus", "slow", "profiler"));
}

TEST(Features, StandUnderTheirNames) {
  Measurement measured;
  TypeEstimate& type = measured.types.emplace_back();
  type.preference = 1;
  type.prediction.emplace();
  type.prediction->throughput_samples_per_s = 20;
  type.prediction->low = 15;
  type.prediction->high = 25;
  type.cost = 2;
  type.cer = 10;
  type.lat_s = 60;
  type.feasible = false;
  const MeasuredNode node{
      .index = 0, .type = 0, .planned = true, .free_gpus_after = 3, .stranded_gpus = 2};
  const std::vector<std::pair<std::string, double>> all = {{"planned", 1},
                                                           {"preference", 1},
                                                           {"throughput_samples_per_s", 20},
                                                           {"throughput_low", 15},
                                                           {"throughput_high", 25},
                                                           {"cost", 2},
                                                           {"cer", 10},
                                                           {"lat_s", 60},
                                                           {"meets_deadline", 0},
                                                           {"free_gpus_after", 3},
                                                           {"stranded_gpus", 2},
                                                           {"slow", 0},
                                                           {"profiler", 0}};
  EXPECT_EQ(named_features(feature_row(measured, node)), all);
  type = {};
  const std::vector<std::pair<std::string, double>> few = {
      {"planned", 1}, {"free_gpus_after", 3}, {"stranded_gpus", 2}, {"slow", 0}, {"profiler", 0}};
  EXPECT_EQ(named_features(feature_row(measured, node)), few) << "what is not known is left out";
}

// The other way round than the default, which fills the fullest node first.
class EmptiestFirst final : public Ranker {
 public:
  std::string_view name() const override { return "emptiest"; }
  void rank(const Measurement& measured, std::span<std::int64_t> keys) const override {
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = -measured.nodes[i].free_gpus_after;
  }
};

TEST(Ranker, DecidesTheOrderAndNothingElse) {
  const auto cluster = two_types().with(a_pod("x").gpus(2).on("a1")).build();
  const auto request =
      request_of(a_pod("p").gpus(1).accepts({"A100"}).planned({"a1"}), {"a1", "a2", "k1", "new"});
  const GpuCatalog catalog = default_gpu_catalog();
  const auto predictor = std::make_shared<const Predictor>(known_models());
  const MeasureOptions options{{.catalog = &catalog, .predictor = predictor}};
  EXPECT_THAT(score_nodes(cluster, request, options, EmptiestFirst()).scores,
              ElementsAre(kPlannedScore, 8, 0, 0));
  const auto free = request_of(a_pod("p").gpus(1), {"a1", "a2"});
  EXPECT_THAT(score_nodes(cluster, free, options, EmptiestFirst()).scores, ElementsAre(7, 8));
  EXPECT_THAT(score_nodes(cluster, free, options).scores, ElementsAre(8, 7));
  EXPECT_EQ(rankers().front()->name(), "cer");
}

TEST(PrioritizeReply, HoldsTheBest128InAUniqueOrder) {
  ClusterBuilder cluster;
  for (int i = 0; i < 300; ++i) {
    const std::string name = format("n{:03}", i);
    cluster.with(a_node(name).of("A100", 16));
    if (i % 12 > 0) cluster.with(a_pod("x" + name).gpus(i % 12).on(name));
  }
  const ClusterSnapshot snapshot = cluster.build();
  NodesRequest request;
  request.pod = a_pod("p").gpus(1).build();
  for (const auto& state : snapshot.nodes)
    request.node_names.push_back(state->node->name.str());
  const auto reply = to_reply(sheet_of(snapshot, request));
  ASSERT_EQ(reply.scores.size(), kMaxScores);
  EXPECT_EQ(request.node_names[reply.scores[0].node], "n011") << "eleven of sixteen are taken";
  EXPECT_EQ(reply.scores[0].score, 8);
  for (std::size_t i = 1; i < reply.scores.size(); ++i) {
    EXPECT_LE(reply.scores[i].score, reply.scores[i - 1].score);
    EXPECT_GT(reply.scores[i].score, 0);
  }
  EXPECT_TRUE(to_reply(ScoreSheet{}).scores.empty());
}

}  // namespace
}  // namespace slackline::core
