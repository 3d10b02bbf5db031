// Jobs that went past the webhook.
#include "slackline/core/cluster/unreviewed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::JobBuilder;
using ::testing::ElementsAre;

constexpr double kReady_s = 1000;
constexpr double kLater_s = kReady_s + 60;

class UnreviewedTest : public testing::Test {
 protected:
  std::vector<std::string> found(const Job& job) {
    ClusterSnapshot cluster = a_cluster().add(job).build();
    cluster.namespaces = std::make_shared<const NamespaceList::element_type>(namespaces_);
    std::vector<std::string> names;
    for (const JobPtr& each : unreviewed_jobs(cluster, kReady_s))
      names.push_back(each->key.str());
    return names;
  }

  static std::shared_ptr<const Namespace> ns(const std::string& name, bool managed,
                                             double since_s = 0) {
    return std::make_shared<const Namespace>(
        Namespace{.uid = {}, .key = {"", name}, .managed = managed, .managed_since_s = since_s});
  }

  std::vector<std::shared_ptr<const Namespace>> namespaces_{ns("ours", true), ns("theirs", false)};
};

JobBuilder gpu_job(const std::string& name) {
  return a_job(name).gpus(1).created(kLater_s);
}

TEST_F(UnreviewedTest, AJobWithoutTheWebhooksLabelIsFound) {
  EXPECT_THAT(found(gpu_job("ours/past").build()), ElementsAre("ours/past"));
  EXPECT_TRUE(found(gpu_job("ours/seen").managed().build()).empty());
}

TEST_F(UnreviewedTest, WhatTheWebhookLeavesAloneIsNot) {
  EXPECT_TRUE(found(gpu_job("theirs/job").build()).empty());
  EXPECT_TRUE(found(gpu_job("nowhere/job").build()).empty());
  EXPECT_TRUE(found(gpu_job("ours/child").owned_by("JobSet", "set").build()).empty());
  EXPECT_TRUE(found(a_job("ours/cpu").created(kLater_s).build()).empty());
  EXPECT_TRUE(found(gpu_job("ours/over").finished().build()).empty());
  Job gated = gpu_job("ours/gated").build();
  gated.holds_pods = true;
  EXPECT_TRUE(found(gated).empty());
}

TEST_F(UnreviewedTest, NothingIsExpectedBeforeReviewsBegin) {
  EXPECT_TRUE(found(gpu_job("ours/old").created(kReady_s).build()).empty());
  namespaces_[0] = ns("ours", true, kLater_s);
  EXPECT_TRUE(found(gpu_job("ours/past").build()).empty()) << "its namespace was labelled then";
  EXPECT_THAT(found(gpu_job("ours/past").created(kLater_s + kReviewsBegin_s + 1).build()),
              ElementsAre("ours/past"));
}

}  // namespace
}  // namespace slackline::core
