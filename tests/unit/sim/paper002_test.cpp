#include <gtest/gtest.h>

#include "sim/presets/preset.h"
#include "slackline/base/text.h"
#include "support/read_text.h"
#include "support/source_path.h"

namespace slackline::sim {
namespace {

const Preset& paper002() {
  return *find_preset("paper002").value();
}

PresetRequest request_at(const char* rate, std::string_view policies) {
  PresetRequest request;
  request.seeds = {0, 1};
  request.policies = parse_preset_policies(paper002(), policies).value();
  request.values["rate"] = rate;
  const auto path = test::source_path("tests/contract/golden/simulator/profile_k80.json");
  request.files["profile"] = {path.string(), "", test::read_text(path)};
  return request;
}

// By policy, in the order of the report: q, jain, gpu_use, borrowed_gpu_hours, give_back_p90_s.
PresetReport play(const PresetRequest& request) {
  auto report = paper002().run(request);
  EXPECT_TRUE(report) << report.error().message;
  return report ? std::move(*report) : PresetReport{};
}

TEST(Paper002, ComparesSharesWithPartitionsAndWithNone) {
  const PresetReport report = play(request_at("60", ""));
  EXPECT_EQ(report.figures, (std::vector<std::string>{"q", "jain", "gpu_use", "borrowed_gpu_hours",
                                                      "give_back_p90_s"}));
  ASSERT_EQ(report.rows.size(), 3U);
  const auto& partition = report.rows[0].figures;
  const auto& fifo = report.rows[1].figures;
  const auto& shares = report.rows[2].figures;
  EXPECT_GT(shares[0], partition[0]) << "q of shares and fifo-partition";
  EXPECT_GT(shares[0], fifo[0]) << "q of shares and fifo";
  EXPECT_GE(shares[1], fifo[1]) << "jain";
  EXPECT_EQ(partition[3], 0) << "a partition has nothing of others";
  EXPECT_GT(shares[3], 0) << "borrowed";
  EXPECT_LT(shares[4], fifo[4]) << "owners wait for what they own";
  for (const auto& row : report.rows) {
    EXPECT_GT(row.figures[2], 0) << row.name;
    EXPECT_LT(row.figures[2], 100) << row.name;
  }
}

TEST(Paper002, FiguresOfAPolicyAreTheSameWhateverIsCompared) {
  const PresetReport both = play(request_at("4", "fifo,shares"));
  EXPECT_EQ(format_preset_json(play(request_at("4", "fifo,shares"))), format_preset_json(both))
      << "the same seeds, the same bytes";
  EXPECT_EQ(play(request_at("4", "shares")).rows[0].figures, both.rows[1].figures);
}

TEST(Paper002, ReadsShippedProfiles) {
  PresetRequest request = request_at("4", "fifo");
  const auto path = test::source_path("manifests/profiles/k80.json");
  request.files["profile"] = {path.string(), "", test::read_text(path)};
  EXPECT_GT(play(request).rows[0].figures[0], 0);
}

TEST(Paper002, SaysWhatItCannotRead) {
  PresetRequest request = request_at("4", "fifo");
  request.files["profile"] = {"p.json", "", "{"};
  EXPECT_TRUE(paper002().run(request).error().message.starts_with("p.json"));
  const auto path = test::source_path("manifests/profiles/t4.json");
  request.files["profile"] = {path.string(), "", test::read_text(path)};
  EXPECT_EQ(paper002().run(request).error().message,
            "the profiles have no type that can be predicted on K80");
}

}  // namespace
}  // namespace slackline::sim
