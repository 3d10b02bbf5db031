// Binds through the real writer: against an API server that hangs the time of a call is kept, and
// the pod's node decides (F39); a pod without GPUs is judged by what the API server has of it.
#include <gtest/gtest.h>

#include "cluster/api/api_client.h"
#include "cluster/api/kube_writer.h"
#include "control/serve/binder.h"
#include "support/cluster_builder.h"
#include "support/eventually.h"
#include "support/fake_api_server.h"
#include "support/fake_cluster.h"
#include "support/kube_json.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_node;
using test::a_pod;
using test::FakeConnection;
using test::FakeRequest;

const std::string kRead = "GET /api/v1/namespaces/ml/pods/train";
const std::string kWrite = "POST /api/v1/namespaces/ml/pods/train/binding";
constexpr double kTime_s = 0.9;

void hang(const FakeRequest&, FakeConnection& connection) {
  connection.hang();
}

class BinderFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    Pod pod = a_pod("ml/train").gpus(1).build();
    pod.uid = Uid("pod-train");
    source_.show(a_cluster()
                     .with(a_node("gpu-1"))
                     .with(a_node("tainted").taint("team", "vision"))
                     .add(std::move(pod))
                     .build());
    api_ = cluster::connect({.kubeconfig = server_.write_kubeconfig(folder_.path())}).value();
    writer_ = cluster::make_kube_writer(*api_);
  }

  BindOutcome bind(const std::string& node = "gpu-1") {
    const double began_s = system_clock().steady_s();
    const BindOutcome outcome =
        Binder({}, source_, writer_.get(), shares_, system_clock())
            .bind({{"ml", "train"}, Uid("pod-train"), NodeName(node)}, began_s + kTime_s);
    took_s_ = system_clock().steady_s() - began_s;
    return outcome;
  }

  const test::TemporaryFolder folder_;
  test::FakeApiServer server_;
  test::FakeSource source_{ClusterSnapshot()};
  const GpuCatalog catalog_ = default_gpu_catalog();
  ShareAccount shares_{catalog_, source_, nullptr, system_clock()};
  std::unique_ptr<cluster::ApiClient> api_;
  std::unique_ptr<cluster::ClusterWriter> writer_;
  double took_s_ = 0;
};

TEST_F(BinderFaultsTest, AnApiServerThatHangsIsLeftWhenTheTimeIsOver) {
  server_.always(kWrite, hang);
  server_.always(kRead, hang);
  const BindOutcome outcome = bind();
  EXPECT_FALSE(outcome.reply.error.empty());
  EXPECT_EQ(outcome.counted, "timeout");
  EXPECT_TRUE(outcome.late);
  EXPECT_GT(took_s_, kTime_s - 0.1);
  EXPECT_LT(took_s_, kTime_s + test::patient(0.3));
  EXPECT_EQ(server_.count(kRead), 1u);
}

TEST_F(BinderFaultsTest, OneThatTakesTheBindingAndHangsHasBoundThePod) {
  server_.always(kWrite, hang);
  server_.always(kRead, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply(200, test::pod_json("train", "gpu-1"));
  });
  const BindOutcome outcome = bind();
  EXPECT_TRUE(outcome.reply.error.empty()) << outcome.reply.error;
  EXPECT_EQ(outcome.counted, "already_bound");
  EXPECT_FALSE(outcome.late);
  EXPECT_LT(took_s_, kTime_s);
}

TEST_F(BinderFaultsTest, TolerationsOfAPodWithoutGpusAreRead) {
  source_.show(a_cluster().with(a_node("tainted").taint("team", "vision")).build());
  std::string tolerations;
  server_.always(kRead, [&](const FakeRequest&, FakeConnection& connection) {
    connection.reply(200, R"({"kind":"Pod","metadata":{"name":"train","namespace":"ml",)"
                          R"("uid":"pod-train"},"spec":{"tolerations":[)" +
                              tolerations + R"(],"containers":[{"name":"c"}]}})");
  });
  server_.always(kWrite, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply(201, R"({"kind":"Status","status":"Success"})");
  });
  EXPECT_NE(bind("tainted").reply.error.find("taint"), std::string::npos);
  EXPECT_EQ(server_.count(kWrite), 0u);
  tolerations = R"({"key":"team","operator":"Exists"})";
  EXPECT_EQ(bind("tainted").counted, "bound");
}

}  // namespace
}  // namespace slackline::control
