#include "slackline/core/planning/stated_duration.h"

#include <utility>

namespace slackline::core {
namespace {

AcceptedTypes named_type(const TaskIntent& intent, const GpuCatalog& catalog) {
  TaskIntent named;
  if (const auto type = type_of_stated_duration(intent)) named.gpu_types = {*type};
  return {named, catalog};
}

}  // namespace

std::optional<GpuType> type_of_stated_duration(const TaskIntent& intent) {
  if (intent.expected_duration_on) return intent.expected_duration_on;
  const bool one = !intent.any_gpu_type && intent.gpu_types.size() == 1;
  return one ? std::optional(intent.gpu_types.front()) : std::nullopt;
}

StatedDuration::StatedDuration(const TaskIntent& intent, const GpuCatalog& catalog,
                               std::string resource, const Predictor& predictor)
    : intent_(intent),
      catalog_(catalog),
      resource_(std::move(resource)),
      predictor_(predictor),
      named_(named_type(intent, catalog)) {
  if (!named_.types().empty()) type_ = named_.types().front();
}

std::optional<double> StatedDuration::on(const GpuType& type, const Placement& shape) const {
  const std::optional<double>& stated_s = intent_.expected_duration_s;
  const bool whole = !catalog_.is_whole(resource_) || !catalog_.is_part(type);
  if (!stated_s) return std::nullopt;
  if (!type_) return whole ? stated_s : std::nullopt;
  if (named_.preference(type)) return stated_s;
  const auto there = whole ? speed(type, shape) : std::nullopt;
  const auto here = there ? speed(*type_, shape) : std::nullopt;
  return here ? std::optional(*stated_s * *here / *there) : std::nullopt;
}

std::optional<double> StatedDuration::speed(const GpuType& type, const Placement& shape) const {
  if (!catalog_.is_whole(resource_)) return std::nullopt;
  const auto model = predictor_.prepare(intent_, type);
  const auto prediction = model ? model->predict(shape) : std::nullopt;
  return prediction ? std::optional(prediction->throughput_samples_per_s) : std::nullopt;
}

}  // namespace slackline::core
