// Reports over REST, without a socket: the routes on a real journal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/portrait/portraits.h"
#include "http/routes/api_routes.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "store/journal.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/temporary_folder.h"

namespace slackline::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ReportRoutesTest : public ::testing::Test {
 protected:
  ReportRoutesTest() {
    clock_.jump_wall(system_clock().wall_s() -
                     clock_.wall_s());  // the journal forgets by the real one
    auto journal = store::Journal::open({.path = folder_.file("j.db")});
    EXPECT_TRUE(journal) << journal.error().message;
    journal_ = std::move(*journal);
    queries_ = std::make_unique<control::Queries>(decisions_, known_, source_, journal_.get(),
                                                  clock_, "test");
    reports_ = std::make_unique<control::Reports>(*queries_, portraits_, clock_, &idle_);
    add_report_routes(router_, *reports_, pages_, clock_, [] {});
  }

  // One GPU for as many hours as `hours`, half used, in time, ended an hour ago.
  void ended(const std::string& ns, const std::string& name, double hours, bool measured = true) {
    FinishedTask task;
    task.key = {ns, name};
    task.uid = Uid(ns + name);
    task.family = ns + "/owner=" + name + ",image=net:v1,model=";
    task.gpu_type = GpuType("A100");
    task.gpus = 1;
    task.asked_gpus = 2;
    task.finished_s = clock_.wall_s() - 3600;
    task.started_s = task.finished_s - hours * 3600;
    task.created_s = *task.started_s - 90;
    task.succeeded = true;
    task.deadline_s = task.finished_s + 1;
    task.gpu_hours = hours;
    ASSERT_TRUE(journal_->append(task));
    if (measured) {
      ASSERT_TRUE(journal_->measured(task.uid, {0.5, 0.25, hours * 3600, 0, 0}));
    }
    ASSERT_TRUE(journal_->flush(10));
  }

  Response get(const std::string& target) {
    Request request;
    request.method = "GET";
    request.accept = "application/json";
    return router_.dispatch(request, target);
  }

  test::TemporaryFolder folder_;
  test::FakeClock clock_;
  control::DecisionOptions decisions_;
  Published<control::Known> known_;
  Published<core::PortraitBook> portraits_;
  Published<std::vector<IdleHolder>> idle_;
  test::FakeSource source_{test::a_cluster().build()};
  std::unique_ptr<store::Journal> journal_;
  std::unique_ptr<control::Queries> queries_;
  std::unique_ptr<control::Reports> reports_;
  Pages pages_{clock_};
  Router router_;
};

TEST_F(ReportRoutesTest, EveryOutputHasTheNumbers) {
  ended("lab", "train", 8);
  ended("ops", "serve", 2, false);
  const std::string json = get("/v1/reports").body;
  EXPECT_THAT(json, HasSubstr(R"("by":"namespace")"));
  EXPECT_THAT(json, HasSubstr(R"("group":"lab","title":"lab","runs":1,"succeeded":1,"gpuHours":8,)"
                              R"("askedGpuHours":16,"measuredGpuHours":8,"usedGpuHours":4,)"
                              R"("gpuUse":0.5,"idleGpuHours":4,"returnedGpuHours":8)"));
  EXPECT_THAT(json, HasSubstr(R"("group":"ops","title":"ops","runs":1,"succeeded":1,"gpuHours":2,)"
                              R"("askedGpuHours":4,"measuredGpuHours":0,"returnedGpuHours":2)"))
      << "nothing is said of what was not measured";
  const std::string table = get("/v1/reports?output=table").body;
  EXPECT_THAT(table, HasSubstr("2 runs held 10 GPU-hours; 80% of them measured: GPU use 50%"));
  EXPECT_THAT(get("/v1/reports?output=csv&by=gpu-type").body, HasSubstr("\nA100,"));
  const Response markdown = get("/v1/reports?output=md&by=family");
  EXPECT_THAT(markdown.content_type, HasSubstr("text/markdown"));
  EXPECT_THAT(markdown.body, HasSubstr("| lab/train (net:v1) |"));
}

TEST_F(ReportRoutesTest, ThePageNeedsNothingElseAndRunsNothing) {
  ended("lab", "<script>alert(1)</script>", 8);
  const Response page = get("/v1/reports?output=html&by=family");
  EXPECT_THAT(page.content_type, HasSubstr("text/html"));
  EXPECT_THAT(page.body, HasSubstr("<svg"));
  EXPECT_THAT(page.body, HasSubstr("&lt;script&gt;"));
  for (const char* outside : {"<script", "src=", "href=", "url(", "@import", "<link", "<img"})
    EXPECT_THAT(page.body, Not(HasSubstr(outside)));
  EXPECT_THAT(page.headers,
              testing::Contains(testing::Pair("Content-Security-Policy", HasSubstr("'none'"))));
}

TEST_F(ReportRoutesTest, WhoHoldsIdleGpusIsNamed) {
  idle_.set({{{"lab", "notebook"}, "Pod", 2, 5400}});
  EXPECT_THAT(get("/v1/reports").body,
              HasSubstr(R"("idleNow":[{"task":"lab/notebook","kind":"Pod","gpus":2,)"
                        R"("idleSeconds":5400,"idleGpuHours":3}])"));
  EXPECT_THAT(get("/v1/reports?output=table").body,
              HasSubstr("Idle now: lab/notebook (2 GPUs for 1h30m)"));
  EXPECT_THAT(get("/v1/reports?output=md").body,
              HasSubstr("| lab/notebook | Pod | 2 | 1h30m | 3.00 |"));
  EXPECT_THAT(get("/v1/reports?output=html").body, HasSubstr("<td>lab/notebook</td>"));
}

TEST_F(ReportRoutesTest, ANamespaceLimitsAllOfIt) {
  idle_.set({{{"secret", "notebook"}, "Pod", 2, 5400}});
  ended("lab", "train", 8);
  ended("secret", "train", 8);
  for (const char* output : {"json", "html", "md", "table", "csv"})
    EXPECT_THAT(get(format("/v1/reports?namespace=lab&output={}", output)).body,
                Not(HasSubstr("secret")))
        << output;
}

TEST_F(ReportRoutesTest, AComparisonIsAsLongBeforeAsAfter) {
  ended("lab", "train", 8);
  const std::string json = get("/v1/reports?compareSince=2h").body;
  EXPECT_THAT(json, HasSubstr(R"("period":"before","runs":0)"));
  EXPECT_THAT(json, HasSubstr(R"("period":"after","runs":1)"));
  EXPECT_THAT(json, HasSubstr(R"("from":")" + format_rfc3339(clock_.wall_s() - 4 * 3600)));
}

TEST_F(ReportRoutesTest, AWindowIsDaysHoursOrADate) {
  ended("lab", "train", 8);
  for (const char* since : {"7d", "0.5d", "24h", "2020-01-01", "2020-01-01T12:00:00Z"})
    EXPECT_THAT(get(format("/v1/reports?since={}", since)).body, HasSubstr(R"("group":"lab")"))
        << since;
  EXPECT_THAT(get("/v1/reports?since=0.01d").body, Not(HasSubstr(R"("group":"lab")")));
}

TEST_F(ReportRoutesTest, WhatHappenedStandsBesideWhatWasPlanned) {
  ended("lab", "train", 8);
  ended("ops", "serve", 2);
  const double ended_s = clock_.wall_s() - 3600;
  ASSERT_TRUE(journal_->shadowed(Uid("labtrain"), {ended_s - 8 * 3600 - 60, ended_s - 60, 1}));
  ASSERT_TRUE(journal_->flush(10));
  const std::string json = get("/v1/reports/shadow").body;
  EXPECT_THAT(json, HasSubstr(R"("namespace":"lab","runs":1,"compared":1,"days":1,)"
                              R"("waitSeconds":90,"shadowWaitSeconds":30,"waitSavedSeconds":60)"));
  EXPECT_THAT(json, HasSubstr(R"("namespace":"ops","runs":1,"compared":0,"days":0,"deadlines":0)"));
  const std::string table = get("/v1/reports/shadow?output=table&since=1d").body;
  EXPECT_THAT(table, HasSubstr("1 of 2 are compared"));
  EXPECT_THAT(table, HasSubstr("mean wait 1m30s, by the planner 30s; saved 1m00s"));
  EXPECT_EQ(get("/v1/reports/shadow?since=soon").status, 400);
}

TEST_F(ReportRoutesTest, AWrongQuestionNamesItsParameter) {
  for (const char* wrong : {"by=team", "since=soon", "since=d", "since=-1d",
                            "compareSince=2999-01-01", "output=pdf", "since=1h&compareSince=2h"}) {
    const Response answer = get(format("/v1/reports?{}", wrong));
    EXPECT_EQ(answer.status, 400) << wrong;
    const std::string name = std::string(wrong).substr(std::string(wrong).rfind('&') + 1);
    EXPECT_THAT(answer.body, HasSubstr(name.substr(0, name.find('='))));
  }
}

}  // namespace
}  // namespace slackline::http
