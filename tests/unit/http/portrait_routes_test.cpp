// What families of tasks use, over REST, without a socket: the routes on a real database.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/portrait/portraits.h"
#include "http/routes/api_routes.h"
#include "slackline/base/text.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/portrait_runs.h"
#include "support/temporary_folder.h"

namespace slackline::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PortraitRoutesTest : public ::testing::Test {
 protected:
  PortraitRoutesTest() {
    clock_.jump_wall(86400.0 * 1010 - clock_.wall_s());
    auto opened = control::Portraits::open({.path = folder_.file("p.db")}, metrics_, clock_);
    EXPECT_TRUE(opened) << opened.error().message;
    portraits_ = std::move(*opened);
    query_ = std::make_unique<control::PortraitQuery>(*portraits_);
    query_->follow(source_, known_);
    add_portrait_routes(router_, *query_, pages_);
  }

  // Four nightly runs, and what was measured of them.
  void learn(const std::string& ns, const std::string& owner, const std::string& image) {
    PortraitIdentity identity;
    identity.department = ns;
    identity.owner = owner;
    identity.image = image;
    identity.framework = "Job";
    for (int night = 1; night <= 4; ++night) {
      portraits_->add_run(identity, test::a_run(night));
      portraits_->observe({{identity, test::a_run(night).usage}});
    }
    ASSERT_TRUE(portraits_->settle());
  }

  Response send(const char* method, const std::string& target, const std::string& body = "",
                const char* type = "application/json") {
    Request request;
    request.method = method;
    request.body = body;
    request.content_type = type;
    request.accept = "application/json";
    return router_.dispatch(request, target);
  }

  static Job a_job(const char* name, const char* image) {
    Job job = test::a_job(name).gpus(4).build();
    job.image = image;
    return job;
  }

  const Published<control::Known> known_{control::make_known({})};
  test::FakeSource source_{test::a_cluster()
                               .add(a_job("lab/train-x7k2p", "net:v1"))
                               .add(a_job("lab/first", "net:v2"))
                               .add(a_job("lab/strange", "something"))
                               .add(a_job("other/first", "net:v2"))
                               .build()};
  test::TemporaryFolder folder_;
  obs::MetricsRegistry metrics_;
  test::FakeClock clock_;
  std::unique_ptr<control::Portraits> portraits_;
  std::unique_ptr<control::PortraitQuery> query_;
  Pages pages_{clock_};
  Router router_;
};

TEST_F(PortraitRoutesTest, APortraitSaysWhatItsFamilyUsesAndHowLongItRuns) {
  learn("lab", "train", "net:v1");
  const std::string body = send("GET", "/v1/portraits").body;
  EXPECT_THAT(body, HasSubstr(R"("key":"lab/owner=train,image=net:v1,model=")"));
  EXPECT_THAT(body, HasSubstr(R"("runs":4,"succeeded":4,"failed":0)"));
  EXPECT_THAT(body, HasSubstr(R"("meanRunSeconds":3600)"));
  EXPECT_THAT(body, HasSubstr(R"("score":0.5,"level":5)"));
  EXPECT_THAT(body, HasSubstr(R"({"resource":"gpu","median":0.5)"));
  EXPECT_THAT(body, HasSubstr(R"("runTimes":[{"gpuType":"A100","gpus":4,"medianSeconds":3600)"));
  EXPECT_THAT(body, Not(HasSubstr("packed")));
  const std::string table = send("GET", "/v1/portraits?output=table").body;
  EXPECT_THAT(table, HasSubstr("NAMESPACE"));
  EXPECT_THAT(table, HasSubstr("train"));
  const std::string csv = send("GET", "/v1/portraits?output=csv").body;
  EXPECT_THAT(csv, HasSubstr("net:v1"));
}

TEST_F(PortraitRoutesTest, AFamilyIsFoundByItsNameAndItsNamespace) {
  learn("lab", "train", "net:v1");
  learn("lab", "train", "net:v2");
  learn("team", "train", "net:v1");
  const auto count = [this](const std::string& target) {
    const Response answer =
        send("GET", target + (target.find('?') == target.npos ? "?" : "&") + "output=csv");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return std::count(answer.body.begin(), answer.body.end(), '\n') - 1;
  };
  EXPECT_EQ(count("/v1/portraits"), 3);
  EXPECT_EQ(count("/v1/portraits/train"), 3);
  EXPECT_EQ(count("/v1/portraits/train?namespace=lab"), 2);
  const Response of_namespace = send("GET", "/v1/portraits?namespace=team");
  EXPECT_THAT(of_namespace.body, Not(HasSubstr("\"lab\"")));
  const Response unknown = send("GET", "/v1/portraits/nobody");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.body, HasSubstr("a GPU Job gets one when it ends"));
  EXPECT_THAT(send("GET", "/v1/portraits/meta-llama/nightly").body,
              HasSubstr("no portrait of a family meta-llama/nightly"))
      << "its name may have slashes";
}

TEST_F(PortraitRoutesTest, BeforeItsFirstRunAJobBorrowsTheNearestPortrait) {
  learn("lab", "train", "net:v1");
  const auto of = [this](const std::string& ns, const std::string& job) {
    return send("GET", "/v1/portraits?namespace=" + ns + "&job=" + job);
  };
  const std::string exact = of("lab", "train-x7k2p").body;
  EXPECT_THAT(exact, HasSubstr(R"("match":"exact")"));
  EXPECT_THAT(exact, Not(HasSubstr("distance")));
  const std::string similar = of("lab", "first").body;
  EXPECT_THAT(similar, HasSubstr(R"("key":"lab/owner=train,image=net:v1,model=")"));
  EXPECT_THAT(similar, HasSubstr(R"("match":"similar","distance":4)")) << "no model is named";
  EXPECT_THAT(of("other", "first").body, HasSubstr("it is a first run"))
      << "nothing is told of other namespaces";
  EXPECT_THAT(of("lab", "strange").body, HasSubstr("it is a first run"));
  EXPECT_EQ(of("other", "nobody").status, 404);
  EXPECT_EQ(send("GET", "/v1/portraits?job=first").status, 400) << "of which namespace?";
  EXPECT_THAT(send("GET", "/v1/portraits").body, Not(HasSubstr("match")));
}

TEST_F(PortraitRoutesTest, WhatOneDaemonTellsAnotherCanTake) {
  learn("lab", "train", "net:v1");
  const std::string told = send("GET", "/v1/portraits?packed=true").body;
  const std::string before = send("GET", "/v1/portraits").body;
  EXPECT_EQ(send("DELETE", "/v1/portraits/train").status, 400) << "of which namespace?";
  EXPECT_EQ(send("DELETE", "/v1/portraits/train?namespace=team").status, 404);
  EXPECT_EQ(send("DELETE", "/v1/portraits/train?namespace=lab").status, 200);
  EXPECT_EQ(send("GET", "/v1/portraits/train").status, 404);
  const Response taken = send("POST", "/v1/portraits", told);
  EXPECT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(send("GET", "/v1/portraits?packed=true").body, told);
  EXPECT_EQ(send("GET", "/v1/portraits").body, before);
}

TEST_F(PortraitRoutesTest, ABodyWithAnythingWrongIsRefusedWhole) {
  learn("lab", "train", "net:v1");
  const std::string told = send("GET", "/v1/portraits?packed=true").body;
  const std::string good = told.substr(told.find("\"packed\":"));
  const std::string packed = good.substr(0, good.find('}'));
  const auto refused = [&](const std::string& body, const char* why) {
    const Response answer = send("POST", "/v1/portraits", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.body, HasSubstr(why));
  };
  refused("{}", "items: is missing");
  refused(R"({"items":[]})", "items: is empty");
  refused(R"({"items":[{"key":"a"}]})", "items[0].packed: is missing");
  refused("{\"items\":[{" + packed + R"(},{"packed":"AAAA"}]})", "items[1].packed: portrait");
  refused(R"({"items":[{"packed":"%%"}]})", "items[0].packed");
  EXPECT_EQ(send("POST", "/v1/portraits", told, "text/csv").status, 415);
  EXPECT_EQ(send("GET", "/v1/portraits?packed=yes").status, 400);
}

}  // namespace
}  // namespace slackline::http
