// Nothing of ours holds anything back any more; what is somebody else's stays.
#include "slackline/core/let_go.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

TEST(LetGo, OpensOurJobsClearsNominationsThenLiftsOurGates) {
  const auto writes = let_go(a_cluster()
                                 .with(a_node("n1"))
                                 .with(a_job("ours").gpus(1).waiting())
                                 .with(a_job("theirs").gpus(1).suspended())
                                 .with(a_job("runs").gpus(1).managed().planned({"n1"}))
                                 .with(a_pod("gated").gpus(1).gated().managed())
                                 .with(a_pod("nominated").gpus(1).gated().managed().nominated("n1"))
                                 .with(a_pod("free").gpus(1).nominated("n1"))
                                 .build());
  ASSERT_EQ(writes.size(), 3U);
  EXPECT_EQ(writes[0].kind, OwnWriteKind::kOpenJob);
  EXPECT_EQ(writes[0].key.name, "ours");
  EXPECT_EQ(writes[1].kind, OwnWriteKind::kLiftGate);
  EXPECT_EQ(writes[1].key.name, "gated");
  EXPECT_EQ(writes[2].kind, OwnWriteKind::kClearNomination);
}

TEST(LetGo, LeavesAPodToWhoeverElseHoldsIt) {
  ClusterSnapshot snapshot = a_cluster().with(a_pod("both").gpus(1).gated().managed()).build();
  auto pod = std::make_shared<Pod>(*snapshot.unbound.front());
  pod->foreign_gate = true;
  snapshot.unbound.front() = pod;
  EXPECT_TRUE(let_go(snapshot).empty());
}

}  // namespace
}  // namespace slackline::core
