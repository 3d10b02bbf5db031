#include <utility>

#include "queue_tasks.h"
#include "slackline/base/saturating.h"

namespace slackline::core {

void resize(QueueTask& task, const Resizer& resizer, bool keeps_place) {
  if (!task.job || (!task.plan && !task.job->suspended)) return;
  if (task.plan) {
    task.request.sized = sized_by(*task.plan);
  } else if (!keeps_place && resizer.mode_of(*task.job, *task.intent) == ResizeMode::kAuto) {
    ResizingPtr resizing = resizer.of(*task.job, *task.intent);
    if (!resizing || !resizing->changes()) return;
    task.request.sized = sized_by(*resizing);
    task.member = resized_member(task.member, *task.job, *resizing);
    task.resizing = std::move(resizing);
  }
  task.shape_is_free = shape_is_free(*task.intent, task.request);
}

void ask_for(const TaskRequest& request, const std::vector<Pool>& pools, PlanTask& task) {
  task.request_gpus = saturating_int(request.all_gpus());
  for (PoolIndex pool = 0; pool < pools.size(); ++pool)
    if (const auto sized = request.sized_on(pools[pool].type))
      task.sized.emplace_back(pool, sized->gpus());
}

}  // namespace slackline::core
