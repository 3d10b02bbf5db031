// Which GPU types a task accepts, in which order (annotation gpu-types).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/resources.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

// gpu-types resolved against the catalogue, once per request: people may write the alias ("A100",
// in any case) or what a node label says ("NVIDIA-A100-SXM4-40GB").
class AcceptedTypes {
 public:
  AcceptedTypes() = default;  // everything
  AcceptedTypes(const TaskIntent& intent, const GpuCatalog& catalog);

  // No gpu-types, or `any` among them: the model chooses.
  bool anything() const { return types_.empty(); }
  // Place in the order of preference, 0 the best; 0 for every type where anything goes; nullopt
  // where the type is not accepted (an unknown type never is, unless anything goes).
  std::optional<int> preference(const GpuType& type) const;
  const std::vector<GpuType>& types() const { return types_; }

 private:
  std::vector<GpuType> types_;
};

// The GPU resource that counts for shapes: the one the request asks most of, by name on a tie.
// Empty where none is asked for.
std::string primary_gpu_resource(const Resources& request);

// True where the request asks for a resource that we alone account (gpu_catalog.h).
bool wants_self_accounted(const Resources& request, const GpuCatalog& catalog);

}  // namespace slackline::core
