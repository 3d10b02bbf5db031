// How well throughput models predict real measurements that they have not seen: public ones, read
// from $SLACKLINE_SHARED/data (default ../shared/data). Errors are means over the models of a set.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/core/throughput/held_out.h"
#include "support/source_path.h"

namespace slackline::core {
namespace {

using Sets = std::map<std::string, std::vector<ThroughputSample>>;  // by model

std::filesystem::path data_folder() {
  return test::shared_path("data");
}

// Rows of a CSV file by column name.
std::vector<std::map<std::string, std::string>> read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::vector<std::string> header;
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(file, line)) {
    const auto cells = split(line, ',');
    if (header.empty()) {
      header.assign(cells.begin(), cells.end());
      continue;
    }
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(header.size(), cells.size()); ++i)
      row[header[i]] = cells[i];
  }
  return rows;
}

ThroughputSample sample_of(std::vector<int> gpus_per_node, double local_batch, double seconds) {
  ThroughputSample sample;
  sample.layout = Layout::of(std::move(gpus_per_node)).value();
  sample.batch = local_batch * sample.layout.spread().gpus;
  sample.throughput_samples_per_s = sample.batch / seconds;
  return sample;
}

// A digit for each node; GPUs dealt out evenly in the files that give counts only.
void read_pollux(const std::filesystem::path& folder, bool beyond_four_nodes,
                 std::vector<ThroughputSample>& out) {
  for (const auto& row : read_csv(folder / "placements.csv")) {
    std::vector<int> nodes;
    for (const char digit : row.at("placement"))
      nodes.push_back(digit - '0');
    out.push_back(sample_of(nodes, std::stod(row.at("local_bsz")), std::stod(row.at("step_time"))));
  }
  if (!beyond_four_nodes) return;
  for (const auto& row : read_csv(folder / "scalability.csv")) {
    const int gpus = std::stoi(row.at("num_replicas"));
    const int count = std::stoi(row.at("num_nodes"));
    std::vector<int> nodes(static_cast<std::size_t>(count), gpus / count);
    for (int i = 0; i < gpus % count; ++i)
      ++nodes[static_cast<std::size_t>(i)];
    out.push_back(sample_of(nodes, std::stod(row.at("local_bsz")), std::stod(row.at("step_time"))));
  }
}

Sets read_t4(bool beyond_four_nodes, bool symmetric_only) {
  Sets sets;
  for (const char* model : {"cifar10", "deepspeech2", "imagenet"}) {
    auto& samples = sets[model];
    read_pollux(data_folder() / "pollux-t4" / model, beyond_four_nodes, samples);
    if (symmetric_only)
      std::erase_if(samples, [](const ThroughputSample& s) { return !s.layout.symmetric(); });
  }
  return sets;
}

Sets read_a100() {
  constexpr int kGpusPerServer = 8;
  Sets sets;
  for (const char* model : {"bert", "deepspeech2", "gpt2", "inception3", "resnet50", "vgg16"})
    for (const auto& row : read_csv(data_folder() / "elasticflow-a100" / "throughputs_A100" /
                                    (std::string(model) + ".csv"))) {
      const double batch = std::stod(row.at("global_batch_size"));
      for (const auto& [column, rate] : row) {
        if (column == "global_batch_size" || rate.empty() || std::stod(rate) <= 0) continue;
        const int gpus = std::stoi(column);
        const int nodes = std::max(1, gpus / kGpusPerServer);
        if (gpus > batch) continue;
        sets[model].push_back(
            sample_of(std::vector<int>(static_cast<std::size_t>(nodes), gpus / nodes), batch / gpus,
                      1 / std::stod(rate)));
      }
    }
  return sets;
}

double mean_error(const Sets& sets, const std::string& kind, std::string_view how) {
  double sum = 0;
  for (const auto& [model, samples] : sets) {
    const auto report = evaluate(samples, {kind}, parse_hold_out(how).value());
    if (!report) {
      ADD_FAILURE() << model << ": " << report.error().message;
      return 100;
    }
    sum += report->error.mean;
  }
  return sum / static_cast<double>(sets.size());
}

class ThroughputAccuracy : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data_folder() / "pollux-t4"))
      GTEST_SKIP() << "SKIPPED: no measurements in " << data_folder() << "; set SLACKLINE_SHARED";
  }
};

TEST_F(ThroughputAccuracy, OfEqualPlacementsLeftOut) {
  const Sets t4 = read_t4(false, true);
  const double error = mean_error(t4, "H", "loo");
  EXPECT_LT(error, 9);
  for (const char* kind : {"S", "P2"})
    EXPECT_LT(error, mean_error(t4, kind, "loo")) << kind;
}

TEST_F(ThroughputAccuracy, OfEveryPlacementInEightFolds) {
  EXPECT_LT(mean_error(read_t4(true, false), "H", "kfold:8"), 8);
}

TEST_F(ThroughputAccuracy, FromAFewMeasurements) {
  EXPECT_LT(mean_error(read_t4(false, false), "auto", "few"), 14);
  EXPECT_LT(mean_error(read_t4(false, true), "auto", "few"), 14);
}

TEST_F(ThroughputAccuracy, OfOtherServersLeftOut) {
  EXPECT_LT(mean_error(read_a100(), "auto", "loo"), 9);
}

}  // namespace
}  // namespace slackline::core
