#include "control/state/situation.h"

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

}  // namespace slackline::control
