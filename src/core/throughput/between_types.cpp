#include "between_types.h"

#include <algorithm>
#include <cmath>

#include "slackline/core/throughput/model_parallel.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/core/throughput/throughput.h"
#include "slackline/model/gpu_spec.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {
namespace {

// Exponents and deviations: chosen on public figures by leaving whole types out
// (docs/study/modern.md); coarse, because a dozen comparisons tell no more.
constexpr double kOfTflops = 0.4;
constexpr double kOfBandwidth = 0.2;
constexpr double kOfPower = 0.4;
constexpr double kLeastDeviation = 0.08;
constexpr double kDeviationPerDistance = 0.25;  // of logarithms of TFLOPS and bandwidth
constexpr double kOtherMaker = 0.3;
constexpr double kMostDeviation =
    0.75;  // beyond, data sheets say nothing: a K80 is not a slow H100
// How far the ratios of two models differ.
constexpr double kInFamily = 0.15;
constexpr double kAcrossFamilies = 0.3;

double squared(double value) {
  return value * value;
}

double local_batch_in_range(const ProfileEntry& entry, double local_batch) {
  if (!entry.batch_range) return local_batch;
  return std::clamp(local_batch, entry.batch_range->least / entry.model_parallel,
                    entry.batch_range->most / entry.model_parallel);
}

// The smallest number of GPUs that both were measured on, on as few nodes as usual.
Spread common_spread(const ProfileEntry& a, const ProfileEntry& b) {
  constexpr int kUsualNode = 8;
  const int least =
      std::max(a.gpus_range ? a.gpus_range->least : 1, b.gpus_range ? b.gpus_range->least : 1);
  if (least <= kUsualNode) return Placement{1, least};
  return clamped_placement(least / kUsualNode, kUsualNode);
}

// nullopt where one of them predicts nothing.
std::optional<double> log_speed_ratio(const ProfileEntry& to, const ProfileEntry& from,
                                      double batch) {
  const Spread spread = common_spread(to, from);
  const double at = spread.gpus * local_batch_in_range(from, local_batch_in_range(to, batch));
  const auto here = predict_throughput(to.coefficients, at, spread, kMostModelParallel);
  const auto there = predict_throughput(from.coefficients, at, spread, kMostModelParallel);
  if (!here || !there) return std::nullopt;
  return std::log(*here / *there);
}

}  // namespace

std::string family_name(std::string_view model, std::string_view declared) {
  std::string family(declared.empty() ? family_of(model) : declared);
  if (!family.empty() && model.ends_with(kInferenceSuffix)) family += kInferenceSuffix;
  return family;
}

std::string family_name(const ProfileEntry& entry) {
  return family_name(entry.model, entry.family);
}

bool same_gpu(const GpuType& a, const GpuType& b) {
  const GpuSpec* spec = find_gpu_spec(a.str());
  return spec != nullptr && spec == find_gpu_spec(b.str());
}

std::optional<TypeRatio> catalog_ratio(const GpuType& to, const GpuType& from) {
  const GpuSpec* here = find_gpu_spec(to.str());
  const GpuSpec* there = find_gpu_spec(from.str());
  if (here == nullptr || there == nullptr) return std::nullopt;
  const double tflops = std::log(here->dense_tflops / there->dense_tflops);
  const double bandwidth = std::log(here->bandwidth_tb_s / there->bandwidth_tb_s);
  const double power = std::log(here->board_w / there->board_w);
  const double deviation = kLeastDeviation +
                           kDeviationPerDistance * (std::abs(tflops) + std::abs(bandwidth)) +
                           (here->maker == there->maker ? 0 : kOtherMaker);
  if (deviation > kMostDeviation) return std::nullopt;
  return TypeRatio{kOfTflops * tflops + kOfBandwidth * bandwidth + kOfPower * power,
                   squared(deviation)};
}

std::optional<TypeRatio> type_ratio(const WorkloadProfiles& profiles, const GpuType& to,
                                    const GpuType& from, std::string_view family, double batch) {
  const auto catalog = catalog_ratio(to, from);
  double precision = catalog ? 1 / catalog->variance : 0;
  double sum = catalog ? catalog->log_ratio * precision : 0;
  for (const ProfileEntry& entry : profiles.entries()) {
    if (entry.gpu_type != to || entry.points == 0) continue;
    const ProfileEntry* other = profiles.find(entry.model, from);
    const bool measured = other != nullptr && other->points > 0;  // not assumed
    const auto ratio = measured ? log_speed_ratio(entry, *other, batch) : std::nullopt;
    if (!ratio) continue;
    const bool alike = !family.empty() && family_name(entry) == family;
    const double weight = 1 / squared(alike ? kInFamily : kAcrossFamilies);
    precision += weight;
    sum += weight * *ratio;
  }
  if (precision <= 0) return std::nullopt;
  // Models of one family still differ: no number of them makes the ratio of another one certain.
  return TypeRatio{sum / precision, 1 / precision + squared(kLeastDeviation)};
}

}  // namespace slackline::core
