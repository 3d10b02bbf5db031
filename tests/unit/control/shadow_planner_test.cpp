// Shadow mode reports what the planner would have done.
#include "control/plan/shadow_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::HasSubstr;
using ::testing::Not;

class ShadowPlannerTest : public test::PlanningFixture {
 protected:
  ShadowPlannerTest() {
    store::JournalOptions options;
    options.path = folder_.path() + "/journal.db";
    journal_ = std::move(*store::Journal::open(options));
    log_ = std::make_unique<DecisionLog>(journal_.get(), metrics_);
    shadow_ = std::make_unique<ShadowPlanner>(options_, known_, source_, *log_, journal_.get(),
                                              metrics_, clock_);
  }

  test::JobBuilder job(const std::string& name, double deadline_in_s) const {
    auto job = a_job(name).gpus(4).created(began_s_);
    job.intent().expected_duration_s = 900;
    job.intent().deadline_s = began_s_ + deadline_in_s;
    return job;
  }
  static test::PodBuilder pod(const std::string& job) {
    return a_pod(job + "-0").of_job(job).gpus(4);
  }

  void look(const test::ClusterBuilder& cluster, double after_s) {
    ClusterSnapshot snapshot = cluster.build();
    snapshot.version = ++version_;
    clock_.advance(after_s);
    source_.show(std::move(snapshot));
    shadow_->look();
  }

  std::vector<DecisionRow> rows() {
    journal_->flush(5);
    return journal_->query({.verb = "plan"})->rows;
  }

  test::TemporaryFolder folder_;
  test::FakeClock clock_;
  const double began_s_ = clock_.wall_s();
  std::uint64_t version_ = 0;
  test::FakeSource source_{ClusterSnapshot{}};
  obs::MetricsRegistry metrics_;
  std::unique_ptr<store::Journal> journal_;
  std::unique_ptr<DecisionLog> log_;
  std::unique_ptr<ShadowPlanner> shadow_;
};

TEST_F(ShadowPlannerTest, JournalsWhatItWouldHaveReleasedAndCountsDeadlinesBesideTheRealOnes) {
  const auto nodes = [] { return a_cluster().with(a_node("n1").of("K80", 4)); };
  look(nodes(), 0);
  look(nodes()
           .with(job("easy", 90000))
           .with(pod("easy"))
           .with(job("tight", 1000))
           .with(pod("tight")),
       1);
  ASSERT_EQ(rows().size(), 1U);
  const DecisionRow row = rows().front();
  EXPECT_EQ(row.pod.name, "tight");
  EXPECT_EQ(row.result, "would start: 1x4 K80 on n1");
  EXPECT_EQ(row.policy, settings_.get()->policy.name + "-shadow");
  EXPECT_EQ(row.reasons.front().first, "StartsNow");
  EXPECT_FALSE(row.options_hash.empty());

  const auto easy_runs = [&] {
    return nodes().with(job("easy", 90000)).with(pod("easy").on("n1").started(began_s_ + 1));
  };
  look(easy_runs().with(job("tight", 1000)).with(pod("tight")), 1);
  const auto easy_over = [&] {
    return nodes().with(job("easy", 90000).finished().completed(began_s_ + 801));
  };
  look(easy_over().with(job("tight", 1000)).with(pod("tight").on("n1").started(began_s_ + 802)),
       801);
  look(easy_over().with(job("tight", 1000).finished().completed(began_s_ + 1702)), 900);
  const std::string metrics = metrics_.expose();
  const auto deadlines = [](const char* real, const char* result, int count) {
    return "slackline_shadow_deadlines_total{queue=\"default\",real=\"" + std::string(real) +
           "\",result=\"" + result + "\"} " + std::to_string(count);
  };
  EXPECT_THAT(metrics, HasSubstr(deadlines("missed", "met", 1))) << "tight";
  EXPECT_THAT(metrics, HasSubstr(deadlines("met", "met", 1))) << "easy";
  EXPECT_THAT(metrics, HasSubstr("slackline_shadow_starts_total 2"));
  EXPECT_EQ(rows().size(), 2U);
}

TEST_F(ShadowPlannerTest, ACacheThatMayNotBeBelievedIsNotLookedAt) {
  source_.be({.synced = true, .age_s = 100, .stale = true, .detail = "silent"});
  look(a_cluster().with(a_node("n1")).with(job("a", 9000)).with(pod("a")), 1);
  EXPECT_TRUE(rows().empty());
  EXPECT_THAT(metrics_.expose(), HasSubstr("slackline_shadow_waiting 0"));
  source_.be({.synced = true, .age_s = 0, .stale = false, .detail = ""});
  shadow_->look();
  EXPECT_EQ(rows().size(), 1U);
}

}  // namespace
}  // namespace slackline::control
