// For which GPU types `expected-duration` holds, and what is said of the others.
#include "slackline/core/planning/stated_duration.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/core/cluster/annotation_hints.h"
#include "slackline/core/cluster/placement_table.h"
#include "slackline/core/cluster/task_catalog.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kStated_s = 7200;

// "A100 7200", "T4 unknown": by pool of the queue.
class StatedDurationTest : public testing::Test {
 protected:
  static test::JobBuilder stated(const std::vector<const char*>& types, const char* on = "") {
    auto job = a_job("train").gpus(2).waiting();
    job.intent().expected_duration_s = kStated_s;
    for (const char* type : types)
      job.intent().gpu_types.emplace_back(type);
    if (*on != 0) job.intent().expected_duration_on = GpuType(on);
    return job;
  }

  static ClusterSnapshot snapshot(const Job& job) {
    return a_cluster()
        .with(a_node("a1").of("A100", 4))
        .with(a_node("t1").of("T4", 4))
        .add(job)
        .build();
  }
  static ClusterSnapshot snapshot(const test::JobBuilder& job) { return snapshot(job.build()); }

  std::vector<std::string> times(const test::JobBuilder& job) { return times(job.build()); }
  std::vector<std::string> times(const Job& job) {
    const Queue queue = make_queue(snapshot(job), planner_.options(0), menus_);
    std::vector<std::string> told{std::string(to_string(queue.task(0).length))};
    for (const Choice& choice : queue.state().tasks()[0].menu->all)
      told.push_back(format("{} {}", queue.pools()[choice.pool].pool.type.str(),
                            queue.task(0).length_known_in(choice)
                                ? format("{:.0f}", choice.lat_s)
                                : format("unknown, {:.0f}", choice.lat_s)));
    return told;
  }

  test::WorldPlanner planner_{3};
  TaskMenus menus_;
};

TEST_F(StatedDurationTest, HoldsForTheTypeThatIsNamed) {
  EXPECT_THAT(times(stated({"A100"})), ElementsAre("expected-duration", "A100 7200"));
  EXPECT_THAT(times(stated({"A100", "T4"}, "A100")),
              ElementsAre("expected-duration", "A100 7200", "T4 unknown, 21600"));
  EXPECT_THAT(times(stated({}, "t4")),
              ElementsAre("expected-duration", "A100 unknown, 21600", "T4 7200"));
  EXPECT_THAT(times(stated({"T4"}, "A100")), ElementsAre("", "T4 unknown, 21600"))
      << "measured elsewhere: its run time is not known";
}

TEST_F(StatedDurationTest, WithoutANamedTypeWholeGpusAreEqualAndTheAnswerSaysSo) {
  for (const auto& types : {std::vector<const char*>{}, {"A100", "T4"}})
    EXPECT_THAT(times(stated(types)),
                ElementsAre("expected-duration-for-all-types", "A100 7200", "T4 7200"));
  auto any = stated({});
  any.intent().any_gpu_type = true;
  EXPECT_EQ(times(any).front(), "expected-duration-for-all-types");
}

// activeDeadlineSeconds, or Kueue's label: the lesser one.
TEST_F(StatedDurationTest, WhereNothingElseIsKnownARunEndsWhenKubernetesEndsIt) {
  Job limited = a_job("train").gpus(2).waiting().build();
  limited.active_deadline_s = 900;
  EXPECT_THAT(times(limited), ElementsAre("at-most", "A100 900", "T4 900"));
  limited.kueue_limit_s = 600;
  EXPECT_THAT(times(limited), ElementsAre("at-most", "A100 600", "T4 600"));
  Job said = stated({"A100"}).build();
  said.active_deadline_s = 900;
  EXPECT_THAT(times(said), ElementsAre("expected-duration", "A100 7200"));
}

TEST_F(StatedDurationTest, AnUpperBoundNeverSaysThatATaskIsLate) {
  auto due = a_job("train").gpus(2).waiting();
  due.intent().deadline_s = 100;
  Job limited = due.build();
  limited.active_deadline_s = 900;
  EXPECT_EQ(times(limited).front(), "");
}

TEST_F(StatedDurationTest, TheEndOfSomebodyElsesRunIsAtMostItsLimit) {
  Job theirs = a_job("theirs").gpus(4).build();
  theirs.active_deadline_s = 600;
  auto options = planner_.options(100);
  options.foresee = true;
  const auto end_of = [&](const Job& job) {
    const auto cluster = a_cluster()
                             .with(a_node("a1").of("A100", 4))
                             .add(job)
                             .with(a_pod("theirs-0").of_job("theirs").gpus(4).on("a1").started(0))
                             .with(stated({}));
    const Queue queue = make_queue(cluster.build(), options, menus_);
    return queue.state().tasks().size() == 2 ? queue.state().predicted_end_s(1, 100) : -1;
  };
  EXPECT_EQ(end_of(theirs), 600);
  theirs.active_deadline_s.reset();
  EXPECT_EQ(end_of(theirs), kUnknownRun_s);
}

// Two Jobs of one request, of which one names a class.
TEST_F(StatedDurationTest, GivesADeadlineToTheClassThatIsNamed) {
  auto named = a_job("named").gpus(2).waiting();
  named.intent().expected_duration_s = kStated_s;
  named.intent().qos_class = QosClass::kNormal;
  const auto cluster =
      a_cluster().with(a_node("a1").of("A100", 4)).with(stated({})).add(named.build()).build();
  const Queue queue = make_queue(cluster, planner_.options(0), menus_);
  std::vector<std::string> due;
  for (const TaskIndex at : {0U, 1U}) {
    const QueueTask& task = queue.task(at);
    due.push_back(task.key.name + (task.deadline_s ? format(" {:.0f}", *task.deadline_s) : ""));
  }
  EXPECT_THAT(due, testing::UnorderedElementsAre("named 14400", "train"));
}

TEST_F(StatedDurationTest, OneTypeInTheClusterIsTheOne) {
  const Queue queue =
      make_queue(a_cluster().with(a_node("a1").of("A100", 4)).with(stated({})).build(),
                 planner_.options(0), menus_);
  EXPECT_EQ(queue.task(0).length, LengthSource::kStated);
}

// A model without the number of iterations says nothing of the length, but how types compare.
TEST_F(StatedDurationTest, IsScaledByTheModelOnOtherTypes) {
  std::vector<ProfileEntry> entries;
  for (const auto& [type, speed] : {std::pair{"A100", 40.0}, std::pair{"T4", 10.0}})
    entries.push_back({"bert", GpuType(type), {"S", {speed, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""});
  planner_.know(WorkloadProfiles(entries));
  auto job = stated({}, "A100");
  job.intent().model = "bert";
  job.intent().batch_size = 64;
  const std::vector<std::string> told = times(job);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0], "expected-duration");
  EXPECT_EQ(told[1], "A100 7200");
  EXPECT_THAT(told[2], testing::MatchesRegex("T4 [0-9]+"));
  EXPECT_GT(std::stod(told[2].substr(3)), 1.5 * kStated_s);
}

TEST_F(StatedDurationTest, PlacementsSayForWhichTypeItIs) {
  const ClusterSnapshot cluster = snapshot(stated({"A100", "T4"}, "A100"));
  PlacementOptions options{planner_.options(0)};
  const auto task = TaskCatalog(cluster).find({"default", "train"});
  ASSERT_TRUE(task);
  std::vector<std::string> sources;
  for (const PlacementRow& row : placement_table(cluster, *task, options).rows)
    if (row.written) {
      EXPECT_EQ(row.lat_s.has_value(), row.gpu_type.str() == "A100");
      sources.push_back(row.gpu_type.str() + " " + row.model_source);
    }
  EXPECT_THAT(sources, testing::UnorderedElementsAre("A100 expected-duration",
                                                     "T4 none: expected-duration is for A100"));
}

TEST_F(StatedDurationTest, ATypeThatNoNodeHasIsWarnedOf) {
  const auto hints = [&](const test::JobBuilder& job) {
    const ClusterSnapshot cluster = snapshot(job);
    return annotation_hints(cluster, *TaskCatalog(cluster).find({"default", "train"}),
                            default_gpu_catalog(), Predictor(WorkloadProfiles{}));
  };
  EXPECT_THAT(
      hints(stated({"A10O"})),
      ElementsAre("slackline.dev/gpu-types: no node has a GPU of the type \"A10O\" (did you "
                  "mean A100?); nodes have: A100, T4"));
  EXPECT_THAT(hints(stated({}, "A10O")),
              ElementsAre(HasSubstr("slackline.dev/expected-duration-on: no node has a GPU of the "
                                    "type \"A10O\" (did you mean A100?)")));
  EXPECT_THAT(hints(stated({"V100"})), ElementsAre(HasSubstr("\"V100\"; nodes have: A100, T4")));
  EXPECT_TRUE(hints(stated({"a100"}, "NVIDIA-A100-SXM4-80GB")).empty());
  auto nothing = stated({}, "A100");
  nothing.intent().expected_duration_s.reset();
  EXPECT_THAT(hints(nothing), ElementsAre(HasSubstr("without slackline.dev/expected-duration")));
}

}  // namespace
}  // namespace slackline::core
