#include "slackline/core/cluster/profiling.h"

#include <algorithm>

#include "slackline/core/cluster/task_family.h"

namespace slackline::core {

bool is_unknown_task(const ClusterSnapshot& snapshot, const Situation& situation,
                     const TaskIntent& intent, const Job* job) {
  if (family_of(situation.portraits.get(), job) != nullptr) return false;
  const std::vector<GpuType>& types = snapshot.node_table.types;
  return std::none_of(types.begin(), types.end(), [&](const GpuType& type) {
    const auto model = situation.predictor->prepare(intent, type);
    const auto one = model ? model->predict(Placement{}) : std::nullopt;
    return one && is_of_this_model(one->source);
  });
}

}  // namespace slackline::core
