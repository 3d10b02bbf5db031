// What the objects say whose controllers make gangs, of an API server that does not always answer.
#include "cluster/watch/gang_reader.h"

#include <memory>

#include <gtest/gtest.h>

#include "cluster/api/api_client.h"
#include "slackline/base/text.h"
#include "support/cluster_builder.h"
#include "support/eventually.h"
#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

using test::eventually;
using test::FakeConnection;
using test::FakeRequest;

const std::string kObject = "GET /apis/kubeflow.org/v1/namespaces/default/pytorchjobs/llm";

class GangReaderTest : public testing::Test {
 protected:
  GangReaderTest() {
    using wire::KubeKind;
    for (const KubeKind kind : {KubeKind::kNode, KubeKind::kPod, KubeKind::kJob}) {
      cache_.begin_relist(kind);
      cache_.finish_relist(kind);
    }
    Pod pod = test::a_pod("llm-worker-0").gpus(4).build();
    OwnerGang gang;
    gang.kind = "PyTorchJob";
    gang.name = "llm";
    gang.uid = Uid("g1");
    gang.api_version = "kubeflow.org/v1";
    pod.owner_gang = std::make_shared<const OwnerGang>(gang);
    cache_.upsert(std::move(pod));
    cache_.publish();
  }
  ~GangReaderTest() override {
    reader_.stop();
    reader_.join();
  }

  void says(int workers) {
    server_.always(kObject, [workers](const FakeRequest&, FakeConnection& reply) {
      reply.reply(200,
                  format(R"({{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",)"
                         R"("metadata":{{"uid":"g1"}},"spec":{{"pytorchReplicaSpecs":{{"Worker":)"
                         R"({{"replicas":{},"template":{{"spec":{{"containers":[{{"name":"train",)"
                         R"("resources":{{"limits":{{"nvidia.com/gpu":"4"}}}}}}]}}}}}}}}}}}})",
                         workers));
    });
  }
  void fails(int status, const char* reason) {
    server_.always(kObject, [=](const FakeRequest&, FakeConnection& reply) {
      reply.reply_status(status, reason, "not now");
    });
  }
  // 0: nobody said.
  std::int64_t pods() {
    const auto specs = cache_.publish()->gang_specs;
    const auto spec = specs ? specs->find(Uid("g1")) : GangSpecs::const_iterator();
    return specs && spec != specs->end() ? spec->second.pods.value_or(0) : 0;
  }
  // Time goes on; the reader's next look is due by a clock that it reads after the answer.
  template <class Holds>
  bool in_time(const Holds& holds) {
    return eventually([&] {
      clock_.advance(1);
      return holds();
    });
  }

  const test::TemporaryFolder temporary_;
  test::FakeApiServer server_;
  test::FakeClock clock_;
  Cache cache_{clock_, nullptr};
  const std::unique_ptr<ApiClient> api_ =
      connect({.kubeconfig = server_.write_kubeconfig(temporary_.path())}).value();
  const GpuCatalog catalog_ = default_gpu_catalog();
  GangReader reader_{*api_, cache_, catalog_, clock_};
};

TEST_F(GangReaderTest, WhatWasReadCountsWhileTheServerDoesNotAnswer) {
  says(8);
  reader_.start();
  ASSERT_TRUE(in_time([&] { return pods() == 8; }));
  fails(503, "ServiceUnavailable");
  const std::size_t before = server_.count(kObject);
  ASSERT_TRUE(in_time([&] { return server_.count(kObject) > before + 2; }));
  EXPECT_EQ(pods(), 8);
  says(4);
  EXPECT_TRUE(in_time([&] { return pods() == 4; }));
  fails(403, "Forbidden");
  EXPECT_TRUE(in_time([&] { return pods() == 0; })) << "nobody may say";
}

// Older versions of JobSet tell its uid to the Jobs alone.
TEST_F(GangReaderTest, WhatItsJobSaysGoesBeforeWhatAPodSays) {
  OwnerGang gang{"JobSet", "set", Uid("g2"), "0"};
  gang.api_version = "jobset.x-k8s.io/v1alpha2";
  Job job = test::a_job("set-a-0").gpus(4).build();
  job.owner_gang = std::make_shared<const OwnerGang>(gang);
  gang.uid = Uid();
  Pod pod = test::a_pod("set-a-0-0").of_job("set-a-0").gpus(4).build();
  pod.owner_gang = std::make_shared<const OwnerGang>(gang);
  cache_.upsert(std::move(job));
  cache_.upsert(std::move(pod));
  reader_.start();
  EXPECT_TRUE(in_time([&] { return cache_.publish()->spec_of_gang(Uid("g2")) != nullptr; }));
}

TEST_F(GangReaderTest, AnErrorAtTheFirstReadIsNotTheLastWord) {
  fails(500, "InternalError");
  reader_.start();
  ASSERT_TRUE(eventually([&] { return server_.count(kObject) == 1; }));
  says(8);
  EXPECT_TRUE(in_time([&] { return pods() == 8; }));
}

}  // namespace
}  // namespace slackline::cluster
