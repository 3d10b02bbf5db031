// The bound against brute force on tiny instances, and against what policies reach on random ones.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/bound.h"
#include "sim/engine.h"
#include "sim/generate.h"
#include "sim/report.h"
#include "support/profiles.h"

namespace slackline::sim {
namespace {

constexpr std::uint64_t kTiny = 500;
constexpr double kTolerance_s = 1e-3;

std::vector<BoundTask> tiny_instance(Random& random) {
  std::vector<BoundTask> tasks(1 + random.index(5));
  for (BoundTask& task : tasks) {
    task.submit_s = static_cast<double>(random.index(5)) * 50;
    task.deadline_s = task.submit_s + static_cast<double>(random.index(6)) * 40;
    const double work_s = random.uniform(20, 200);
    for (int gpus = 1; gpus <= 4; gpus *= 2)
      task.choices.push_back({5 + work_s / std::pow(gpus, random.uniform(0.3, 1.1)), gpus});
  }
  return tasks;
}

// Room around a window, straight from the definition.
double room_around(const std::vector<BoundTask>& tasks, const std::vector<double>& taken,
                   const BoundTask& window, int gpus) {
  double room = std::numeric_limits<double>::infinity();
  for (const BoundTask& first : tasks)
    for (const BoundTask& last : tasks) {
      if (first.submit_s > window.submit_s || last.deadline_s < window.deadline_s) continue;
      double left = gpus * (last.deadline_s + kTolerance_s - first.submit_s);
      for (std::size_t i = 0; i < tasks.size(); ++i)
        if (tasks[i].submit_s >= first.submit_s && tasks[i].deadline_s <= last.deadline_s)
          left -= taken[i];
      room = std::min(room, left);
    }
  return room;
}

// A linear objective over a polymatroid is largest at a vertex, and its vertices are what greedy
// gives in the orders of the tasks: all of them are tried.
double best_of_all_orders(const std::vector<BoundTask>& tasks, int gpus) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  double best = 0;
  do {
    std::vector<double> taken(tasks.size(), 0.0);
    double done = 0;
    for (const std::size_t i : order) {
      const double need = least_gpu_seconds(tasks[i].choices,
                                            tasks[i].deadline_s + kTolerance_s - tasks[i].submit_s);
      if (!std::isfinite(need)) continue;
      taken[i] = std::clamp(room_around(tasks, taken, tasks[i], gpus), 0.0, need);
      done += taken[i] / need;
    }
    best = std::max(best, done);
  } while (std::next_permutation(order.begin(), order.end()));
  return 100 * best / static_cast<double>(tasks.size());
}

TEST(BoundProperty, IsExactForTheRelaxation) {
  Random random(11);
  int contested = 0;
  for (std::uint64_t i = 0; i < kTiny; ++i) {
    const std::vector<BoundTask> tasks = tiny_instance(random);
    const int gpus = static_cast<int>(1 + random.index(3));
    const Bounds bounds = bounds_of(tasks, gpus);
    ASSERT_NEAR(bounds.q, best_of_all_orders(tasks, gpus), 1e-6) << "instance " << i;
    ASSERT_LE(bounds.q, bounds.feasible_alone + 1e-9);
    if (bounds.q < bounds.feasible_alone - 1) ++contested;
  }
  EXPECT_GT(contested, 50) << "the instances are too easy to say anything";
}

TEST(BoundProperty, NoPolicyBeatsIt) {
  const GpuType k80("K80");
  const WorkloadProfiles profiles({
      test::a_profile("alexnet", k80, {"S", {180, 2, -0.00213, 0.18, 1.8}}, 30),
      test::a_profile("lstm", k80, {"S", {80, 13.5, -0.107, 0.6, 1.35}}, 30),
  });
  const std::vector<DrawRange> ranges = default_draw_ranges(profiles, k80);
  Platform platform;
  platform.pools = {{k80, "", 2, 4, 1.0}};
  double closest = 100;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    GenerateOptions options;
    options.seed = seed;
    options.rate_per_h = 2.0 + 4.0 * static_cast<double>(seed);
    options.hours = 12;
    options.gpu_type = k80;
    const auto trace = generate_paper000(options, ranges, profiles);
    ASSERT_TRUE(trace) << trace.error().message;
    const auto tasks = prepare(*trace, profiles, platform);
    ASSERT_TRUE(tasks) << tasks.error().message;
    // Every other seed: policies plan by a model that errs.
    const Noise noise = draw_noise(*tasks, platform.pools, seed % 2 == 0 ? 0 : 0.5, seed);
    const Bounds bounds = bounds_of(bound_tasks(*tasks, platform.pools, noise), platform.gpus());
    for (const std::string& name : core::policy_names()) {
      const auto policy = core::parse_policy(name);
      ASSERT_TRUE(policy);
      const Report report =
          make_report(*tasks, platform, *policy, simulate(*tasks, platform, *policy, noise));
      EXPECT_LE(report.q, bounds.q + 1e-6) << name << ", seed " << seed;
      if (report.unserved == 0) {
        EXPECT_GE(report.makespan_h * 3600, bounds.makespan_s - 1e-3) << name << ", seed " << seed;
      }
      closest = std::min(closest, bounds.q - report.q);
    }
  }
  EXPECT_LT(closest, 1) << "the bound is never near: it says nothing";
}

}  // namespace
}  // namespace slackline::sim
