// What cannot be stopped for others, as `slackline queue` and `slackline nodes` show it, and as it
// is measured.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/query/node_views.h"
#include "control/query/queue_meters.h"
#include "control/query/queue_query.h"
#include "control/query/queue_reader.h"
#include "control/query/spared_nodes.h"
#include "control/query/written_book.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::HasSubstr;
using ::testing::Not;

class SparedTest : public test::PlanningFixture {
 protected:
  SparedTest() {
    planner_.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
    serve_by("default");
  }

  void serve_by(std::string_view policy) {
    Settings settings;
    settings.policy = *core::parse_policy(policy);
    settings_.set(settings);
  }

  // Jobs that have run for an hour and for half a minute, a pod that nobody would make again, one
  // that kube-scheduler placed, and a Job that waits.
  ClusterSnapshot cluster() const {
    const double now_s = clock_.wall_s();
    const auto job = [&](const std::string& name, const std::string& node, double for_s) {
      auto made = a_job(name).gpus(2).managed().planned({node}, "plan-" + name);
      made.intent().expected_duration_s = 36000;
      return made.created(now_s - for_s).started(now_s - for_s);
    };
    const auto its_pod = [&](const std::string& name, const std::string& node, double for_s) {
      return a_pod(name + "-0").of_job(name).gpus(2).on(node).started(now_s - for_s);
    };
    return a_cluster()
        .with(a_node("n1"))
        .with(a_node("n2"))
        .with(job("long", "n1", 3600))
        .with(its_pod("long", "n1", 3600))
        .with(job("new", "n1", 30))
        .with(its_pod("new", "n1", 30))
        .with(a_pod("alone")
                  .gpus(1)
                  .managed()
                  .planned({"n2"}, "plan-alone")
                  .on("n2")
                  .created(now_s - 3600))
        .with(a_pod("alien").gpus(3).on("n2"))
        .with(a_job("waits").gpus(4).waiting().created(now_s))
        .build();
  }

  std::vector<QueueRow> rows() {
    const test::FakeSource source(cluster());
    QueueQuery query(options_, known_, source, planner_, books_, clock_);
    return query.ask("").value().rows;
  }

  test::FakeClock clock_;
  Published<PlannerView> planner_;
  Published<WrittenBook> books_;
};

TEST_F(SparedTest, ARowSaysWhyItsRunIsNotStopped) {
  const auto spared = [&] {
    std::map<std::string, std::string> codes;
    for (const QueueRow& row : rows())
      codes[row.key.name] = row.spared;
    return codes;
  };
  EXPECT_EQ(spared(),
            (std::map<std::string, std::string>{
                {"long", ""}, {"new", "Protected"}, {"alone", "NotReplaced"}, {"waits", ""}}));
  serve_by("fifo");
  EXPECT_EQ(spared()["long"], "StopsNobody");
}

TEST_F(SparedTest, ANodeSaysItOfWhoHasItsGpus) {
  const ClusterSnapshot snapshot = cluster();
  const std::vector<std::string> schedulers;
  const NodeLister lister(snapshot, options_.catalog, schedulers, clock_.steady_s());
  std::vector<ListedNode> nodes = {lister.row(0), lister.row(1)};
  tell_spared(rows(), nodes);
  std::map<std::string, std::string> codes;
  for (const ListedNode& node : nodes)
    for (const GpuOccupantView& occupant : node.occupants)
      codes[occupant.pod] = occupant.spared;
  EXPECT_EQ(codes, (std::map<std::string, std::string>{{"default/long-0", ""},
                                                       {"default/new-0", "Protected"},
                                                       {"default/alone", "NotReplaced"},
                                                       {"default/alien", "Unplanned"}}));
}

TEST_F(SparedTest, TheirGpusAreCountedByReason) {
  obs::MetricsRegistry metrics;
  QueueMeters meters(metrics);
  EXPECT_THAT(metrics.expose(), HasSubstr("slackline_spared_gpus{reason=\"DisruptionBudget\"} 0"));
  meters.show(rows(), clock_.wall_s());
  EXPECT_THAT(metrics.expose(), HasSubstr("slackline_spared_gpus{reason=\"Protected\"} 2"));
  EXPECT_THAT(metrics.expose(), HasSubstr("slackline_spared_gpus{reason=\"NotReplaced\"} 1"));
  EXPECT_THAT(metrics.expose(), Not(HasSubstr("slackline_spared_gpus{reason=\"\"}")));
  clock_.advance(60);
  meters.show({}, clock_.wall_s());
  EXPECT_THAT(metrics.expose(), HasSubstr("slackline_spared_gpus{reason=\"Protected\"} 0"));
}

}  // namespace
}  // namespace slackline::control
