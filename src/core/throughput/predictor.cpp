#include "slackline/core/throughput/predictor.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>

#include "between_types.h"
#include "observations.h"
#include "slackline/core/throughput/model_parallel.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

// Shares that borrowing adds to the error of 9 in 10 runs.
constexpr double kSimilarError = 0.2;
constexpr double kFamilyError = 0.6;
constexpr double kNormal90 = 1.645;  // 9 of 10 draws of a normal are within this many deviations
// How far apart descriptions of models that still resemble each other are, as a factor.
constexpr double kFarthestDescription = 4;
// Models of one family whose speeds are further apart than this factor, such as a language model in
// sizes from 125 million to 70 billion parameters, say nothing of another one.
constexpr double kWidestFamily = 10;

// The entry of a model to borrow from; nullptr if it has none.
const ProfileEntry* most_measured(const WorkloadProfiles& profiles, std::string_view model) {
  const ProfileEntry* best = nullptr;
  for (const ProfileEntry& entry : profiles.entries())
    if (entry.model == model && valid_coefficients(entry.coefficients) &&
        (best == nullptr || entry.points > best->points))
      best = &entry;
  return best;
}

// nullopt unless both are stated.
std::optional<double> ratio(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b || !(*a > 0) || !(*b > 0)) return std::nullopt;
  return *a / *b;
}

// Geometric mean of the values added; nullopt without any.
class GeometricMean {
 public:
  void add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return std::exp(sum_ / count_);
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace

std::string_view family_of(std::string_view model) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto end = std::find_if_not(model.begin(), model.end(), letter);
  return model.substr(0, static_cast<std::size_t>(end - model.begin()));
}

const ProfileEntry* entry_of(const WorkloadProfiles& profiles, std::string_view model,
                             const GpuType& gpu_type) {
  const ProfileEntry* entry = profiles.find(model, gpu_type);
  if (entry != nullptr && valid_coefficients(entry->coefficients)) return entry;
  for (const ProfileEntry& other : profiles.entries())
    if (other.model == model && same_gpu(other.gpu_type, gpu_type) &&
        valid_coefficients(other.coefficients))
      return &other;
  return nullptr;
}

Predictor::Predictor(WorkloadProfiles profiles, std::span<const ThroughputSample> samples,
                     std::span<const ModelDescriptor> descriptors)
    : profiles_(std::move(profiles)) {
  for (const ModelDescriptor& descriptor : descriptors)
    descriptors_.insert_or_assign(descriptor.model, descriptor);
  std::vector<Measured> all;
  for (const ThroughputSample& sample : samples)
    if (std::isfinite(sample.throughput_samples_per_s) && sample.throughput_samples_per_s > 0 &&
        std::isfinite(sample.batch) && sample.batch > 0)
      all.push_back({sample.model, sample.gpu_type, sample.batch, sample.layout.spread(),
                     sample.throughput_samples_per_s});
  const auto key = [](const Measured& m) {
    return std::tie(m.model, m.gpu_type, m.batch, m.spread);
  };
  std::sort(all.begin(), all.end(), [&](const Measured& a, const Measured& b) {
    return std::tuple_cat(key(a), std::tie(a.throughput_samples_per_s)) <
           std::tuple_cat(key(b), std::tie(b.throughput_samples_per_s));
  });
  for (auto first = all.begin(); first != all.end();) {
    GeometricMean mean;
    auto last = first;
    for (; last != all.end() && key(*last) == key(*first); ++last)
      mean.add(last->throughput_samples_per_s);
    measured_.push_back(*first);
    measured_.back().throughput_samples_per_s = *mean.value();
    first = last;
  }
}

std::span<const Predictor::Measured> Predictor::measured_of(std::string_view model,
                                                            const GpuType& gpu_type) const {
  const auto before = [](const Measured& a, const Measured& b) {
    return std::tie(a.model, a.gpu_type) < std::tie(b.model, b.gpu_type);
  };
  const auto [first, last] = std::equal_range(
      measured_.begin(), measured_.end(), Measured{std::string(model), gpu_type, 0, {}, 0}, before);
  return {first, last};
}

std::optional<PreparedModel> Predictor::prepare(const TaskIntent& intent,
                                                const GpuType& gpu_type) const {
  const auto workload = intent.workload();
  if (!workload || !intent.batch_size) return std::nullopt;
  auto prepared = prepare(*workload, static_cast<double>(*intent.batch_size), gpu_type,
                          intent.family ? std::string_view(*intent.family) : std::string_view());
  const bool is_guess = prepared && prepared->source_ == PredictionSource::kFamily &&
                        prepared->measured_.empty() && goes_by_letters(intent);
  if (is_guess && intent.expected_duration_s) return std::nullopt;
  if (prepared && intent.model_parallel)
    prepared->set_model_parallel(static_cast<int>(*intent.model_parallel));
  return prepared;
}

bool Predictor::goes_by_letters(const TaskIntent& intent) const {
  const auto workload = intent.workload();
  return workload && !intent.family && !descriptors_.contains(*workload);
}

std::optional<PreparedModel> Predictor::prepare(std::string_view model, double batch,
                                                const GpuType& gpu_type,
                                                std::string_view family) const {
  std::optional<PreparedModel> prepared;
  if (const ProfileEntry* entry = entry_of(profiles_, model, gpu_type))
    prepared = PreparedModel(*entry, batch);
  if (!prepared) prepared = borrowed(model, batch, gpu_type);
  if (!prepared) prepared = of_another(model, batch, gpu_type, family);
  std::vector<std::pair<Spread, double>> at_batch;
  for (const Measured& measured : measured_of(model, gpu_type))
    if (measured.batch == batch)
      at_batch.emplace_back(measured.spread, measured.throughput_samples_per_s);
  if (!prepared && at_batch.empty()) return std::nullopt;
  if (!prepared) prepared = PreparedModel(batch);
  prepared->measured_ = std::move(at_batch);
  return prepared;
}

std::optional<Prediction> Predictor::predict(std::string_view model, double batch,
                                             const GpuType& gpu_type, const Layout& layout,
                                             int model_parallel) const {
  auto prepared = prepare(model, batch, gpu_type);
  if (prepared && model_parallel > 0) prepared->set_model_parallel(model_parallel);
  return prepared ? prepared->predict(layout.spread()) : std::nullopt;
}

std::optional<double> Predictor::similar_ratio(const ProfileEntry& other, const GpuType& gpu_type,
                                               double batch) const {
  const auto samples = measured_of(other.model, gpu_type);
  const auto distance = [&](const Measured& m) {
    return std::abs(std::log(m.batch / m.spread.gpus / batch));
  };
  const auto nearest = std::min_element(
      samples.begin(), samples.end(),
      [&](const Measured& a, const Measured& b) { return distance(a) < distance(b); });
  GeometricMean ratio;
  for (const Measured& measured : samples) {
    if (distance(measured) > distance(*nearest) + std::log(kSameBatch)) continue;
    const auto there =
        predict_throughput(other.coefficients, measured.batch, measured.spread, kMostModelParallel);
    if (there) ratio.add(measured.throughput_samples_per_s / *there);
  }
  return ratio.value();
}

std::optional<PreparedModel> Predictor::borrowed(std::string_view model, double batch,
                                                 const GpuType& gpu_type) const {
  const ProfileEntry* other = most_measured(profiles_, model);
  if (other == nullptr) return std::nullopt;
  const auto ratio = similar_ratio(*other, gpu_type, batch);
  if (!ratio) return of_similar_type(model, batch, gpu_type);
  PreparedModel prepared(*other, batch);
  prepared.factor_ = *ratio;
  prepared.source_ = PredictionSource::kSimilar;
  prepared.error_ += kSimilarError;
  prepared.corrections_.clear();  // runs on the other type
  return prepared;
}

std::optional<PreparedModel> Predictor::of_similar_type(std::string_view model, double batch,
                                                        const GpuType& gpu_type) const {
  const ProfileEntry* best = nullptr;
  TypeRatio ratio;
  for (const ProfileEntry& entry : profiles_.entries()) {
    if (entry.model != model || entry.points == 0 || !valid_coefficients(entry.coefficients))
      continue;
    const auto known = type_ratio(profiles_, gpu_type, entry.gpu_type, family_name(entry), batch);
    if (!known || (best != nullptr && known->variance >= ratio.variance)) continue;
    best = &entry;
    ratio = *known;
  }
  if (best == nullptr) return std::nullopt;
  PreparedModel prepared(*best, batch);
  prepared.factor_ = std::exp(ratio.log_ratio);
  prepared.source_ = PredictionSource::kSimilarType;
  prepared.error_ += std::expm1(kNormal90 * std::sqrt(ratio.variance));
  prepared.corrections_.clear();
  return prepared;
}

std::optional<PreparedModel> Predictor::of_another(std::string_view model, double batch,
                                                   const GpuType& gpu_type,
                                                   std::string_view family) const {
  if (most_measured(profiles_, model) != nullptr) return std::nullopt;
  const auto described = descriptors_.find(model);
  const bool is_described = described != descriptors_.end();
  if (family.empty() && is_described) family = described->second.family;
  std::optional<PreparedModel> prepared;
  if (!family.empty()) prepared = of_family(family_name(model, family), batch, gpu_type);
  if (!prepared && is_described) prepared = of_nearest(described->second, batch, gpu_type);
  if (!prepared && family.empty()) prepared = of_family(family_name(model, {}), batch, gpu_type);
  if (!prepared) return std::nullopt;
  prepared->source_ = PredictionSource::kFamily;
  prepared->error_ += kFamilyError;
  prepared->corrections_.clear();
  return prepared;
}

std::optional<PreparedModel> Predictor::of_family(const std::string& family, double batch,
                                                  const GpuType& gpu_type) const {
  std::vector<std::tuple<double, std::string_view, const ProfileEntry*>> by_speed;
  for (const ProfileEntry& entry : profiles_.entries()) {
    if (entry.gpu_type != gpu_type || family.empty() || family_name(entry) != family) continue;
    const auto speed = predict_throughput(entry.coefficients, batch, Spread());
    if (speed) by_speed.emplace_back(*speed, entry.model, &entry);
  }
  if (by_speed.empty()) return std::nullopt;
  std::sort(by_speed.begin(), by_speed.end());
  if (std::get<0>(by_speed.back()) > kWidestFamily * std::get<0>(by_speed.front()))
    return std::nullopt;
  return PreparedModel(*std::get<2>(by_speed[(by_speed.size() - 1) / 2]), batch);
}

std::optional<PreparedModel> Predictor::of_nearest(const ModelDescriptor& model, double batch,
                                                   const GpuType& gpu_type) const {
  const ProfileEntry* nearest = nullptr;
  double least = std::log(kFarthestDescription);
  double factor = 1;
  for (const ProfileEntry& entry : profiles_.entries()) {
    const auto other = descriptors_.find(entry.model);
    if (entry.gpu_type != gpu_type || other == descriptors_.end() ||
        entry.model.ends_with(kInferenceSuffix) != model.model.ends_with(kInferenceSuffix) ||
        !valid_coefficients(entry.coefficients))
      continue;
    const auto operations = ratio(other->second.flops_per_sample, model.flops_per_sample);
    const auto size = operations ? operations : ratio(other->second.parameters, model.parameters);
    if (!size || std::abs(std::log(*size)) > least) continue;
    nearest = &entry;
    least = std::abs(std::log(*size));
    factor = operations.value_or(1);
  }
  if (nearest == nullptr) return std::nullopt;
  PreparedModel prepared(*nearest, batch);
  prepared.factor_ = factor;
  return prepared;
}

}  // namespace slackline::core
