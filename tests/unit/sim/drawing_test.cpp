// Drawings and tables of runs, on the smallest run that shows everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/comparison.h"
#include "sim/completion_svg.h"
#include "sim/timeline_svg.h"

namespace slackline::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// Two GPUs; a relaxed task on both, which an urgent one interrupts.
class Drawing : public ::testing::Test {
 protected:
  Drawing() {
    platform_.pools = {{GpuType("K<80"), "", 1, 2, 1.0}};
    platform_.checkpoint_s = 0;
    const auto task = [&](std::int64_t id, double submit_s, QosClass qos, double deadline_s) {
      const std::vector<core::Estimate> both_gpus = {{0, {1, 2}, 1.0, 3600, 30}};
      return prepare_task({id, submit_s, "lstm", 8, 1, qos, deadline_s, 2}, both_gpus, platform_);
    };
    tasks_ = core::TaskTable(
        {task(7, 0, QosClass::kNormal, 3000), task(8, 1200, QosClass::kUrgent, 1200)});
    policy_ = *core::parse_policy("savable-p");
    outcome_ = simulate(tasks_, platform_, policy_, {}, {.keep_events = true});
  }

  Platform platform_;
  core::TaskTable tasks_;
  core::Policy policy_;
  Outcome outcome_;
};

TEST_F(Drawing, TheTimelineHasABarPerGpuAndRunAndAMarkPerPreemption) {
  ASSERT_EQ(outcome_.preemptions, 1);
  const std::string svg = timeline_svg(tasks_, platform_, outcome_, "a & b");
  EXPECT_EQ(count(svg, "<title>task 7: lstm"), 4U);  // two runs on two GPUs
  EXPECT_EQ(count(svg, "<title>task 8: lstm"), 2U);
  EXPECT_EQ(count(svg, "class=\"x\""), 2U * (1 + 1));  // a cross is two lines; one is the legend's
  EXPECT_THAT(svg, HasSubstr("(preempted)"));
  EXPECT_THAT(svg, HasSubstr("url(#u)"));
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, Not(HasSubstr("K<80")));
  EXPECT_EQ(svg, timeline_svg(tasks_, platform_, outcome_, "a & b"));
}

TEST_F(Drawing, ACompletionCurveClimbsOncePerFinishedTask) {
  const std::string svg = completion_svg(tasks_, {{"one", outcome_}, {"two", outcome_}}, "CDF");
  EXPECT_EQ(count(svg, "V"), 2U * 2U);
  EXPECT_EQ(count(svg, "<title>one</title>"), 1U);
}

TEST_F(Drawing, TheTableTellsTheBoundForPeopleAndForPrograms) {
  const Report report = make_report(tasks_, platform_, policy_, outcome_);
  const Bounds bounds = bounds_of(bound_tasks(tasks_, platform_.pools, {}), platform_.gpus());
  EXPECT_THAT(format_comparison({{"savable-p", report}}, bounds), HasSubstr("bound: Q 0.0 %"));
  const std::string csv = format_comparison_csv({{"savable-p,margin=0.2", report}}, bounds);
  EXPECT_THAT(csv, HasSubstr("policy,q,q_prior,q_normal,makespan_h"));
  EXPECT_THAT(csv, HasSubstr("\n\"savable-p,margin=0.2\",0,"));
  EXPECT_THAT(csv, HasSubstr("\nbound,0,,,"));
}

TEST(AxisMarks, AreRoundAndNotTooMany) {
  EXPECT_THAT(axis_marks(3.5), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5));
  EXPECT_EQ(axis_marks(24).size(), 13U);
  EXPECT_EQ(axis_marks(24)[1], 2);
  EXPECT_LE(axis_marks(1e6).size(), 13U);
}

}  // namespace
}  // namespace slackline::sim
