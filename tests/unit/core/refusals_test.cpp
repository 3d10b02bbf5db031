// What kube-scheduler refused to a task is told with its words, and until when.
#include "slackline/core/answers/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/duration.h"
#include "slackline/core/answers/changes.h"
#include "slackline/model/reason.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kEpoch_s = 1'000'000;
constexpr double kSteady_s = 500;
constexpr std::string_view kWords =
    "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. preemption: 0/2 "
    "nodes "
    "are available: 2 No preemption victims found for incoming pod.";

class RefusalsTest : public testing::Test {
 protected:
  RefusalsTest() {
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
    options_.now_wall_s = kEpoch_s;
    options_.now_steady_s = kSteady_s;
    options_.foresee = true;
    options_.refused = &refused_;
  }

  void refuse(const std::string& node, double for_s, std::string_view said = kWords) {
    refused_[test::job_uid("task")][NodeName(node)] = {kSteady_s + for_s, std::string(said)};
  }

  // The task is the only one of the queue.
  ExplainQuestion ask(test::ClusterBuilder& cluster, test::JobBuilder task) {
    task.created(kEpoch_s - 60).intent().expected_duration_s = 600;
    return ask(cluster.with(task));
  }
  ExplainQuestion ask(test::ClusterBuilder& cluster) {
    snapshot_ = cluster.build();
    queue_ = std::make_unique<Queue>(make_queue(snapshot_, options_, menus_));
    EXPECT_EQ(queue_->size(), 1U);
    ExplainQuestion question{
        .snapshot = snapshot_, .queue = *queue_, .task = 0, .catalog = catalog_, .now_s = kEpoch_s};
    question.now_steady_s = kSteady_s;
    question.refused = &refused_;
    return question;
  }

  std::optional<NodesLeft> lacking() { return lacking_nodes(snapshot_, *queue_, 0, &refused_); }

  const GpuCatalog catalog_ = default_gpu_catalog();
  RefusedNodes refused_;
  QueueOptions options_;
  TaskMenus menus_;
  ClusterSnapshot snapshot_;
  std::unique_ptr<Queue> queue_;
};

TEST_F(RefusalsTest, ATaskWhoseOnlyNodeIsRefusedWaitsForNothingElse) {
  refuse("n1", 300);
  auto cluster = a_cluster();
  const auto question = ask(cluster.with(a_node("n1")), a_job("task").gpus(4).waiting());
  const auto blockers = explain(question, "");
  ASSERT_EQ(blockers.size(), 1U) << "its GPUs are free";
  const Blocker& blocker = blockers.front();
  EXPECT_EQ(blocker.reason, reason::kNotBound);
  EXPECT_EQ(blocker.need, 1);
  EXPECT_EQ(blocker.have, 0);
  EXPECT_EQ(blocker.p50_s, kEpoch_s + 300);
  EXPECT_EQ(blocker.detail, "n1 (again " + format_rfc3339(kEpoch_s + 300) +
                                "): 0/2 nodes are available: 2 node(s) didn't match pod "
                                "anti-affinity rules.");
}

TEST_F(RefusalsTest, WhereNodesAreLeftTheRefusalIsToldAndLacksNothing) {
  refuse("n1", 300);
  auto cluster = a_cluster();
  const auto question =
      ask(cluster.with(a_node("n1")).with(a_node("n2")), a_job("task").gpus(4).waiting());
  EXPECT_FALSE(lacking());
  const auto blockers = explain(question, "");
  ASSERT_EQ(blockers.size(), 1U);
  EXPECT_EQ(blockers.front().reason, reason::kNotBound);
  EXPECT_FALSE(blockers.front().need);
  const NodeGroup refused = group_of(question, 0);
  EXPECT_EQ(refused.code, "RefusedByScheduler");
  EXPECT_EQ(refused.until_s, kEpoch_s + 300);
  EXPECT_THAT(refused.detail, AllOf(HasSubstr("anti-affinity"), Not(HasSubstr("preemption"))));
  EXPECT_EQ(group_of(question, 1).code, "Free");
  EXPECT_EQ(group_of(question, 1).detail, "");
}

TEST_F(RefusalsTest, AGangLacksTheNodesThatAreRefusedAndNoOthers) {
  refuse("n1", 300);
  refuse("n2", 200);
  const auto gang = a_job("task").of(2).gang().gpus(4).waiting();
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_node("n2")).with(a_node("n3"));
  const auto question = ask(cluster, gang);
  ASSERT_TRUE(lacking());
  EXPECT_EQ(lacking()->need, 2);
  EXPECT_EQ(lacking()->have, 1);
  EXPECT_EQ(blocking_refusals(question)->p50_s, kEpoch_s + 200) << "the first to be tried again";
  EXPECT_EQ(group_nodes(question).front().nodes, 2);
  EXPECT_EQ(group_nodes(question).front().until_s, kEpoch_s + 200);

  refused_.begin()->second.erase(NodeName("n2"));
  auto smaller = a_cluster();
  ask(smaller.with(a_node("n1")).with(a_node("n2").cordoned()), gang);
  EXPECT_FALSE(lacking()) << "without the refusal it would lack a node, too";
}

TEST_F(RefusalsTest, NodesOfTheSameWordsAreToldTogetherAndNotAllOfMany) {
  auto cluster = a_cluster();
  for (int node = 0; node < 8; ++node) {
    const std::string name = "n" + std::to_string(node);
    cluster.with(a_node(name));
    refuse(name, 300, node == 7 ? "other words" : kWords);
  }
  const auto question = ask(cluster, a_job("task").gpus(4).waiting());
  const std::string detail = blocking_refusals(question)->detail;
  EXPECT_THAT(detail, AllOf(HasSubstr("n4 (again"), Not(HasSubstr("n5 (again")),
                            HasSubstr(", 2 more: 0/2 nodes"), HasSubstr("): other words")));
}

TEST_F(RefusalsTest, NoOtherShapeOrDeadlineIsSaidToHelpThere) {
  const Policy policy = *parse_policy("savable-p,headroom=0,calm=0");
  auto task = a_job("task").gpus(4).waiting();
  task.intent().deadline_s = kEpoch_s + 300;
  refuse("n1", 300);
  auto cluster = a_cluster();
  const auto question = ask(cluster.with(a_node("n1")), task);
  const Changes changes = find_changes(question, options_, policy, menus_, {});
  EXPECT_GT(changes.tried, 0);
  for (const Change& change : changes.helpful)
    ADD_FAILURE() << change.what;
}

TEST_F(RefusalsTest, AGangOfAControllerIsToldOfItsOwn) {
  refused_[Uid("t5-uid")][NodeName("n1")] = {kSteady_s + 300, std::string(kWords)};
  const auto member = [](test::PodBuilder pod, const std::string& uid) {
    Pod made = pod.owned_by("PyTorchJob", "t5").gpus(4).managed().created(kEpoch_s - 60).build();
    made.owner_gang = std::make_shared<const OwnerGang>(
        OwnerGang{.kind = "PyTorchJob", .name = "t5", .uid = Uid(uid), .part = ""});
    return made;
  };
  auto waits = a_cluster().with(a_node("n1")).with(a_node("n2"));
  waits.add(member(test::a_pod("a").gated(), "t5-uid"));
  waits.add(member(test::a_pod("b").gated(), "t5-uid"));
  const auto question = ask(waits);
  ASSERT_TRUE(lacking());
  EXPECT_EQ(lacking()->need, 2);
  EXPECT_EQ(lacking()->have, 1);
  EXPECT_EQ(explain(question, "").front().reason, reason::kNotBound);
  EXPECT_EQ(group_of(question, 0).code, "RefusedByScheduler");
  EXPECT_EQ(group_of(question, 1).code, "Free");

  auto starts = a_cluster().with(a_node("n1")).with(a_node("n2"));
  starts.add(member(test::a_pod("a").planned({"n2"}).nominated("n2"), "t5-uid"));
  EXPECT_TRUE(blocking_refusals(ask(starts))) << "its only pod is a task by itself";

  auto other = a_cluster().with(a_node("n1")).with(a_node("n2"));
  other.add(member(test::a_pod("a").gated(), "another"));
  EXPECT_FALSE(blocking_refusals(ask(other)));
}

TEST_F(RefusalsTest, NothingIsToldOfOtherTasks) {
  refused_[test::job_uid("other")][NodeName("n1")] = {kSteady_s + 300, std::string(kWords)};
  auto cluster = a_cluster();
  const auto question = ask(cluster.with(a_node("n1")), a_job("task").gpus(4).waiting());
  EXPECT_FALSE(blocking_refusals(question));
  EXPECT_EQ(group_of(question, 0).code, "Free");
}

}  // namespace
}  // namespace slackline::core
