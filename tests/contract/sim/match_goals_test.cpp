// What matching tasks to GPU types is worth: on public speeds, read from $SLACKLINE_SHARED/data
// (default ../shared/data). The bands are a little wider than what docs/study/matching.md has,
// since fewer seeds are taken here.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/presets/preset.h"
#include "support/source_path.h"

namespace slackline::sim {
namespace {

class MatchGoals : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path path =
        test::shared_path("data/gavel/single_job_throughputs_k80_p100.json");
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << "SKIPPED: no measurements at " << path << "; set SLACKLINE_SHARED";
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    file_ = {path, "", text.str()};
  }

  // jct_ratio, makespan_ratio, longest_wait_ratio, q of `match`.
  std::vector<double> match_at(const char* load, const char* known) {
    const Preset& preset = *find_preset("match").value();
    PresetRequest request;
    request.seeds = parse_seeds("0-3").value();
    request.policies = {"match"};
    for (const PresetOption& option : preset.options)
      request.values[std::string(option.name)] = option.value;
    request.values["load"] = load;
    request.values["known"] = known;
    request.files["speeds"] = file_;
    return preset.run(request).value().rows.front().figures;
  }

  PresetFile file_;
};

TEST_F(MatchGoals, TasksEndEarlierTheMoreThereIsToDo) {
  EXPECT_LE(match_at("0.9", "1")[0], 0.97);
  EXPECT_LE(match_at("1.4", "1")[0], 0.65);
  const auto busy = match_at("1.1", "1");
  EXPECT_LE(busy[0], 0.72);
  EXPECT_LE(busy[2], 1) << "nobody waits longer for it";
}

TEST_F(MatchGoals, HalfOfTheSpeedsAreEnoughToBegin) {
  EXPECT_LE(match_at("1.1", "0.5")[0], 0.8);
}

}  // namespace
}  // namespace slackline::sim
