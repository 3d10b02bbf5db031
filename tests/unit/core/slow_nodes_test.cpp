// Which nodes are slow, and how a plan avoids them.
#include "slackline/core/cluster/slow_nodes.h"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/planning/free_gpus.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::job_uid;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr double kHour_s = 3600;

class SlowNodesTest : public testing::Test {
 protected:
  // A Job that ended at that time on these nodes, predicted to take an hour.
  Job& ended(const std::string& name, double at_s, double took_s,
             const std::vector<std::string>& nodes = {"n1"}) {
    Job job = test::a_job(name).gpus(8).finished().started(at_s - took_s).completed(at_s).build();
    auto plan = std::make_shared<PlanNote>(*test::a_plan("p", {1, 8}, nodes));
    plan->predicted_s = kHour_s;
    job.plan = plan;
    return jobs_.emplace_back(std::move(job));
  }

  std::unordered_set<NodeName> slow(const SpeedsByJob& running = {}) const {
    ClusterSnapshot snapshot;
    for (const Job& job : jobs_)
      snapshot.jobs.push_back(std::make_shared<const Job>(job));
    return slow_nodes(snapshot, running, kSlowAfter_s);
  }

  std::deque<Job> jobs_;
};

TEST_F(SlowNodesTest, ThreeSlowTasksInARowNameTheNode) {
  ended("a", 10000, 1.5 * kHour_s);
  ended("b", 20000, 1.5 * kHour_s);
  EXPECT_THAT(slow(), IsEmpty());
  ended("c", 30000, 1.5 * kHour_s, {"n1", "n2"});
  EXPECT_THAT(slow(), UnorderedElementsAre(NodeName("n1")));
}

TEST_F(SlowNodesTest, AFastRunEndsTheRow) {
  for (int i = 0; i < 3; ++i)
    ended("slow" + std::to_string(i), 10000 * (i + 1), 2 * kHour_s);
  ended("fast", 35000, kHour_s);
  EXPECT_THAT(slow(), IsEmpty());
}

TEST_F(SlowNodesTest, ShortAndFailedRunsAndUnknownLengthsSayNothing) {
  ended("a", 10000, 2 * kHour_s);
  ended("b", 20000, 2 * kHour_s);
  Job& brief = ended("brief", 30000, 500);
  auto plan = std::make_shared<PlanNote>(*brief.plan);
  plan->predicted_s = 100;
  brief.plan = plan;
  ended("failed", 31000, 2 * kHour_s).completed_s.reset();
  ended("unknown", 32000, 2 * kHour_s).plan = test::a_plan("p", {1, 8}, {"n1"});
  EXPECT_THAT(slow(), IsEmpty());
}

TEST_F(SlowNodesTest, RunningTasksSayWhatTheyReportAndMovedOnesWhatTheirNoteSays) {
  ended("a", 10000, 2 * kHour_s);
  Job& runs = ended("runs", 0, 0);
  runs.finished = false;
  Job moved = test::a_job("moved").gpus(8).waiting().build();
  PreemptionNote note;
  note.slow = PreemptionNote::SlowRun{{NodeName("n1")}, 15000};
  moved.preemptions = std::make_shared<const PreemptionNote>(note);
  jobs_.push_back(moved);
  EXPECT_THAT(slow(), IsEmpty());
  EXPECT_THAT(slow({{job_uid("runs"), {7200, 0.5, 20000}}}), ElementsAre(NodeName("n1")));
  EXPECT_THAT(slow({{job_uid("runs"), {3600, 1, 20000}}}), IsEmpty());
}

TEST_F(SlowNodesTest, ATaskThatIsSlowElsewhereTooSaysNothing) {
  ended("a", 10000, 2 * kHour_s);
  ended("b", 20000, 2 * kHour_s);
  Job& again = ended("again", 40000, 2 * kHour_s, {"n2"});
  PreemptionNote note;
  note.slow = PreemptionNote::SlowRun{{NodeName("n1")}, 30000};
  again.preemptions = std::make_shared<const PreemptionNote>(note);
  EXPECT_THAT(slow(), IsEmpty());
  again.completed_s = *again.started_s + kHour_s;
  EXPECT_THAT(slow(), ElementsAre(NodeName("n1"))) << "it was the node";
}

TEST(AvoidedNodes, AreTakenWhereThereIsNoChoice) {
  FreeGpus free(std::vector<std::vector<int>>{{4, 2, 4, 4}});
  NodeSet avoided(4);
  avoided.insert(0);
  avoided.insert(1);
  free.avoid({avoided});
  EXPECT_THAT(free.find(0, {1, 2}, nullptr), ElementsAre(2)) << "though node 1 fits best";
  EXPECT_THAT(free.find(0, {3, 2}, nullptr), ElementsAre(2, 3, 1));
  free.take(0, {2, 3}, 4);
  EXPECT_THAT(free.find(0, {1, 4}, nullptr), ElementsAre(0));
  EXPECT_THAT(free.find(0, {2, 4}, nullptr), IsEmpty());
}

}  // namespace
}  // namespace slackline::core
