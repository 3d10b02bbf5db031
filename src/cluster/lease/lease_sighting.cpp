#include "cluster/lease/lease_sighting.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

constexpr double kLongestLease_s = 3600;

std::string record_of(const std::optional<wire::LeaseRecord>& lease) {
  if (!lease) return "-";
  return format("{} {} {} {}", lease->resource_version, lease->transitions, lease->renewed_s,
                lease->holder);
}

}  // namespace

double lease_duration_s(const wire::LeaseRecord& lease, double at_least_s) {
  return std::max(at_least_s, std::min(lease.duration_s, kLongestLease_s));
}

bool LeaseSighting::see(const std::optional<wire::LeaseRecord>& lease, double asked_s,
                        double answered_s) {
  std::string record = record_of(lease);
  const bool changed = record != record_;
  if (changed || !seen_) since_s_ = answered_s;
  asked_s_ = std::max(asked_s, since_s_);
  record_ = std::move(record);
  return std::exchange(seen_, true) && changed;
}

}  // namespace slackline::cluster
