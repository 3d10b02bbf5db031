#include "control/query/gpu_meters.h"

#include <string_view>
#include <utility>

namespace slackline::control {
namespace {

constexpr std::string_view kUnknown = "unknown";

}  // namespace

GpuMeters::GpuMeters(obs::MetricsRegistry& metrics) : metrics_(metrics) {
  show({});
}

void GpuMeters::show(const std::vector<GpuPoolView>& pools) {
  const MutexLock lock(mutex_);
  std::map<Key, Units> now;
  now[Key{kUnknown, ""}];  // there from the start, whatever the cluster has
  for (const auto& [key, units] : shown_)
    now[key];
  for (const GpuPoolView& pool : pools)
    for (const GpuUseView& use : pool.gpus) {
      Units& units = now[key_of(pool, use)];
      units.total += use.allocatable;
      units.used += use.used;
      units.held += use.held;
      units.free += use.free;
    }
  for (const auto& [key, units] : now)
    set(key, units);
  shown_ = std::move(now);
}

GpuMeters::Key GpuMeters::key_of(const GpuPoolView& pool, const GpuUseView& use) {
  std::string type =
      types_.admit(pool.gpu_type.empty() ? std::string(kUnknown) : pool.gpu_type.str());
  const bool whole = use.sharing.empty() || use.sharing == to_string(GpuSharing::kWhole);
  return {std::move(type), whole ? "" : use.resource};
}

void GpuMeters::set(const Key& key, const Units& units) {
  const std::string& type = std::get<0>(key);
  const std::string& resource = std::get<1>(key);
  const auto gauge = [&](std::string_view state) {
    if (resource.empty())
      return metrics_.gauge("slackline_gpus", {{"gpu_type", type}, {"state", state}});
    return metrics_.gauge("slackline_gpu_parts",
                          {{"gpu_type", type}, {"resource", resource}, {"state", state}});
  };
  gauge("total").set(static_cast<double>(units.total));
  gauge("used").set(static_cast<double>(units.used));
  gauge("held").set(static_cast<double>(units.held));
  gauge("free").set(static_cast<double>(units.free));
}

}  // namespace slackline::control
