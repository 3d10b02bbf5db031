// Which tasks are expected to arrive again.
#include "slackline/core/cluster/arrivals.h"

#include <gtest/gtest.h>

#include "slackline/core/planning/mixed_pods.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;

constexpr double kLook_s = 1'000'000;

class ArrivalsTest : public testing::Test {
 protected:
  ArrivalsTest() {
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
  }

  static test::JobBuilder job(const std::string& name, double created_s) {
    auto job = a_job(name).gpus(4).waiting().created(created_s);
    job.intent().expected_duration_s = 3600;
    return job;
  }

  Queue queue(const test::ClusterBuilder& cluster, double now_s = kLook_s) {
    options_.now_wall_s = now_s;
    return make_queue(cluster.build(), options_, menus_);
  }

  static std::vector<Uid> names(const Queue& queue) {
    std::vector<Uid> names;
    for (TaskIndex task = 0; task < queue.size(); ++task)
      names.push_back(queue.task(task).uid);
    return names;
  }

  void note(const test::ClusterBuilder& cluster, double now_s = kLook_s) {
    const Queue seen = queue(cluster, now_s);
    arrivals_.note(seen, names(seen), now_s);
  }

  std::vector<std::string> listed() const {
    std::vector<std::string> names;
    for (const Arrival& arrival : arrivals_.list()->tasks)
      names.push_back(arrival.task.str());
    return names;
  }

  const GpuCatalog catalog_ = default_gpu_catalog();
  QueueOptions options_;
  TaskMenus menus_;
  Arrivals arrivals_;
};

TEST_F(ArrivalsTest, RemembersForADayWhoCameOnceEach) {
  note(a_cluster().with(a_node("n1")).with(job("a", kLook_s - 90000)).with(job("b", kLook_s - 10)));
  EXPECT_EQ(listed(), (std::vector<std::string>{"job:default/b"})) << "the other is too old";
  note(a_cluster().with(a_node("n1")).with(job("b", kLook_s - 10)).with(job("c", kLook_s)));
  note(a_cluster().with(a_node("n1")));
  EXPECT_EQ(listed(), (std::vector<std::string>{"job:default/b", "job:default/c"}))
      << "who has left will come again all the same";
  note(a_cluster().with(a_node("n1")), kLook_s + 86395);
  EXPECT_EQ(listed(), (std::vector<std::string>{"job:default/c"}));
}

TEST_F(ArrivalsTest, OfTooManyTheLatestCountWithTheirOwnWindow) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  const int all = static_cast<int>(kMostArrivals) + 100;
  for (int i = 0; i < all; ++i)
    cluster.with(job("job-" + std::to_string(i), kLook_s - 7.0 * (all - i)));
  note(cluster);
  EXPECT_EQ(arrivals_.list()->tasks.size(), kMostArrivals);
  EXPECT_NEAR(arrivals_.list()->window_s, 7.0 * kMostArrivals, 10);
  EXPECT_EQ(expected_of(*arrivals_.list(), menus_, queue(cluster)).tasks.size(), kMostArrivals);
  const auto before = arrivals_.list();
  note(cluster);
  EXPECT_EQ(arrivals_.list(), before) << "who was forgotten is not news";

  Arrivals flooded;
  auto flood = a_cluster();
  flood.with(a_node("n1"));
  for (int i = 0; i < all; ++i)
    flood.with(job("job-" + std::to_string(i), kLook_s - 0.5 * (all - i)));
  const Queue seen = queue(flood);
  flooded.note(seen, names(seen), kLook_s);
  EXPECT_TRUE(expected_of(*flooded.list(), menus_, seen).tasks.empty());
}

// What they make others lose is not charged to somebody who has nothing to do with it.
TEST_F(ArrivalsTest, EachIsExpectedAtTheCostOfItsOwnQueue) {
  note(a_cluster()
           .with(a_node("n1"))
           .with(job("team-b/came", kLook_s - 20))
           .with(job("team-c/came", kLook_s - 10)));
  const auto waiting = [&](const std::vector<std::string>& names) {
    auto cluster = a_cluster();
    cluster.with(a_node("n1"));
    for (const std::string& name : names)
      cluster.with(job(name, kLook_s));
    return queue(cluster);
  };
  const Queue now = waiting({"team-a/z", "team-b/a"});
  const Expected expected = expected_of(*arrivals_.list(), menus_, now);
  ASSERT_EQ(expected.tasks.size(), 2U);
  EXPECT_EQ(now.queue_names().at(expected.tasks[0].queue), "team-b");
  EXPECT_EQ(expected.tasks[1].queue, now.queue_names().size()) << "nobody of it is there now";
  EXPECT_EQ(waiting({"team-a/a", "team-b/z", "team-b/a"}).queue_names(), now.queue_names())
      << "more tasks of the same accounts are no other queues";
}

// What a forecast owes to them: the GPUs that come free will not be this task's alone.
TEST_F(ArrivalsTest, AForecastThatExpectsOthersIsLaterAndWider) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  for (int i = 0; i < 20; ++i) {
    auto promised = job("old-" + std::to_string(i), kLook_s - 80000 + 4000.0 * i);
    promised.intent().deadline_after_s = 4000;
    cluster.with(promised);
  }
  note(cluster);
  auto late = job("asked", kLook_s);  // best effort: whoever comes with a deadline goes first
  auto now = a_cluster();
  now.with(a_node("n1")).with(job("first", kLook_s - 10)).with(late);
  const Queue seen = queue(now);
  const Policy policy = *parse_policy("savable,headroom=0,calm=0");
  const ForecastBook alone(seen.state(), names(seen), kLook_s, policy);
  const ForecastBook among(seen.state(), names(seen), kLook_s, policy, {},
                           expected_of(*arrivals_.list(), menus_, seen));
  const Uid asked("job:default/asked");
  EXPECT_GT(among.find(asked)->start_s.p90(), alone.find(asked)->start_s.p90() + 600);
  EXPECT_GT(among.find(asked)->finish_s.p90() - among.find(asked)->finish_s.p10(),
            alone.find(asked)->finish_s.p90() - alone.find(asked)->finish_s.p10());
}

TEST_F(ArrivalsTest, PodsThatDifferAreExpectedToDiffer) {
  TaskIntent hour;
  hour.expected_duration_s = 3600;
  Arrival gang{.task = Uid("gang"),
               .created_s = kLook_s - 10,
               .deadline_s = {},
               .request = {},
               .intent = std::make_shared<const TaskIntent>(hour)};
  gang.request.resource = test::kGpu;
  gang.request.pods = 4;
  gang.request.gpus = 8;
  gang.request.of_each = {8, 2, 1, 1};
  const Queue now =
      queue(a_cluster().with(a_node("n1").of("A100", 8)).with(a_node("n2").of("A100", 8)));
  const Expected expected = expected_of({.tasks = {gang}, .window_s = 86400}, menus_, now);
  ASSERT_EQ(expected.tasks.size(), 1U);
  const PlanTask& task = expected.tasks[0];
  EXPECT_EQ(task.request_gpus, 12);
  ASSERT_NE(task.mixed, nullptr);
  ASSERT_EQ(task.mixed->groups.size(), 3U);
  EXPECT_EQ(task.mixed->groups[0].gpus, 8);
  EXPECT_EQ(task.mixed->groups[2].pods, 2) << "those of one GPU";
}

}  // namespace
}  // namespace slackline::core
