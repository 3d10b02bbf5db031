#include "control/state/present_situation.h"

namespace slackline::control {

core::Situation situation_of(const GpuCatalog& catalog, double theta, const Known& known,
                             const cluster::ClusterSource& source, const Clock& clock) {
  return {.catalog = &catalog,
          .predictor = known.predictor,
          .theta = theta,
          .now_wall_s = clock.wall_s(),
          .now_steady_s = clock.steady_s(),
          .trusted = source.health().trusted()};
}

Status cluster_is_read(const ClusterSnapshot& snapshot) {
  if (snapshot.synced) return {};
  return fail(
      ErrorCode::kUnavailable,
      "the first list of the cluster is not complete yet: ask again soon; /readyz says why");
}

}  // namespace slackline::control
