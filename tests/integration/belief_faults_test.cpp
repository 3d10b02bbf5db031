// Whose keys count, against an API server: from the list of namespaces to the write that takes away
// what does not count.
#include <gtest/gtest.h>

#include "cluster/api/api_client.h"
#include "cluster/api/kube_writer.h"
#include "cluster/watch/kube_source.h"
#include "slackline/base/text.h"
#include "slackline/core/handover/disown.h"
#include "support/eventually.h"
#include "support/fake_api_server.h"
#include "support/fake_mac.h"
#include "support/kube_json.h"
#include "support/sealed_plan.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

using test::eventually;
using test::FakeApiServer;
using test::FakeConnection;
using test::FakeRequest;

const std::string kNamespacesPath = "/api/v1/namespaces";
const std::string kJobs = "initial " + test::kJobsPath;
const std::string kJob = "PATCH /apis/batch/v1/namespaces/ml/jobs/train";

class BeliefFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = std::make_unique<FakeApiServer>();
    server_->put(test::kNodesPath, "gpu-1", test::node_json("gpu-1", 4));
    label(true);
    api_ = connect({.kubeconfig = server_->write_kubeconfig(folder_.path())}).value();
    options_.mac = &mac_;
    options_.timers.backoff_min_s = 0.02;
    options_.timers.backoff_max_s = 0.2;
    options_.audit_every_s = 0;
    options_.seed = 7;
  }
  void TearDown() override {
    source_.reset();
    server_->stop();
  }

  void start() {
    source_ = make_kube_source(*api_, options_, default_gpu_catalog(), metrics_, nullptr);
    ASSERT_TRUE(source_->start());
  }

  void label(bool managed) {
    server_->put(kNamespacesPath, "ml",
                 format(R"({{"kind":"Namespace","metadata":{{"name":"ml","uid":"n1",)"
                        R"("resourceVersion":"@RV@","labels":{{"slackline.dev/managed":"{}"}}}}}})",
                        managed));
  }

  void put_job(const std::string& plan, bool suspended, std::int64_t generation) {
    std::string quoted;
    for (const char c : plan)
      quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
    server_->put(
        test::kJobsPath, "train",
        format(
            R"({{"kind":"Job","metadata":{{"name":"train","namespace":"ml","uid":"j1",)"
            R"("generation":{},"resourceVersion":"@RV@","annotations":{{)"
            R"("slackline.dev/suspended-by":"slackline"{}}}}},"spec":{{"suspend":{},"template":{{)"
            R"("metadata":{{"labels":{{"slackline.dev/managed":"true"}}}},"spec":{{"containers":[)"
            R"({{"name":"c","resources":{{"requests":{{"nvidia.com/gpu":"4"}},"limits":{{)"
            R"("nvidia.com/gpu":"4"}}}}}}]}}}}}},"status":{{}}}})",
            generation, plan.empty() ? "" : format(R"(,"slackline.dev/plan":"{}")", quoted),
            suspended));
  }

  std::string plan_of(const std::string& uid) const {
    PlanNote plan;
    plan.id = "p1-1";
    plan.epoch = 1;
    plan.shape = {1, 4};
    plan.nodes = {NodeName("gpu-1")};
    return test::sealed_plan(mac_, {"ml", "train"}, Uid(uid), plan, 2);
  }

  bool shows(std::size_t holds) {
    return eventually([&] {
      const SnapshotPtr snapshot = source_->snapshot();
      return snapshot->synced && snapshot->jobs.size() == 1 &&
             snapshot->holds.all().size() == holds;
    });
  }

  const test::TemporaryFolder folder_;
  std::unique_ptr<FakeApiServer> server_;
  test::FakeMac mac_;
  KubeOptions options_;
  std::unique_ptr<ApiClient> api_;
  obs::MetricsRegistry metrics_;
  std::unique_ptr<ClusterSource> source_;
};

TEST_F(BeliefFaultsTest, NothingIsJudgedBeforeTheNamespacesCanBeListed) {
  put_job("", true, 1);
  const auto refuse = [](const FakeRequest&, FakeConnection& reply) {
    reply.reply_status(403, "Forbidden", "no right");
  };
  for (const char* way : {"initial ", "list "})
    server_->always(way + kNamespacesPath, refuse);
  start();
  const auto complains = [&] {
    return source_->health().detail.find("namespaces") != std::string::npos;
  };
  ASSERT_TRUE(eventually([&] { return complains() && server_->count(kJobs) > 0; }));
  EXPECT_FALSE(source_->health().synced);
  EXPECT_FALSE(source_->snapshot()->synced);
  for (const char* way : {"initial ", "list "})
    server_->always(way + kNamespacesPath,
                    [this](const FakeRequest& request, FakeConnection& reply) {
                      server_->serve(request, reply);
                    });
  ASSERT_TRUE(eventually([&] { return source_->health().synced && source_->snapshot()->synced; }));
  EXPECT_TRUE(source_->snapshot()->jobs.at(0)->suspended_by_us);
}

TEST_F(BeliefFaultsTest, OnlyAPlanThatProvesItselfHolds) {
  put_job(plan_of("j1"), false, 2);
  start();
  ASSERT_TRUE(shows(1));
  put_job(plan_of("another"), false, 2);  // copied from a Job of that name
  EXPECT_TRUE(shows(0));
  EXPECT_EQ(source_->snapshot()->jobs[0]->plan_doubt, PlanDoubt::kForged);
}

TEST_F(BeliefFaultsTest, ALabelThatGoesGivesTheTaskBackByOneWrite) {
  put_job("", true, 1);
  start();
  ASSERT_TRUE(shows(0));
  EXPECT_TRUE(core::disown(*source_->snapshot(), system_clock().steady_s()).empty());
  label(false);
  ASSERT_TRUE(eventually([&] { return !source_->snapshot()->given_up_jobs.empty(); }));
  const auto writes = core::disown(*source_->snapshot(), system_clock().steady_s());
  ASSERT_EQ(writes.size(), 1u);
  server_->next(kJob, [](const FakeRequest&, FakeConnection& reply) {
    reply.reply(200, R"({"metadata":{"resourceVersion":"2000"}})");
  });
  const auto writer = make_kube_writer(*api_, default_gpu_catalog(), &mac_);
  ASSERT_TRUE(writer->write(writes[0]));
  const std::string body = server_->requests(kJob).at(0).body;
  EXPECT_NE(body.find(R"("suspend":false)"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("slackline.dev/suspended-by":null)"), std::string::npos) << body;
}

TEST_F(BeliefFaultsTest, WithoutAKeyNoPlanIsWritten) {
  mac_.use("");
  const auto writer = make_kube_writer(*api_, default_gpu_catalog(), &mac_);
  OwnWrite write;
  write.target.key = {"ml", "train"};
  write.change = JobChange{ReleaseJob{.plan = std::make_shared<const PlanNote>()}};
  EXPECT_FALSE(writer->write(write));
  EXPECT_EQ(server_->count(kJob), 0u);
}

}  // namespace
}  // namespace slackline::cluster
