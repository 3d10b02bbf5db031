// Advice from random portraits: it grows with usage, keeps within the request, and does not depend
// on the order in which runs came.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "slackline/core/portrait/advice.h"
#include "slackline/core/portrait/histogram.h"
#include "slackline/core/portrait/portrait.h"
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

}  // namespace
}  // namespace slackline::core
