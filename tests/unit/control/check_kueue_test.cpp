#include "control/state/check_kueue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline::control {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

KueueQuota quota_of(const char* type, std::int64_t nominal) {
  return {.flavor = std::string("flavor-") + type, .gpu_type = GpuType(type), .nominal = nominal};
}

// ClusterQueue ml has 8 A100 in Kueue, which team-a may use; queue vision owns 8 A100 here.
class CheckKueue : public ::testing::Test {
 protected:
  CheckKueue() {
    kueue_.cluster_queues = {{"ml", "", {quota_of("A100", 8)}}};
    kueue_.local_queues = {{{"team-a", "main"}, "ml"}};
    queues_.named["vision"].shares = {{"A100", {8, 0}}};
  }

  void with_nodes(std::map<GpuType, std::int64_t> gpus) { kueue_.gpus = std::move(gpus); }
  KueueCheck check() const { return check_kueue(kueue_, queues_, default_gpu_catalog()); }
  std::vector<std::string> lines() const {
    std::vector<std::string> texts;
    for (const KueuePromises& type : check().types)
      texts.push_back(to_string(type));
    return texts;
  }

  KueueSetup kueue_;
  QueueRulebook queues_;
};

TEST_F(CheckKueue, SaysOfEachTypeWhatIsPromisedAndWhatThereIs) {
  kueue_.cohorts = {{"all", "", {quota_of("H100-PCIe", 4)}}};
  queues_.named["text"].shares = {{"h100", {2, 1}}};
  EXPECT_THAT(lines(),
              ElementsAre("A100: 8 GPUs by quotas of Kueue, 8 owned by queues of Slackline",
                          "H100: 4 GPUs by quotas of Kueue, 2 owned by queues of Slackline"))
      << "a share of H100 is one of its variants too";
  with_nodes({{GpuType("A100"), 16}, {GpuType("H100-PCIe"), 8}, {GpuType("T4"), 4}});
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("A100: 8 GPUs by quotas of Kueue, 8 owned by queues "
                                             "of Slackline, 16 on nodes"),
                                   HasSubstr(", 8 on nodes")))
      << "nobody is promised a T4";
}

TEST_F(CheckKueue, FindsMoreThanTheNodesHave) {
  EXPECT_THAT(check().findings, IsEmpty()) << "the nodes are not known";
  with_nodes({{GpuType("A100"), 16}, {GpuType("H100"), 8}});
  EXPECT_THAT(check().findings, IsEmpty());
  with_nodes({{GpuType("A100"), 12}, {GpuType("H100"), 8}});
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, config::Severity::kError);
  EXPECT_EQ(findings[0].path, "A100");
  EXPECT_THAT(findings[0].problem, AllOf(HasSubstr("16 GPUs are promised, 4 more than"),
                                         HasSubstr("(ml 8)"), HasSubstr("(vision 8)")));
  EXPECT_THAT(findings[0].remedy, AllOf(HasSubstr("nominalQuota"), HasSubstr("queues[].shares")));
}

TEST_F(CheckKueue, QuotasAloneAreKueuesMatter) {
  with_nodes({{GpuType("A100"), 4}});
  queues_.named["vision"].shares = {{"H100", {0, 4}}};
  EXPECT_THAT(check().findings, IsEmpty());
}

TEST_F(CheckKueue, FindsNothingOnTypesThatDiffer) {
  queues_.named["vision"].shares = {{"H100", {8, 4}}};
  queues_.named["team-a"].shares = {{"H100", {8, 4}}};
  kueue_.cluster_queues = {{"ml", "all", {quota_of("A100", 8)}},
                           {"text", "all", {quota_of("A100", 8)}}};
  with_nodes({{GpuType("A100"), 16}, {GpuType("H100"), 16}});
  EXPECT_THAT(check().findings, IsEmpty());
}

TEST_F(CheckKueue, AFlavorWithoutATypeTakesWhatIsLeftOfAllTypes) {
  kueue_.cluster_queues = {{"ml", "", {quota_of("", 8)}}};
  kueue_.local_queues.clear();
  with_nodes({{GpuType("A100"), 12}, {GpuType("T4"), 4}});
  EXPECT_THAT(check().findings, IsEmpty()) << "4 A100 and 4 T4";
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("any type: 8 GPUs by quotas of Kueue, 0 owned"),
                                   HasSubstr("A100: 0 GPUs")));
  with_nodes({{GpuType("A100"), 12}, {GpuType(""), 2}});
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, config::Severity::kError);
  EXPECT_EQ(findings[0].path, "any type");
  EXPECT_THAT(findings[0].problem, AllOf(HasSubstr("(ml 8)"), HasSubstr("the nodes have 6")));
  EXPECT_THAT(findings[0].remedy, HasSubstr("nodeLabels"));
}

TEST_F(CheckKueue, FindsATeamThatBothPromiseGpus) {
  queues_.named["team-a"].shares = {{"a100", {2, 0}}};
  kueue_.local_queues.push_back({{"team-a", "second"}, "ml"});
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1)) << "two LocalQueues of one quota";
  EXPECT_EQ(findings[0].severity, config::Severity::kWarning);
  EXPECT_EQ(findings[0].path, "queues[name=team-a].shares.A100");
  EXPECT_THAT(findings[0].problem, AllOf(HasSubstr("owns 2"), HasSubstr("LocalQueue team-a/main"),
                                         HasSubstr("8 of A100"), HasSubstr("ClusterQueue ml")));
  EXPECT_THAT(findings[0].remedy, HasSubstr("take the share away"));
}

TEST_F(CheckKueue, WhatAChildOwnsIsOfItsParent) {
  queues_.named["team-a"].shares = {{"A100", {6, 0}}};
  queues_.named["team-a"].parent = "vision";
  with_nodes({{GpuType("A100"), 16}});
  EXPECT_THAT(lines(), ElementsAre(HasSubstr(", 8 owned by queues of Slackline, 16 on nodes")));
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1)) << "the child is a team of its own";
  EXPECT_EQ(findings[0].path, "queues[name=team-a].shares.A100");
}

// Kueue's label of a Job is read as the name of its queue.
TEST_F(CheckKueue, TheNameOfALocalQueueIsThatOfAQueue) {
  kueue_.local_queues = {{{"team-b", "vision"}, "ml"}, {{"team-b", "other"}, "unknown"}};
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].path, "queues[name=vision].shares.A100");
  EXPECT_THAT(findings[0].problem, HasSubstr("LocalQueue team-b/vision"));
}

TEST_F(CheckKueue, AQuotaOfAnyTypeMayBeOfTheTeamsType) {
  kueue_.cluster_queues = {{"ml", "", {quota_of("", 4)}}};
  queues_.named["team-a"].shares = {{"A100", {2, 0}}};
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].path, "queues[name=team-a].shares.A100");
  EXPECT_THAT(findings[0].problem, HasSubstr("4 of any type"));
}

TEST_F(CheckKueue, FindsIdleGpusThatBothLend) {
  queues_.named["vision"].shares = {{"A100", {8, 3}}};
  kueue_.cluster_queues = {{"ml", "all", {quota_of("A100", 8)}}};
  EXPECT_THAT(check().findings, IsEmpty()) << "nobody in the cohort lends";
  kueue_.cluster_queues.push_back({"text", "below", {quota_of("A100", 5)}});
  EXPECT_THAT(check().findings, IsEmpty()) << "another cohort";
  kueue_.cohorts = {{"below", "all", {quota_of("A100", 1)}}};
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, config::Severity::kWarning);
  EXPECT_EQ(findings[0].path, "A100");
  EXPECT_THAT(findings[0].problem,
              AllOf(HasSubstr("(up to: ml 6, text 9)"), HasSubstr("(up to: vision 3)")));
  EXPECT_THAT(findings[0].remedy, AllOf(HasSubstr("borrowingLimit: 0"), HasSubstr("borrow: 0")));
}

TEST_F(CheckKueue, LimitsOfBorrowingAndLendingCount) {
  queues_.named["vision"].shares = {{"A100", {8, 3}}};
  kueue_.cluster_queues = {{"ml", "all", {quota_of("A100", 8)}},
                           {"text", "all", {quota_of("A100", 5)}}};
  kueue_.cluster_queues[0].quotas[0].borrowing_limit = 2;
  kueue_.cluster_queues[0].quotas[0].lending_limit = 0;
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].problem, HasSubstr("(up to: ml 2)"));
  kueue_.cluster_queues[0].quotas[0].borrowing_limit = 0;
  EXPECT_THAT(check().findings, IsEmpty());
}

TEST_F(CheckKueue, CohortsInACircleAndAbsurdQuotasEnd) {
  kueue_.cluster_queues = {{"ml", "a", {quota_of("A100", KueueQuota::kNoLimit)}},
                           {"text", "b", {quota_of("A100", KueueQuota::kNoLimit)}}};
  kueue_.cohorts = {{"a", "b"}, {"b", "a"}};
  with_nodes({{GpuType("A100"), 8}});
  const config::Findings findings = check().findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, config::Severity::kError);
}

}  // namespace
}  // namespace slackline::control
