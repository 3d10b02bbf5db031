// Advice from random portraits: it grows with usage, keeps within the request, and does not depend
// on the order in which runs came.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "slackline/core/cluster/resizing.h"
#include "slackline/core/portrait/advice.h"
#include "slackline/core/portrait/histogram.h"
#include "slackline/core/portrait/learn.h"
#include "support/portrait_runs.h"

namespace slackline::core {
namespace {

constexpr int kFamilies = 2000;

class Families {
 public:
  explicit Families(unsigned seed) : random_(seed) {}

  double between(double low, double high) {
    return std::uniform_real_distribution(low, high)(random_);
  }
  int whole(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  bool chance(double p) { return between(0, 1) < p; }

  std::vector<PortraitRun> runs() {
    std::vector<PortraitRun> all;
    const int count = whole(1, 8);
    for (int i = 0; i < count; ++i)
      all.push_back(run(i));
    return all;
  }

  AdviceQuestion question(const std::vector<PortraitRun>& runs) {
    AdviceQuestion asked;
    asked.asked = {whole(1, 2), whole(1, 8)};
    asked.requests = {whole(0, 8000), std::nullopt, whole(0, 16) * 1'000'000'000LL};
    if (chance(0.7)) asked.requests.cpu_limit_milli = asked.requests.cpu_milli + whole(0, 8000);
    asked.gpu_type = runs.back().gpu_type;
    const bool modelled = chance(0.5);
    for (const Placement& shape : smaller_shapes(asked.asked))
      if (shape == asked.asked || chance(0.7))
        asked.shapes.push_back({shape, modelled && chance(0.9)
                                           ? std::optional(between(0.7, 1.3) * 9000 / shape.gpus())
                                           : std::nullopt});
    if (chance(0.5)) asked.time_left_s = between(500, 9000);
    asked.now_s = runs.back().finished_s + between(0, 1e6);
    return asked;
  }

  std::vector<PortraitRun> shuffled(std::vector<PortraitRun> runs) {
    std::shuffle(runs.begin(), runs.end(), random_);
    return runs;
  }

  // One measured number of one run becomes larger.
  void use_more(std::vector<PortraitRun>& runs) {
    UsageSample& usage =
        runs[static_cast<std::size_t>(whole(0, static_cast<int>(runs.size()) - 1))].usage;
    const double times = between(1, 1.5);
    switch (whole(0, 4)) {
      case 0:
        usage.gpu_share->mean = std::min(1.0, usage.gpu_share->mean * times);
        break;
      case 1:
        usage.gpu_memory_share->max = std::min(1.0, usage.gpu_memory_share->max * times);
        break;
      case 2:
        usage.cpu_cores->mean *= times;
        usage.cpu_cores->max = std::max(usage.cpu_cores->max, usage.cpu_cores->mean);
        break;
      case 3:
        usage.cpu_cores->max *= times;
        break;
      default:
        usage.memory_bytes->max *= times;
    }
  }

 private:
  PortraitRun run(int number) {
    const double cpu = between(0, 8);
    PortraitRun one = test::a_run(number, {.gpu = between(0, 1),
                                           .gpu_memory = between(0, 1),
                                           .cpu = cpu,
                                           .cpu_max = cpu * between(1, 2),
                                           .memory = between(1e8, 2e10)});
    one.asked = {1, whole(1, 8)};
    one.shape = {1, whole(1, one.asked.d_gpn)};
    one.run_s = chance(0.8) ? 3600 : 600;
    one.gpu_type = GpuType(chance(0.8) ? "A100" : "T4");
    if (chance(0.1)) one.outcome = RunOutcome::kOutOfMemory;
    one.requests.memory_bytes = whole(1, 16) * 1'000'000'000LL;
    return one;
  }

  std::mt19937 random_;
};

Portrait portrait_from(const std::vector<PortraitRun>& runs) {
  Portrait portrait;
  for (const PortraitRun& run : runs)
    add_run(portrait, run);
  return portrait;
}

std::int64_t amount_of(const std::optional<AmountAdvice>& advice) {
  return advice ? advice->advised : -1;
}

std::vector<std::int64_t> numbers(const Advice& advice) {
  return {advice.gpus ? advice.gpus->advised.gpus() : -1, amount_of(advice.cpu_request),
          amount_of(advice.cpu_limit), amount_of(advice.memory)};
}

TEST(PortraitProperty, AdviceGrowsWithUsage) {
  Families families(1);
  int grown = 0;
  for (int round = 0; round < kFamilies; ++round) {
    std::vector<PortraitRun> runs = families.runs();
    const AdviceQuestion question = families.question(runs);
    const auto before = numbers(advise(portrait_from(runs), question));
    families.use_more(runs);
    const auto after = numbers(advise(portrait_from(runs), question));
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_GE(after[i], before[i]) << "round " << round << ", number " << i;
      if (after[i] > before[i]) ++grown;
    }
  }
  EXPECT_GT(grown, kFamilies / 10);
}

TEST(PortraitProperty, GpusStayWithinTheRequestAndKeepWhatTheModelPromises) {
  Families families(2);
  int fewer = 0;
  for (int round = 0; round < kFamilies; ++round) {
    const std::vector<PortraitRun> runs = families.runs();
    const AdviceQuestion question = families.question(runs);
    const auto advice = advise(portrait_from(runs), question).gpus;
    if (!advice) continue;
    ASSERT_LE(advice->advised.gpus(), question.asked.gpus());
    ASSERT_GE(advice->advised.gpus(), advice->needed);
    if (advice->advised == question.asked) continue;
    ++fewer;
    ASSERT_GE(*advice->gpu_hours_returned, 0);
    if (advice->modelled && question.time_left_s) {
      ASSERT_TRUE(*advice->deadline_kept);
    }
  }
  EXPECT_GT(fewer, kFamilies / 10);
}

TEST(PortraitProperty, CpuAndMemoryAreRaisedOnlyWhereUseWasAboveTheRequest) {
  Families families(3);
  int raises = 0;
  for (int round = 0; round < kFamilies; ++round) {
    const std::vector<PortraitRun> runs = families.runs();
    const AdviceQuestion question = families.question(runs);
    const Portrait portrait = portrait_from(runs);
    const Advice advice = advise(portrait, question);
    if (advice.cpu_request && advice.cpu_request->advised > question.requests.cpu_milli) {
      ASSERT_GT(advice.cpu_request->used, static_cast<double>(question.requests.cpu_milli));
      ++raises;
    }
    if (const auto limit = question.requests.cpu_limit_milli;
        advice.cpu_limit && limit && advice.cpu_limit->advised > *limit) {
      ASSERT_GE(advice.cpu_limit->used, kAtLimit * static_cast<double>(*limit));
    }
    if (advice.cpu_request) {
      ASSERT_LE(advice.cpu_request->advised, advice.cpu_limit->advised);
    }
    const auto asked = static_cast<double>(question.requests.memory_bytes);
    if (advice.memory && static_cast<double>(advice.memory->advised) > asked) {
      const bool ran_short =
          std::any_of(portrait.shortages.begin(), portrait.shortages.end(),
                      [asked](const MemoryShortage& shortage) { return shortage.bytes >= asked; });
      ASSERT_TRUE(ran_short || advice.memory->used > asked);
      ++raises;
    }
  }
  EXPECT_GT(raises, kFamilies / 10);
}

TEST(PortraitProperty, TheOrderOfRunsChangesNothing) {
  Families families(4);
  for (int round = 0; round < kFamilies; ++round) {
    const std::vector<PortraitRun> runs = families.runs();
    const AdviceQuestion question = families.question(runs);
    const Portrait one = portrait_from(runs);
    const Portrait other = portrait_from(families.shuffled(runs));
    ASSERT_EQ(numbers(advise(one, question)), numbers(advise(other, question)));
    ASSERT_EQ(score_of(one), score_of(other));
    ASSERT_EQ(one.outcomes, other.outcomes);
  }
}

TEST(PortraitProperty, TheOrderOfWindowsChangesNoPercentile) {
  Families families(5);
  const HistogramScale scale = scale_of(UsageKind::kCpu);
  for (int round = 0; round < kFamilies / 10; ++round) {
    std::vector<std::pair<double, double>> samples;
    for (int i = 0; i < 200; ++i)
      samples.emplace_back(families.between(0, 50), families.between(0, 60 * kHalfLife_s));
    UsageHistogram one;
    for (const auto& [value, at_s] : samples)
      add_sample(one, scale, value, 60, at_s);
    std::sort(samples.begin(), samples.end());
    UsageHistogram other;
    for (const auto& [value, at_s] : samples)
      add_sample(other, scale, value, 60, at_s);
    for (const double p : {0.5, 0.9, 0.95})
      ASSERT_EQ(percentile(one, scale, p), percentile(other, scale, p));
  }
}

// What is written into a container: nothing that was not there, no request above its limit, and
// more than before only by advice that says so.
TEST(PortraitProperty, WrittenAmountsFollowTheAdvice) {
  Families families(7);
  int changed = 0;
  for (int i = 0; i < kFamilies; ++i) {
    const auto runs = families.runs();
    AdviceQuestion question = families.question(runs);
    const std::int64_t cpu = families.whole(1, 16) * 500;
    const std::int64_t memory = families.whole(1, 32);
    ContainerAmounts written;
    if (families.chance(0.8)) written.cpu_request = std::to_string(cpu) + "m";
    if (families.chance(0.6))
      written.cpu_limit = std::to_string(cpu + families.whole(0, 2) * 1000) + "m";
    if (families.chance(0.8)) written.memory_request = std::to_string(memory) + "Gi";
    if (families.chance(0.6))
      written.memory_limit = std::to_string(memory + families.whole(0, 2)) + "Gi";
    question.requests = {requested_cpu_milli(written), limited_cpu_milli(written),
                         requested_memory_bytes(written)};
    const Advice advice = advise(portrait_from(runs), question);
    const ContainerAmounts now = advised_amounts(written, advice);
    changed += same_amounts(now, written) ? 0 : 1;
    EXPECT_EQ(now.cpu_request.empty(), written.cpu_request.empty());
    EXPECT_EQ(now.cpu_limit.empty(), written.cpu_limit.empty());
    EXPECT_EQ(now.memory_request.empty(), written.memory_request.empty());
    EXPECT_EQ(now.memory_limit.empty(), written.memory_limit.empty());
    const auto limit = limited_cpu_milli(now);
    EXPECT_LE(requested_cpu_milli(now), limit.value_or(requested_cpu_milli(now)));
    ContainerAmounts of_limit;
    of_limit.memory_limit = now.memory_limit;
    if (!now.memory_limit.empty()) {
      EXPECT_LE(requested_memory_bytes(now), requested_memory_bytes(of_limit));
    }
    if (requested_memory_bytes(now) > requested_memory_bytes(written)) {
      EXPECT_TRUE(advice.memory && advice.memory->raise);
    }
    const bool more_cpu = requested_cpu_milli(now) > requested_cpu_milli(written);
    if (more_cpu) {
      EXPECT_TRUE(advice.cpu_request->raise || advice.cpu_limit->raise);
    }
  }
  EXPECT_GT(changed, kFamilies / 4);
}

// Whatever the order in which its runs become known, a family is frozen by the same one.
TEST(PortraitProperty, HowResizingWentDoesNotDependOnTheOrderOfRuns) {
  Families families(8);
  for (int i = 0; i < kFamilies / 4; ++i) {
    auto runs = families.runs();
    for (PortraitRun& run : runs)
      if (families.chance(0.6))
        run.resized = ResizedRun{.given = run.requests, .expected_s = families.between(500, 5000)};
    const ResizeRecord one = portrait_from(runs).resizing;
    const ResizeRecord other = portrait_from(families.shuffled(runs)).resizing;
    EXPECT_EQ(one.kept_s, other.kept_s);
    EXPECT_EQ(one.rolled_back.at_s, other.rolled_back.at_s);
    EXPECT_EQ(one.rolled_back.run, other.rolled_back.run);
    EXPECT_EQ(one.rolled_back.failure, other.rolled_back.failure);
  }
}

}  // namespace
}  // namespace slackline::core
