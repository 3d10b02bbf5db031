// The runs of the reference simulation, reproduced: event logs to the byte, counts exactly, other
// figures to 1e-6. And what generated runs must show.
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/draw_ranges.h"
#include "sim/engine.h"
#include "sim/generate.h"
#include "sim/report.h"
#include "sim/trace_csv.h"
#include "support/read_text.h"
#include "support/source_path.h"
#include "wire/samples/profile_codec.h"

namespace slackline::sim {
namespace {

using test::read_text;

std::filesystem::path golden_path(const std::string& file) {
  return test::source_path("tests/contract/golden/simulator") / file;
}

struct Golden {
  std::string trace;  // file, without ".csv"
  std::string noise;  // file, without ".csv"; empty: the exact model
  std::string policy;
  std::string platform = "4x4:k80";

  // "r20s3_noise_savable-p_m"
  std::string name() const {
    std::string name = (noise.empty() ? trace : noise) + "_" + policy;
    for (char& c : name)
      if (c == '+' || c == '/') c = '_';
    return name;
  }
};

std::vector<Golden> every_golden() {
  std::vector<Golden> all;
  for (const char* policy : {"fifo", "qos", "tetris+cer", "savable-p"})
    all.push_back({"tiny", "", policy, "1x4:k80"});
  for (const char* trace : {"r10s1", "r20s3"})
    for (const char* policy :
         {"fifo", "min-min", "min-min/shrink", "weighted-fair", "capacity", "tetris+perf",
          "tetris+cer", "tetris+cer/fifo", "qos", "qos/skip", "qos/yield", "savable", "savable-p"})
      all.push_back({trace, "", policy});
  all.push_back({"r20s3", "r20s3_noise", "savable-p/m"});
  return all;
}

class GoldenRun : public testing::TestWithParam<Golden> {};

struct Played {
  core::TaskTable tasks;
  Platform platform;
  core::Policy policy;
  Outcome outcome;
};

void play(const Golden& golden, Played& played) {
  auto pools = parse_platform(golden.platform);
  ASSERT_TRUE(pools);
  played.platform.pools = *pools;
  const auto entries =
      wire::read_profile(read_text(golden_path("profile_k80.json")), "k80", GpuType("k80"));
  ASSERT_TRUE(entries) << entries.error().message;
  const auto trace = parse_trace_csv(read_text(golden_path(golden.trace + ".csv")));
  ASSERT_TRUE(trace) << trace.error().message;
  auto tasks = prepare(*trace, WorkloadProfiles(*entries), played.platform);
  ASSERT_TRUE(tasks) << tasks.error().message;
  played.tasks = std::move(*tasks);
  Noise noise;
  if (!golden.noise.empty()) {
    auto read = parse_noise_csv(read_text(golden_path(golden.noise + ".csv")));
    ASSERT_TRUE(read) << read.error().message;
    noise = *read;
  }
  const auto policy = core::parse_policy(golden.policy);
  ASSERT_TRUE(policy) << policy.error().message;
  played.policy = *policy;
  played.outcome =
      simulate(played.tasks, played.platform, played.policy, noise, {.keep_events = true});
}

void same_figures(const nlohmann::json& wanted, const nlohmann::json& got) {
  const std::set<std::string> exact = {"policy",      "tasks",   "q",
                                       "q_no_urgent", "q_prior", "q_normal",
                                       "preemptions", "resizes", "events"};
  EXPECT_EQ(wanted.size(), got.size());
  for (const auto& [field, value] : wanted.items()) {
    ASSERT_TRUE(got.contains(field)) << field;
    if (exact.contains(field)) {
      EXPECT_EQ(value, got[field]) << field;
    } else {
      EXPECT_NEAR(value.get<double>(), got[field].get<double>(),
                  1e-6 * std::abs(value.get<double>()))
          << field;
    }
  }
}

TEST_P(GoldenRun, IsReproduced) {
  const std::string name = GetParam().name();
  Played played;
  ASSERT_NO_FATAL_FAILURE(play(GetParam(), played));
  const Report report = make_report(played.tasks, played.platform, played.policy, played.outcome);
  same_figures(nlohmann::json::parse(read_text(golden_path(name + ".json"))),
               nlohmann::json::parse(format_report_json(report)));
  const auto events = golden_path(name + "_events.csv");
  if (std::filesystem::exists(events)) {
    EXPECT_EQ(read_text(events), format_events_csv(played.tasks, played.platform, played.outcome));
  }
}

std::string test_name(const testing::TestParamInfo<Golden>& info) {
  std::string name = info.param.name();
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Runs, GoldenRun, testing::ValuesIn(every_golden()), test_name);

// Every report that is there is in the list above.
TEST(GoldenRuns, NoneIsForgotten) {
  std::set<std::string> names;
  for (const Golden& golden : every_golden())
    names.insert(golden.name() + ".json");
  names.insert("profile_k80.json");
  for (const auto& file : std::filesystem::directory_iterator(golden_path(""))) {
    if (file.path().extension() != ".json") continue;
    EXPECT_TRUE(names.contains(file.path().filename())) << file.path();
  }
}

// Q of tasks that need a whole node each.
double q_on_whole_nodes(const char* platform, double rate_per_h, std::uint64_t seed,
                        const char* name) {
  const std::string text = read_text(golden_path("profile_k80.json"));
  const WorkloadProfiles profiles(*wire::read_profile(text, "k80", GpuType("K80")));
  Platform whole;
  whole.pools = *parse_platform(platform);
  whole.fixed = true;
  GenerateOptions options;
  options.rate_per_h = rate_per_h;
  options.seed = seed;
  options.requests = {8};
  options.gpu_type = whole.pools.front().type;
  const auto trace = generate_paper000(options, *read_draw_ranges(text, "k80"), profiles);
  const auto tasks = prepare(*trace, profiles, whole);
  const auto policy = core::parse_policy(name);
  return make_report(*tasks, whole, *policy, simulate(*tasks, whole, *policy, {})).q;
}

// GPUs that are kept free for tasks that may still come are no whole node.
TEST(GeneratedRuns, OnWholeNodesSavableDoesNotLoseToFifo) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_GE(q_on_whole_nodes("1x8:K80", 2, seed, "savable"),
              q_on_whole_nodes("1x8:K80", 2, seed, "fifo"))
        << "1x8, seed " << seed;
    EXPECT_GE(q_on_whole_nodes("2x8:K80", 4, seed, "savable"),
              q_on_whole_nodes("2x8:K80", 4, seed, "fifo"))
        << "2x8, seed " << seed;
  }
}

}  // namespace
}  // namespace slackline::sim
