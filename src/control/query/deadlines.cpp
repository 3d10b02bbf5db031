#include "control/query/deadlines.h"

#include <set>

#include "slackline/core/deadline.h"

namespace slackline::control {

std::vector<GpuType> types_of(const ClusterSnapshot& snapshot) {
  std::set<GpuType> types;
  for (const NodeStatePtr& state : snapshot.nodes)
    if (!state->node->gpu_type.empty()) types.insert(state->node->gpu_type);
  return {types.begin(), types.end()};
}

std::optional<double> deadline_of(const DeadlineQuestion& task, const GpuCatalog& catalog,
                                  const core::Predictor& predictor,
                                  const std::vector<GpuType>& types) {
  const auto lat_s =
      core::reference_lat_s({task.intent, task.gpu_resource, catalog}, predictor, types);
  return core::resolve_deadline(task.intent, task.created_s, lat_s);
}

}  // namespace slackline::control
