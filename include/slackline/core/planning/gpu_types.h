// Which GPU types a task accepts, in which order (annotation gpu-types).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/resources.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

// The alias of a GPU type that a person wrote; the word itself if no rule knows it.
GpuType resolved_type(const GpuType& written, const GpuCatalog& catalog);

// gpu-types resolved against the catalogue, once per request: people may write the alias ("A100",
// in any case) or what a node label says ("NVIDIA-A100-SXM4-40GB"). A name accepts the catalogue's
// variants of it too: "H100" accepts H100-PCIe and H100-NVL.
class AcceptedTypes {
 public:
  AcceptedTypes() = default;  // everything
  // `resource`: that the task asks for. Where it is one of whole GPUs, a task that names no type
  // takes no part of a GPU (GpuCatalog::is_part); the catalogue then outlives this. Empty: nothing
  // is asked for.
  AcceptedTypes(const TaskIntent& intent, const GpuCatalog& catalog,
                std::string_view resource = {});
  // What this one name accepts.
  AcceptedTypes(const GpuType& written, const GpuCatalog& catalog);

  // True without gpu-types, or with `any` among them: the model chooses.
  bool anything() const { return types_.empty(); }
  // Place in the order of preference, 0 the best; 0 for every type if all are accepted, and parts
  // of GPUs are not what is meant; nullopt if the type is not accepted (an unknown type only is if
  // all are).
  std::optional<int> preference(const GpuType& type) const;
  const std::vector<GpuType>& types() const { return types_; }

 private:
  void accept(const std::vector<GpuType>& written, const GpuCatalog& catalog);

  const GpuCatalog* catalog_ = nullptr;  // null: parts are accepted as well
  std::vector<GpuType> types_;
  std::vector<std::pair<GpuType, int>> variants_;  // and the place of what accepts them
};

// The GPU resource that counts for shapes: the one with the largest request, by name on a tie.
// Empty if there is none.
std::string primary_gpu_resource(const Resources& request);

// How many GPUs of that resource it asks for; 0 if there is none.
std::int64_t primary_gpu_count(const Resources& request);

// True if the request asks for a resource that only Slackline counts (gpu_catalog.h).
bool wants_self_accounted(const Resources& request, const GpuCatalog& catalog);

}  // namespace slackline::core
