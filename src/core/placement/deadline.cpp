#include "slackline/core/deadline.h"

#include <algorithm>

#include "slackline/core/prediction.h"
#include "slackline/core/throughput.h"

namespace slackline::core {

std::optional<double> resolve_deadline(const TaskIntent& intent, double created_s,
                                       std::optional<double> lat11_s,
                                       const DeadlineFactors& factors) {
  if (intent.deadline_s) return intent.deadline_s;
  if (intent.deadline_after_s) return created_s + *intent.deadline_after_s;
  if (!lat11_s) return std::nullopt;
  switch (intent.qos_class.value_or(QosClass::kNormal)) {
    case QosClass::kUrgent:
      return created_s + factors.urgent * *lat11_s;
    case QosClass::kPrior:
      return created_s + factors.prior * *lat11_s;
    case QosClass::kNormal:
      break;
  }
  return created_s + factors.normal * *lat11_s;
}

std::optional<double> reference_lat_s(const TaskIntent& intent, const WorkloadProfiles& profiles,
                                      const std::vector<GpuType>& types) {
  if (!intent.model || !intent.batch_size || !intent.iterations) return std::nullopt;
  std::optional<double> slowest_s;
  for (const GpuType& type : types) {
    const ProfileEntry* entry = profiles.find(*intent.model, type);
    if (entry == nullptr) continue;
    const auto batch = static_cast<double>(*intent.batch_size);
    const auto prediction = PreparedModel(*entry, batch).predict(Placement{1, 1});
    if (!prediction) continue;
    const auto lat11_s = lat_s(prediction->throughput_samples_per_s, batch,
                               static_cast<double>(*intent.iterations), entry->startup_s);
    if (lat11_s && (!slowest_s || *lat11_s > *slowest_s)) slowest_s = lat11_s;
  }
  return slowest_s;
}

}  // namespace slackline::core
