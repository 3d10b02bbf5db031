#include "control/query/overload.h"

#include <algorithm>
#include <map>

#include "slackline/base/duration.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

bool judged(const QueueRow& row, double now_s) {
  const bool foreseen = row.finish_s || row.forecast == reason::kBeyondHorizon;
  return row.position > 0 && row.deadline_s && *row.deadline_s > now_s && row.slack_s && foreseen;
}

bool late(const QueueRow& row) {
  return row.predicted_late() || !row.finish_s;
}

// On the fastest placement, from its creation on.
bool could_have_been_in_time(const QueueRow& row, double now_s) {
  return *row.slack_s + (now_s - row.created_s) >= 0;
}

// As it is foreseen; of a task beyond the horizon on its fastest placement.
double needed_gpu_s(const QueueRow& row, double now_s) {
  const double length_s = row.start_s && row.finish_s ? *row.finish_s - *row.start_s
                                                      : *row.deadline_s - now_s - *row.slack_s;
  return static_cast<double>(row.gpus) * std::max(0.0, length_s);
}

void weigh(QueueLoad& queue, const std::vector<QueueRow>& rows, const ClusterLoad& load) {
  double demand_gpu_s = 0;
  for (const ClusterLoad::Run& run : load.runs)
    demand_gpu_s += run.gpus * std::max(0.0, std::min(run.end_s, queue.until_s) - load.now_s);
  for (const QueueRow& row : rows)
    if (judged(row, load.now_s) && *row.deadline_s <= queue.until_s)
      demand_gpu_s += needed_gpu_s(row, load.now_s);
  queue.demand_gpu_h = demand_gpu_s / kHour_s;
  queue.capacity_gpu_h = load.gpus * (queue.until_s - load.now_s) / kHour_s;
}

}  // namespace

ClusterLoad load_of(const QueueSight& sight) {
  const core::PlanState& state = sight.queue.state();
  ClusterLoad load;
  load.now_s = sight.now_s;
  load.gpus = static_cast<double>(state.free().total());
  for (const core::TaskIndex task : state.running())
    load.runs.push_back({static_cast<double>(state.running_choice(task).gpus),
                         state.observed_end_s(task, sight.now_s)});
  return load;
}

std::vector<QueueLoad> queue_loads(const std::vector<QueueRow>& rows, const ClusterLoad& load) {
  std::map<std::string, QueueLoad> queues;
  for (const QueueRow& row : rows) {
    if (!judged(row, load.now_s)) continue;
    QueueLoad& queue = queues[row.queue()];
    queue.until_s = std::max(queue.until_s, *row.deadline_s);
    if (!late(row))
      ++queue.in_time;
    else if (could_have_been_in_time(row, load.now_s))
      queue.late.push_back(&row);
  }
  std::vector<QueueLoad> loads;
  for (auto& [name, queue] : queues) {
    queue.queue = name;
    weigh(queue, rows, load);
    loads.push_back(std::move(queue));
  }
  return loads;
}

}  // namespace slackline::control
