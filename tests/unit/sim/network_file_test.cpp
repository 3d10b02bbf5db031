// The file of a trained network: the same bytes each time, read back whole, refused if it is not
// what the preset needs.
#include "sim/presets/network_file.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "sim/presets/preset.h"

namespace slackline::sim {
namespace {

const TrainedNet& small_net() {
  static const TrainedNet trained = train_network({{3, 4}, 48, false, 600, 7});
  return trained;
}

std::string with(std::string_view part, std::string_view other) {
  std::string text = write_network(small_net());
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), other);
}

std::string problem_of(std::string_view text) {
  const auto read = read_network(text, "n.json");
  return read ? "" : read.error().message;
}

TEST(NetworkFile, TheSameTrainingWritesTheSameBytes) {
  const NetTraining training = small_net().training;
  EXPECT_EQ(write_network(train_network(training)), write_network(small_net()));
  NetTraining other = training;
  other.seed = 8;
  EXPECT_NE(train_network(other).net.weights(), small_net().net.weights());
}

TEST(NetworkFile, IsReadBackWhole) {
  const std::string text = write_network(small_net());
  const auto read = read_network(text, "n.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(write_network(*read), text);
  EXPECT_EQ(describe(read->training), "600 tasks of worlds 3-4 at 48 a minute");
  EXPECT_LT(text.size(), 100'000);
}

TEST(NetworkFile, OfAsFewTasksAsOneIsReadBack) {
  for (const int decisions : {1, 3, 7}) {
    const NetTraining training{{5'000'000'000}, 48, false, decisions, 5'000'000'000};
    const std::string text = write_network(train_network(training));
    const auto read = read_network(text, "n.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(write_network(*read), text);
  }
}

TEST(NetworkFile, SaysHowMuchBetterItKnowsNewTasks) {
  EXPECT_GT(small_net().error.before, 0.1);
  EXPECT_LT(small_net().error.after, small_net().error.before);
}

TEST(NetworkFile, OfAnotherShapeOrVersionIsRefused) {
  EXPECT_EQ(problem_of("{}"), "n.json: is no network of `slackline train`: it has no version");
  EXPECT_EQ(problem_of("[1]"), "n.json: is no network of `slackline train`: it has no version");
  EXPECT_EQ(problem_of(with("\"version\":1", "\"version\":2")),
            "n.json: has another version than 1; train it again");
  EXPECT_EQ(problem_of(with("paper001", "match")),
            "n.json: was trained for the preset \"match\", not paper001");
  EXPECT_EQ(problem_of(with("\"gpus\"", "\"cores\"")),
            "n.json: features must be those of paper001: on_gpu, gpu_is_p4, gpus, memory_gb, "
            "memory_short, busy_share, is_intrusion, is_synopsis, is_face");
  EXPECT_EQ(problem_of(with("[9,64,32,1]", "[9,64,64,1]")),
            "n.json: layers must be [9, 64, 32, 1]");
  EXPECT_EQ(problem_of(with("\"weights\":[", "\"weights\":[0,")),
            "n.json: weights must be 2753 numbers, as the layers need");
  const std::string whole = write_network(small_net());
  EXPECT_NE(problem_of(std::string_view(whole).substr(0, whole.size() / 2)), "");
}

TEST(NetworkFile, ANumberThatIsNoneIsRefused) {
  const std::string text = write_network(small_net());
  const std::size_t first = text.find("\"weights\":[") + std::string_view("\"weights\":[").size();
  const std::string weight = text.substr(first, text.find(',', first) - first);
  for (const char* bad : {"null", "\"1\"", "1e300", "[]"})
    EXPECT_EQ(problem_of(with("\"weights\":[" + weight, std::string("\"weights\":[") + bad)),
              "n.json: weights[0] must be a number between -1e+06 and 1e+06")
        << bad;
  EXPECT_NE(problem_of(with("\"deviation\":", "\"deviation\":-")), "");
  EXPECT_EQ(problem_of(with("\"decisions\":600", "\"decisions\":1")),
            "n.json: decisions must be a whole number between 2 and 1000000000");
  EXPECT_EQ(problem_of(with("\"rate\":48", "\"rate\":0")),
            "n.json: rate must be a number between 0.1 and 1000");
  EXPECT_NE(problem_of(with("\"3-4\"", "\"4-3\"")), "");
  EXPECT_NE(problem_of(with("\"seed\":7", "\"seed\":-7")), "");
}

PresetRequest request_with(std::string text, std::vector<std::string> policies) {
  PresetRequest request;
  request.seeds = {3};
  request.policies = std::move(policies);
  for (const PresetOption& option : find_preset("paper001").value()->options)
    request.values[std::string(option.name)] = option.value;
  request.values["jobs"] = "200";
  request.files["network"] = {"n.json", "", std::move(text)};
  return request;
}

TEST(NetworkFile, IsUsedInsteadOfTraining) {
  const Preset& preset = *find_preset("paper001").value();
  PresetRequest request = request_with(write_network(small_net()), {"learned"});
  const auto ends_with = [&](std::string_view end) {
    const auto report = preset.run(request);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->note.ends_with(end)) << report->note;
  };
  ends_with(" learned: trained on 600 tasks of worlds 3-4 at 48 a minute.");
  request.values["node-changes"] = "yes";
  ends_with(" learned: trained on 600 tasks of worlds 3-4 at 48 a minute, on all 11 nodes.");
}

TEST(NetworkFile, IsRefusedWhereNobodyUsesIt) {
  const Preset& preset = *find_preset("paper001").value();
  const auto unused = preset.run(request_with(write_network(small_net()), {"table"}));
  ASSERT_FALSE(unused);
  EXPECT_EQ(unused.error().message, "--network is for the policy learned, which is not compared");
  const auto damaged = preset.run(request_with("{", {"learned"}));
  ASSERT_FALSE(damaged);
  EXPECT_TRUE(damaged.error().message.starts_with("n.json: ")) << damaged.error().message;
}

}  // namespace
}  // namespace slackline::sim
