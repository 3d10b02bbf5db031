// What losses are worth for sharing units, against the goals: on drawn curves, and on those that
// others measured, read from $SLACKLINE_SHARED/data (default ../shared/data).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/presets/preset.h"
#include "support/source_path.h"

namespace slackline::sim {
namespace {

constexpr const char* kElasticSeeds = "0-4";  // goals are of means

PresetReport play_elastic(const char* restart, const char* curves,
                          const std::vector<PresetFile>& files = {}) {
  const Preset& preset = *find_preset("paper003").value();
  PresetRequest request;
  request.seeds = parse_seeds(kElasticSeeds).value();
  request.policies = {"loss-greedy", "trades"};
  for (const PresetOption& option : preset.options)
    request.values[std::string(option.name)] = option.value;
  request.values["restart"] = restart;
  request.values["curves"] = curves;
  request.folders["curve-files"] = files;
  return preset.run(request).value();
}

TEST(ElasticGoals, FreeRestartsOnDrawnCurves) {
  const auto greedy = play_elastic("0", "synthetic").rows[0].figures;
  EXPECT_LE(greedy[0], 0.80) << "to 90 %";
  EXPECT_LE(greedy[2], 1.2) << "completion";
}

TEST(ElasticGoals, RestartsOnDrawnCurves) {
  for (const char* restart : {"30", "60"}) {
    const auto trades = play_elastic(restart, "synthetic").rows[1].figures;
    EXPECT_LE(trades[0], 0.87) << "to 90 %, restart " << restart;
    EXPECT_LE(trades[2], 1.2) << "completion, restart " << restart;
  }
}

TEST(ElasticGoals, MeasuredCurves) {
  const std::filesystem::path folder = test::shared_path("data/pollux-t4");
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "SKIPPED: no measurements at " << folder << "; set SLACKLINE_SHARED";
  std::vector<PresetFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("validation-")) continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    files.push_back({entry.path(), "", text.str()});
  }
  std::sort(files.begin(), files.end(),
            [](const PresetFile& a, const PresetFile& b) { return a.path < b.path; });
  for (const char* restart : {"0", "30", "60"}) {
    const auto trades = play_elastic(restart, "real", files).rows[1].figures;
    EXPECT_LE(trades[0], 0.96) << "to 90 %, restart " << restart;
    EXPECT_LE(trades[2], 1.2) << "completion, restart " << restart;
  }
}

}  // namespace
}  // namespace slackline::sim
