// Bindings against an API server that refuses, fails and hangs (F39, the API's side of it).
#include "cluster/api/kube_writer.h"

#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "cluster/api/api_client.h"
#include "support/eventually.h"
#include "support/fake_api_server.h"
#include "support/kube_json.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

using test::FakeApiServer;
using test::FakeConnection;
using test::FakeRequest;

const std::string kPod = "/api/v1/namespaces/ml/pods/train";
const std::string kBind = "POST " + kPod + "/binding";
const std::string kRead = "GET " + kPod;
const BindingOrder kOrder{
    {"ml", "train"}, Uid("u1"), NodeName("gpu-1"), {{"slackline.dev/variant", "x"}}};

class KubeWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    api_ = connect({.kubeconfig = server_.write_kubeconfig(folder_.string())}).value();
    writer_ = make_kube_writer(*api_);
  }

  ErrorCode bind_answered(int status, const std::string& reason) {
    server_.next(kBind, [=](const FakeRequest&, FakeConnection& connection) {
      connection.reply_status(status, reason, "pod train: " + reason);
    });
    const Status bound = writer_->bind(kOrder, 1);
    EXPECT_FALSE(bound);
    EXPECT_NE(bound.error().message.find("ml/train"), std::string::npos);
    EXPECT_NE(bound.error().message.find("pod train: " + reason), std::string::npos);
    return bound.error().code;
  }

  const test::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  FakeApiServer server_;
  std::unique_ptr<ApiClient> api_;
  std::unique_ptr<ClusterWriter> writer_;
};

TEST_F(KubeWriterTest, BindsWithUidNodeAndAnnotations) {
  server_.next(kBind, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply(201, R"({"kind":"Status","status":"Success"})");
  });
  const Status bound = writer_->bind(kOrder, 1);
  ASSERT_TRUE(bound) << bound.error().message;
  const FakeRequest asked = server_.requests(kBind).at(0);
  EXPECT_EQ(asked.headers.at("content-type"), "application/json");
  for (const char* part : {R"("uid":"u1")", R"("name":"gpu-1")", R"("slackline.dev/variant":"x")"})
    EXPECT_NE(asked.body.find(part), std::string::npos) << asked.body;
}

TEST_F(KubeWriterTest, RefusalsKeepTheirMeaning) {
  EXPECT_EQ(bind_answered(409, "Conflict"), ErrorCode::kConflict);
  EXPECT_EQ(bind_answered(404, "NotFound"), ErrorCode::kNotFound);
  EXPECT_EQ(bind_answered(403, "Forbidden"), ErrorCode::kForbidden);
  EXPECT_EQ(bind_answered(500, "InternalError"), ErrorCode::kUnavailable);
  EXPECT_EQ(bind_answered(503, "ServiceUnavailable"), ErrorCode::kUnavailable);
  EXPECT_EQ(bind_answered(504, "Timeout"), ErrorCode::kTimeout);
  EXPECT_EQ(bind_answered(429, "TooManyRequests"), ErrorCode::kResourceExhausted);
}

TEST_F(KubeWriterTest, AHangAfterTheCommitIsATimeoutThatReadingBackSettles) {
  server_.next(kBind, [](const FakeRequest&, FakeConnection& connection) { connection.hang(); });
  server_.always(kRead, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply(200, test::pod_json("train", "gpu-1"));
  });
  const double began_s = system_clock().steady_s();
  const Status bound = writer_->bind(kOrder, 1);
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code, ErrorCode::kTimeout);
  const auto truth = writer_->read_pod(kOrder.pod, test::patient(1.5));
  ASSERT_TRUE(truth) << truth.error().message;
  EXPECT_EQ(truth->node, kOrder.node);
  EXPECT_EQ(truth->uid, Uid("pod-train"));
  EXPECT_FALSE(truth->deleting);
  EXPECT_LT(system_clock().steady_s() - began_s, test::patient(2.5));
}

// A token that has just expired does not double the time.
TEST_F(KubeWriterTest, TheSecondAttemptHasTheTimeThatIsLeft) {
  const double limit_s = test::patient(1.5);
  server_.next(kBind, [=](const FakeRequest&, FakeConnection& connection) {
    std::this_thread::sleep_for(std::chrono::duration<double>(0.6 * limit_s));
    connection.reply_status(401, "Unauthorized", "Unauthorized");
  });
  server_.next(kBind, [](const FakeRequest&, FakeConnection& connection) { connection.hang(); });
  const double began_s = system_clock().steady_s();
  EXPECT_EQ(writer_->bind(kOrder, limit_s).error().code, ErrorCode::kTimeout);
  EXPECT_LT(system_clock().steady_s() - began_s, 1.4 * limit_s) << "twice would be 1.6";
  EXPECT_EQ(server_.count(kBind), 2u);
}

// A proxy that says 200 to anything has bound nothing; what answers like that may have, though.
TEST_F(KubeWriterTest, OnlyAStatusOfSuccessIsABinding) {
  for (const char* body :
       {"garbage", "", "{}", "<html>", R"({"kind":"Status","status":"Failure"})",
        R"({"kind":"Pod","status":{"phase":"Running"}})", R"({"status":"Success"})"})
    for (const int status : {200, 201, 202}) {
      server_.next(kBind, [=](const FakeRequest&, FakeConnection& connection) {
        connection.reply(status, body);
      });
      const Status bound = writer_->bind(kOrder, 1);
      ASSERT_FALSE(bound) << status << " " << body;
      EXPECT_EQ(bound.error().code, ErrorCode::kTimeout) << "its fate is unknown";
    }
}

TEST_F(KubeWriterTest, NamesThatNameSomethingElseAreNeverSent) {
  for (const ObjectKey& pod : std::vector<ObjectKey>{{"..", "x"},
                                                     {"ml", ".."},
                                                     {"a/b", "c"},
                                                     {"ml", "train/../other"},
                                                     {".", "train"},
                                                     {"ml", "train?dryRun=All"},
                                                     {"", "train"}}) {
    EXPECT_EQ(writer_->bind({pod, Uid("u1"), NodeName("gpu-1"), {}}, 1).error().code,
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(writer_->read_pod(pod, 0.5).error().code, ErrorCode::kInvalidArgument);
    for (const OwnWrite& write :
         {OwnWrite{.target = {.key = pod}, .change = JobChange{OpenJob{}}},
          OwnWrite{.target = {.key = pod}, .change = PodChange{LiftGate{}}}})
      EXPECT_EQ(writer_->write(write).error().code, ErrorCode::kInvalidArgument);
    TaskEvent event;
    event.kind = "Pod";
    event.object = pod;
    if (pod.ns == "ml") continue;  // of an Event, the name is in the body only
    EXPECT_FALSE(writer_->post(event));
  }
  EXPECT_FALSE(writer_->bind({{"ml", "train"}, Uid("u1"), NodeName("gpu/1"), {}}, 1));
  EXPECT_TRUE(server_.seen().empty());
}

TEST_F(KubeWriterTest, AConnectionCutInTheAnswerIsUnavailable) {
  for (const std::size_t bytes : {10u, 200u}) {  // in the status line, in the body
    server_.next(kBind, [=](const FakeRequest&, FakeConnection& connection) {
      connection.cut_after(bytes);
      connection.reply(201, std::string(500, ' '));
    });
    const Status bound = writer_->bind(kOrder, 1);
    ASSERT_FALSE(bound) << bytes;
    EXPECT_EQ(bound.error().code, ErrorCode::kUnavailable);
  }
}

TEST_F(KubeWriterTest, AGonePodIsNotFound) {
  const auto truth = writer_->read_pod(kOrder.pod, 0.5);
  ASSERT_FALSE(truth);
  EXPECT_EQ(truth.error().code, ErrorCode::kNotFound);
}

TEST_F(KubeWriterTest, ServesManyThreadsAtOnceAndKeepsItsConnections) {
  server_.always(kBind, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply(201, R"({"kind":"Status","status":"Success"})");
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k)
        EXPECT_TRUE(writer_->bind(kOrder, 1));
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(server_.count(kBind), 160u);
}

}  // namespace
}  // namespace slackline::cluster
