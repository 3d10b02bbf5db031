#include "control/query/deadlines.h"

#include "slackline/core/planning/deadline.h"

namespace slackline::control {

std::optional<double> deadline_of(const DeadlineQuestion& task, const GpuCatalog& catalog,
                                  const core::Predictor& predictor,
                                  const ClusterSnapshot& snapshot) {
  const auto lat_s = core::reference_lat_s({task.intent, task.gpu_resource, catalog}, predictor,
                                           snapshot.node_table.types);
  return core::resolve_deadline(task.intent, task.created_s, lat_s);
}

}  // namespace slackline::control
