// What `slackline queue` shows.
#include "control/query/queue_query.h"

#include <gtest/gtest.h>

#include "control/plan/planner_loop.h"
#include "slackline/core/predictor.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;

TEST(QueueQuery, ShowsPlannedTasksThenWaitingOnesByPredictedStart) {
  test::FakeClock clock;
  auto soon = a_job("b-soon").gpus(4).waiting().created(clock.wall_s());
  soon.intent().expected_duration_s = 600;
  soon.intent().deadline_s = clock.wall_s() + 7200;
  auto late = a_job("a-late").gpus(4).waiting().created(clock.wall_s());
  late.intent().expected_duration_s = 600;
  late.intent().deadline_s = clock.wall_s() + 36000;
  auto other = a_job("other/huge").gpus(64).waiting().created(clock.wall_s());
  auto runs = a_job("z-runs").gpus(4).managed().planned({"n1"}).created(clock.wall_s() - 10);
  const test::FakeSource source(
      a_cluster().with(a_node("n1")).with(soon).with(late).with(other).with(runs).build());
  const KnownBoard board;
  Settings settings;
  settings.policy = *core::parse_policy("savable,headroom=0,calm=0");
  const SettingsBoard live(settings);
  QueueQuery query({default_gpu_catalog(), &live}, board, source, clock);
  const std::vector<QueueRow> rows = query.rows("");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].key.name, "z-runs");
  EXPECT_EQ(rows[0].position, 0);
  EXPECT_EQ(rows[0].shape, (Placement{1, 4}));
  EXPECT_EQ(rows[1].key.name, "b-soon");
  EXPECT_EQ(rows[1].position, 1);
  EXPECT_NEAR(*rows[1].slack_s, 6600, 1);
  EXPECT_EQ(rows[2].key.name, "a-late");
  EXPECT_LT(*rows[1].start_s, *rows[2].start_s);
  EXPECT_EQ(rows[3].key.name, "huge");
  EXPECT_EQ(rows[3].reason, "NoNodeFits");
  EXPECT_FALSE(rows[3].start_s);
  EXPECT_EQ(query.rows("other").size(), 1U);
}

}  // namespace
}  // namespace slackline::control
