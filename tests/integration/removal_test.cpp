// What an uninstallation asks of the API server.
#include "cluster/api/removal.h"

#include <memory>

#include <gtest/gtest.h>

#include "cluster/api/api_client.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

using test::FakeApiServer;

const std::string kApiService =
    "DELETE /apis/apiregistration.k8s.io/v1/apiservices/v1.visibility.slackline.dev";

class RemovalTest : public testing::Test {
 protected:
  void SetUp() override {
    api_ = connect({.kubeconfig = server_.write_kubeconfig(temporary_.path())}).value();
  }

  const test::TemporaryFolder temporary_;
  FakeApiServer server_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(RemovalTest, PodsThatAreBeingDeletedAreToldFromThoseThatRun) {
  server_.next("GET /api/v1/namespaces/gpus/pods", 200,
               R"({"kind":"PodList","items":[{"metadata":{"name":"a"}},)"
               R"({"metadata":{"name":"b","deletionTimestamp":"2026-11-30T10:00:00Z"}},)"
               R"({"metadata":{"name":"c","deletionTimestamp":"2026-11-30T10:00:00Z"}}]})");
  const auto left = Removal(*api_).daemons_left("gpus");
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_EQ(left->running, 1U);
  EXPECT_EQ(left->ending, 2U);
}

TEST_F(RemovalTest, TheApiServiceOfTheAggregatedApiGoesWhereThereIsOne) {
  Removal removal(*api_);
  server_.next(kApiService, 200, "{}");
  EXPECT_TRUE(removal.remove_api_service());
  server_.next(kApiService, 404, R"({"kind":"Status","code":404,"reason":"NotFound"})");
  EXPECT_TRUE(removal.remove_api_service()) << "most clusters have none";
  server_.next(kApiService, 403, R"({"kind":"Status","code":403,"reason":"Forbidden"})");
  EXPECT_FALSE(removal.remove_api_service());
  EXPECT_EQ(server_.count(kApiService), 3U);
}

}  // namespace
}  // namespace slackline::cluster
