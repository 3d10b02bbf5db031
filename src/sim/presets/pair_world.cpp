#include "sim/presets/pair_world.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "sim/presets/preset.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "slackline/core/learning/mlp.h"
#include "wire/format/json_view.h"
#include "wire/samples/pair_codec.h"

namespace slackline::sim {
namespace {

// The file has types, but the one that is meant is not among them, or not told.
bool lacks_type(std::string_view text, std::string_view gpu_type) {
  wire::JsonDocument document;
  const auto root = document.parse(text);
  if (!root) return false;
  std::size_t types = 0;
  std::size_t meant = 0;
  for (const wire::JsonField& field : root->fields()) {
    ++types;
    if (gpu_type.empty() || to_lower(field.key) == to_lower(gpu_type)) ++meant;
  }
  return types > 0 && (gpu_type.empty() ? meant > 1 : meant == 0);
}

}  // namespace

Result<PairMeasurements> read_pair_file(std::string_view text, std::string_view path,
                                        std::string_view gpu_type) {
  auto measured = wire::read_pairs(text, path, gpu_type);
  if (measured) return measured;
  Error error = in_file(measured.error());
  if (lacks_type(text, gpu_type)) error.code = ErrorCode::kInvalidArgument;
  return fail(std::move(error));
}

PairWorld::PairWorld(const PairMeasurements& measured) : gpu_type_(measured.gpu_type) {
  std::map<std::string_view, std::vector<int>> families;
  for (std::size_t i = 0; i < measured.tasks.size(); ++i) {
    const std::string& family = measured.families[i];
    names_.push_back({family, measured.tasks[i].substr(family.size())});
    work_per_s_.push_back(measured.batch_sizes[i] * measured.alone_per_s[i]);
    families[family].push_back(static_cast<int>(i));
  }
  for (const std::string& family : measured.families)
    variants_.push_back(families[family]);
  speed_.resize(names_.size() * names_.size());
  for (const MeasuredPair& pair : measured.pairs) {
    if (!pair.ran()) continue;
    speed_[at(pair.first, pair.second)] =
        pair.first_per_s / measured.alone_per_s[static_cast<std::size_t>(pair.first)];
    speed_[at(pair.second, pair.first)] =
        pair.second_per_s / measured.alone_per_s[static_cast<std::size_t>(pair.second)];
    feasible_.push_back({pair.first, pair.second});
  }
  for (int task = 0; task < tasks(); ++task)
    utilisation_.push_back(mean_lost_beside(task));
}

double PairWorld::mean_lost_beside(int task) const {
  double lost = 0;
  int neighbours = 0;
  for (int other = 0; other < tasks(); ++other) {
    if (!(speeds(other, task).least() > 0)) continue;
    lost += 1 - speeds(other, task).first;
    ++neighbours;
  }
  return neighbours > 0 ? std::clamp(lost / neighbours, 0.0, 1.0) : 1;
}

core::PairSpeeds PairWorld::speeds(int a, int b) const {
  return {speed_[at(a, b)], speed_[at(b, a)]};
}

int PairWorld::fastest(int task) const {
  const auto& of_family = variants(task);
  return *std::max_element(of_family.begin(), of_family.end(), [this](int a, int b) {
    return work_per_s_[static_cast<std::size_t>(a)] < work_per_s_[static_cast<std::size_t>(b)];
  });
}

double PairWorld::speed_alone(int task) const {
  return work_per_s_[static_cast<std::size_t>(task)] /
         work_per_s_[static_cast<std::size_t>(fastest(task))];
}

std::vector<double> PairWorld::metrics(int task) const {
  constexpr int kMetrics = 8;
  const int count = std::min(kMetrics, tasks());
  std::vector<double> metrics;
  for (int i = 0; i < count; ++i) {
    const core::PairSpeeds beside = speeds(i * tasks() / count, task);
    metrics.push_back(beside.least() > 0 ? std::max(0.0, 1 - beside.first) : utilisation(task));
  }
  return metrics;
}

std::vector<PairWorld::Pair> PairWorld::shuffled(std::uint64_t seed) const {
  std::vector<std::size_t> order(feasible_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  core::shuffle(order, random);
  std::vector<Pair> pairs;
  for (const std::size_t i : order)
    pairs.push_back(feasible_[i]);
  return pairs;
}

core::PairTable PairWorld::table(std::span<const Pair> known) const {
  core::PairTable table(gpu_type_, GpuSharing::kTimeslice);
  for (const core::PairTask& name : names_)
    table.add_task(name);
  for (int a = 0; a < tasks(); ++a)
    for (int b = a; b < tasks(); ++b)
      if (!(speeds(a, b).least() > 0)) table.mark_infeasible(task(a), task(b));
  for (const Pair& pair : known)
    table.observe(task(pair.a), task(pair.b), speeds(pair.a, pair.b));
  return table;
}

}  // namespace slackline::sim
