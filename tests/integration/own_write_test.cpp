// The writes of the hand-over against an API server that refuses and hangs.
#include <gtest/gtest.h>

#include "cluster/api/api_client.h"
#include "cluster/api/kube_writer.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

using test::FakeApiServer;

const std::string kPodPatch = "PATCH /api/v1/namespaces/ml/pods/train-0";
const std::string kJobPatch = "PATCH /apis/batch/v1/namespaces/ml/jobs/train";

class OwnWriteTest : public testing::Test {
 protected:
  void SetUp() override {
    api_ = connect({.kubeconfig = server_.write_kubeconfig(temporary_.path())}).value();
    writer_ = make_kube_writer(*api_);
    Pod pod;
    pod.key = {"ml", "train-0"};
    pod.uid = Uid("u2");
    lift_ = pod_write(pod, LiftGate{});
    evict_ = pod_write(pod, EvictPod{});
    nominate_ = pod_write(pod, Nominate{NodeName("n1")});
    Job job;
    job.key = {"ml", "train"};
    job.uid = Uid("u1");
    job.resource_version = "41";
    suspend_ = job_write(job, SuspendJob{});
  }

  const test::TemporaryFolder temporary_;
  FakeApiServer server_;
  std::unique_ptr<ApiClient> api_;
  std::unique_ptr<ClusterWriter> writer_;
  OwnWrite lift_, nominate_, suspend_, evict_;
};

// As API servers before 1.36 do. It goes on in the shape it has.
TEST_F(OwnWriteTest, AJobIsLetGoEvenIfItsTemplateMayNotBeChanged) {
  OwnWrite open = suspend_;
  ShapeChange shape;
  shape.affinity_terms.emplace();
  open.change = JobChange{OpenJob{shape}};
  server_.next(kJobPatch, 422,
               R"({"kind":"Status","code":422,"reason":"Invalid","message":"immutable"})");
  server_.next(kJobPatch, 200, R"({"metadata":{"resourceVersion":"43"}})");
  const auto version = writer_->write(open);
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(*version, "43");
  EXPECT_NE(server_.requests(kJobPatch).at(0).body.find("template"), std::string::npos);
  EXPECT_EQ(server_.requests(kJobPatch).at(1).body.find("template"), std::string::npos);
}

TEST_F(OwnWriteTest, TheServerIsAskedForItsVersion) {
  server_.next("GET /version", 200, R"({"major":"1","minor":"35"})");
  const auto minor = server_minor(*api_);
  ASSERT_TRUE(minor) << minor.error().message;
  EXPECT_EQ(*minor, 35);
  server_.next("GET /version", 503, "{}");
  EXPECT_FALSE(server_minor(*api_));
}

TEST_F(OwnWriteTest, EachGoesWhereItBelongsAndTellsTheNewVersion) {
  const std::string written = R"({"metadata":{"resourceVersion":"42"}})";
  for (const auto& [name, write, type] :
       {std::tuple(kPodPatch, lift_, "application/json-patch+json"),
        std::tuple(kPodPatch + "/status", nominate_, "application/merge-patch+json"),
        std::tuple(kJobPatch, suspend_, "application/merge-patch+json")}) {
    server_.next(name, 200, written);
    const auto version = writer_->write(write);
    ASSERT_TRUE(version) << version.error().message;
    EXPECT_EQ(*version, "42");
    EXPECT_EQ(server_.requests(name).at(0).headers.at("content-type"), type);
  }
}

// kube-scheduler bound its last pod while that was decided.
TEST_F(OwnWriteTest, AGangThatIsCompleteByNowIsNotSuspended) {
  OwnWrite late = suspend_;
  late.change = JobChange{SuspendJob{.unless_bound = {{"ml", "train-0"}, {"ml", "train-1"}}}};
  const auto show = [&](const std::string& name, const std::string& node) {
    server_.next("GET /api/v1/namespaces/ml/pods/" + name, 200,
                 R"({"kind":"Pod","metadata":{"namespace":"ml","uid":"u","name":")" + name +
                     R"("},"spec":{"nodeName":")" + node + R"("}})");
  };
  show("train-0", "n1");
  show("train-1", "n2");
  const auto spared = writer_->write(late);
  ASSERT_FALSE(spared);
  EXPECT_EQ(spared.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(server_.requests(kJobPatch).empty());
  show("train-0", "n1");
  show("train-1", "");
  server_.next(kJobPatch, 200, R"({"metadata":{"resourceVersion":"42"}})");
  EXPECT_TRUE(writer_->write(late));
}

TEST_F(OwnWriteTest, AnEvictionIsPostedAndOnlySuccessIsSuccess) {
  const std::string name = "POST /api/v1/namespaces/ml/pods/train-0/eviction";
  server_.next(name, 201, R"({"kind":"Status","status":"Success"})");
  const auto evicted = writer_->write(evict_);
  ASSERT_TRUE(evicted) << evicted.error().message;
  EXPECT_EQ(*evicted, "") << "the answer names no version";
  EXPECT_EQ(server_.requests(name).at(0).headers.at("content-type"), "application/json");

  server_.next(name, 200, "<html>a proxy</html>");
  EXPECT_EQ(writer_->write(evict_).error().code, ErrorCode::kTimeout) << "it may have happened";
  const auto refused = [&](int status, const std::string& reason) {
    server_.next(name, status, R"({"kind":"Status","reason":")" + reason + R"(","message":"no"})");
    return writer_->write(evict_).error().code;
  };
  EXPECT_EQ(refused(429, "TooManyRequests"), ErrorCode::kResourceExhausted) << "a budget";
  EXPECT_EQ(refused(404, "NotFound"), ErrorCode::kNotFound);
  EXPECT_EQ(refused(409, "Conflict"), ErrorCode::kConflict) << "another pod of that name";
  EXPECT_EQ(refused(500, "InternalError"), ErrorCode::kUnavailable) << "two budgets for one pod";
}

TEST_F(OwnWriteTest, APreconditionThatDoesNotHoldIsAConflict) {
  server_.next(kPodPatch, 422,
               R"({"kind":"Status","code":422,"reason":"Invalid","message":"test failed"})");
  EXPECT_EQ(writer_->write(lift_).error().code, ErrorCode::kConflict);
  server_.next(kJobPatch, 409,
               R"({"kind":"Status","code":409,"reason":"Conflict","message":"modified"})");
  EXPECT_EQ(writer_->write(suspend_).error().code, ErrorCode::kConflict);
  server_.next(kJobPatch, 422,
               R"({"kind":"Status","code":422,"reason":"Invalid","message":"immutable"})");
  EXPECT_EQ(writer_->write(suspend_).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(OwnWriteTest, AnEventIsPostedInTheNamespaceOfItsObject) {
  const std::string name = "POST /api/v1/namespaces/ml/events";
  server_.next(name, 201, "{}");
  ASSERT_TRUE(writer_->post({"Job", {"ml", "train"}, Uid("u1"), "Released", "on n1", false}));
  const std::string body = server_.requests(name).at(0).body;
  for (const char* part : {R"("reason":"Released")", R"("apiVersion":"batch/v1","kind":"Job")"})
    EXPECT_NE(body.find(part), std::string::npos) << body;
}

}  // namespace
}  // namespace slackline::cluster
