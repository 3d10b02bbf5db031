// What is asked of a cluster at the start, of API servers that are old, refuse, or say nothing.
#include "cluster/api/requirements.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/api/api_client.h"
#include "slackline/base/text.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"
#include "wire/format/json_view.h"

namespace slackline::cluster {
namespace {

using test::FakeApiServer;
using test::FakeConnection;
using test::FakeRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kPolicies =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

class RequirementsTest : public testing::Test {
 protected:
  void SetUp() override {
    says_version("36");
    calls_itself("system:serviceaccount:slackline-system:slackline");
    server_.always("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                   [this](const FakeRequest& asked, FakeConnection& reply) {
                     wire::JsonDocument document;
                     const auto right = (*document.parse(asked.body))["spec"]["resourceAttributes"];
                     const bool may = !refused_.contains(
                         format("{} {}", right["verb"].text(), right["resource"].text()));
                     reply.reply(201, format(R"({{"status":{{"allowed":{}}}}})", may));
                   });
    for (const char* name :
         {"slackline-own-writes-of-jobs", "slackline-own-writes-of-pods",
          "slackline-own-writes-of-pod-status", "slackline-own-calibration-runs"})
      answer_policy(name, 200, "");
  }

  void says_version(const std::string& minor) {
    server_.always("GET /version", [minor](const FakeRequest&, FakeConnection& reply) {
      reply.reply(200, format(R"({{"major":"1","minor":"{}"}})", minor));
    });
  }
  void calls_itself(const std::string& user) {
    server_.always("POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
                   [user](const FakeRequest&, FakeConnection& reply) {
                     reply.reply(
                         201, format(R"({{"status":{{"userInfo":{{"username":"{}"}}}}}})", user));
                   });
  }
  void answer_policy(const std::string& name, int status, const std::string& reason) {
    server_.always(format("GET {}/{}", kPolicies, name),
                   [status, reason](const FakeRequest&, FakeConnection& reply) {
                     if (status == 200) return reply.reply(200, "{}");
                     reply.reply_status(status, reason, "no");
                   });
  }

  std::unique_ptr<ApiClient> client() {
    auto made = connect({.kubeconfig = server_.write_kubeconfig(folder_.path())});
    EXPECT_TRUE(made);
    return *std::move(made);
  }
  std::vector<std::string> lacking() {
    const auto found =
        find_lacking(*client(), {.lease = {"ns", "planner"}, .key_secret = {"ns", "key"}});
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::vector<std::string>());
  }

  FakeApiServer server_;
  test::TemporaryFolder folder_;
  std::set<std::string> refused_;
};

TEST_F(RequirementsTest, AnOldClusterIsRefusedByItsVersion) {
  EXPECT_TRUE(require_version(*client()));
  says_version("34+");
  EXPECT_TRUE(require_version(*client()));
  says_version("33");
  const Status old = require_version(*client());
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(old.error().message, "the cluster is Kubernetes 1.33; Slackline needs 1.34 or newer");
}

TEST_F(RequirementsTest, NothingIsLackingWhereAllIsGranted) {
  EXPECT_THAT(lacking(), IsEmpty());
}

TEST_F(RequirementsTest, EveryRightThatIsMissingIsNamed) {
  refused_ = {"patch jobs", "update leases", "get secrets"};
  EXPECT_THAT(lacking(),
              ElementsAre("system:serviceaccount:slackline-system:slackline may not patch "
                          "jobs.batch, update leases.coordination.k8s.io ns/planner, get secrets "
                          "ns/key (`helm upgrade`, or apply deploy/rbac)"));
}

TEST_F(RequirementsTest, APolicyThatIsAbsentOrMayNotBeReadIsNamed) {
  answer_policy("slackline-own-writes-of-pods", 404, "NotFound");
  answer_policy("slackline-own-calibration-runs", 403, "Forbidden");
  EXPECT_THAT(lacking(),
              ElementsAre(HasSubstr("slackline-own-writes-of-pods, "
                                    "slackline-own-calibration-runs (it may not read it)")));
}

TEST_F(RequirementsTest, APersonIsHeldByNoPolicy) {
  answer_policy("slackline-own-writes-of-pods", 404, "NotFound");
  calls_itself("jane");
  EXPECT_THAT(lacking(), IsEmpty());
}

TEST_F(RequirementsTest, WhatCannotBeAskedIsNoAnswer) {
  answer_policy("slackline-own-writes-of-pods", 500, "InternalError");
  const auto found = find_lacking(*client(), {.lease = {"ns", "a"}, .key_secret = {"ns", "b"}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace slackline::cluster
