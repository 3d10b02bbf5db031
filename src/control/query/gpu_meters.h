// GpuMeters: the GPUs of the cluster in figures, from the pools that `slackline cluster` shows.
//
// slackline_gpus{gpu_type,state} counts whole GPUs; slackline_gpu_parts{gpu_type,resource,state}
// counts units that are parts of one (MIG slices, shares). state: "total" is allocatable, "used" by
// bound pods, "held" promised to unbound ones, "free" the rest (negative = over-committed). Nodes
// that tell no type are "unknown", and types beyond kMaxGpuTypes "other". A type that has left the
// cluster stays with zeros.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "message/views.h"
#include "obs/bounded_names.h"
#include "obs/metrics.h"
#include "slackline/base/mutex.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::control {

inline constexpr std::size_t kMaxGpuTypes = 40;

class GpuMeters {
 public:
  explicit GpuMeters(obs::MetricsRegistry& metrics);
  void show(const std::vector<GpuPoolView>& pools);

 private:
  struct Units {
    std::int64_t total = 0;
    std::int64_t used = 0;
    std::int64_t held = 0;
    std::int64_t free = 0;
  };
  // GPU type and, of parts, their resource.
  using Key = std::tuple<std::string, std::string>;

  Key key_of(const GpuPoolView& pool, const GpuUseView& use);
  void set(const Key& key, const Units& units);

  obs::MetricsRegistry& metrics_;
  obs::BoundedNames types_{kMaxGpuTypes};
  Mutex mutex_;
  std::map<Key, Units> shown_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::control
