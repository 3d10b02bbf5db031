// The thread of the planner: it takes a turn when it is woken, and ends when it is stopped.
#include "control/plan/planner_loop.h"

#include <future>

#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/eventually.h"
#include "support/planner_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::eventually;

class PlannerLoopTest : public test::PlannerFixture {
 protected:
  PlannerLoopTest() {
    source_.show(a_cluster().with(a_node("n1")).with(a_job("a").gpus(4).waiting()).build());
  }
};

TEST_F(PlannerLoopTest, TakesATurnOnceItIsWoken) {
  term_ = 1;
  PlannerLoop loop(planner_, clock_);
  loop.wake();
  loop.start();
  EXPECT_TRUE(eventually([this] { return actuator_.send_next(); }));
}

// A server that does not answer holds the turn up; what comes meanwhile is not lost.
TEST_F(PlannerLoopTest, AStopEndsTheTurnInProgressBeforeItWrites) {
  std::promise<void> began;
  std::promise<void> go_on;
  PlannerOptions options = options_;
  options.server_minor = [&]() -> std::optional<int> {
    began.set_value();
    go_on.get_future().wait();
    return kTemplatesAreOpenSince;
  };
  term_ = 1;
  Planner planner(options, known_, source_, actuator_, [this] { return term_; }, metrics_, clock_);
  PlannerLoop loop(planner, clock_);
  loop.start();
  began.get_future().wait();
  loop.stop();
  go_on.set_value();
  loop.join();
  EXPECT_FALSE(actuator_.send_next());
}

}  // namespace
}  // namespace slackline::control
