// The tasks of a queue, found in a snapshot: what queue.h says of waiting and running. Then what is
// made of those that are found, for queue.cpp alone.
#pragma once

#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/room.h"

namespace slackline::core {

class Eligibility;
struct OtherRun;

struct FoundTasks {
  std::vector<QueueTask> waiting;
  std::vector<QueueTask> running;
  std::vector<JobPtr> to_open;
  std::vector<QueueTask> let_go;  // single pods that were
  std::vector<PodPtr> to_let_go;  // launchers whose gang is let go, or is none
};

// Without gate, plan and nomination: kube-scheduler places the pod, where a cluster autoscaler may
// make it a node.
bool was_let_go(const Pod& pod);

// A task that kube-scheduler runs, or will, without a plan: one without an id says where.
QueueTask running_unplanned(const ClusterSnapshot& snapshot, QueueTask&& task);

// Some of them only, once `stop` says yes.
FoundTasks find_queue_tasks(const ClusterSnapshot& snapshot,
                            const std::unordered_set<Uid>* held_off, const StopAsked& stop,
                            double now_wall_s);

bool was_stopped(const QueueTask& task);

// Unique keys for policies to tell equals apart: who was stopped before goes before who was not.
std::vector<std::int64_t> keys_of_equals(const std::vector<QueueTask>& tasks);

// maxPending for tasks that no webhook admitted: created while none answered, or with a proof that
// is not Slackline's (admitted ones were counted then). Those that wait over the limit of their
// queue get the hindrance NotAdmitted. They come behind all admitted tasks, in the order of
// `tasks`; tasks that have run once keep their place.
void hold_to_limits(std::vector<QueueTask>& tasks, const QueueRulebook* queues);

// Where clocks of the Job, or of what makes the gang, run while its pods wait behind their gates:
// the task is due when they end it, or by when a run would have to start.
void make_due_by_clocks(const ClusterSnapshot& snapshot, const TaskMenu& menu, QueueTask& task);

// It is deleted, or its controller has ended it by its time limit.
bool replaces_no_pods(const Job& job, double now_wall_s);

// A pod whose Job has more pods to run after it is due as much earlier.
void make_time_for_later_pods(const ClusterSnapshot& snapshot, const TaskMenu& menu,
                              QueueTask& task);

// For forecasts: behind each pod that its Job replaces once it has ended, one task that takes as
// long as all that come in its place. Adds them to `planned`, which has the tasks and then the runs
// that no plan placed, behind all others.
void add_later_pods(const ClusterSnapshot& snapshot, const std::vector<QueueTask>& tasks,
                    const std::vector<OtherRun>& runs, TaskMenus& menus, Eligibility& eligibility,
                    std::vector<PlanTask>& planned);

// What the pods of tasks need besides the GPUs of pools: CPU, memory and what else nodes list.
class RestNeeds {
 public:
  RestNeeds() = default;
  // Of `tasks` and, behind them, `others`, then those that take the place of a task once it has
  // ended. Sets PlanTask::rest. Snapshot, pools and tasks outlive it.
  RestNeeds(const ClusterSnapshot& snapshot, const std::vector<QueuePool>& pools,
            const std::vector<QueueTask>& tasks, const std::vector<OtherRun>& others,
            std::vector<PlanTask>& planned);

  // What is free in the room, and held by these runs; nullopt: wherever there are GPUs, `gpus` with
  // those of these runs, there is enough of it.
  std::optional<FreeRest> free_beside(const std::vector<std::optional<PlannedRun>>& runs,
                                      const RoomTable& room, const TaskTable& tasks,
                                      const FreeGpus& gpus) const;

 private:
  class Numbering;
  RestAmounts amounts(const Resources& of) const;
  void add_there(const QueueTask& task, const RoomTable& room,
                 const std::map<NodeIndex, std::uint32_t>& numbers,
                 std::vector<RestAmounts>& free) const;
  bool may_be_short(const TaskTable& tasks, const std::vector<RestAmounts>& all,
                    const RestLayout& layout, const FreeGpus& gpus) const;

  const ClusterSnapshot* snapshot_ = nullptr;
  const std::vector<QueuePool>* pools_ = nullptr;
  const std::vector<QueueTask>* queued_ = nullptr;
  std::vector<std::string> others_;  // resources but CPU, memory and pods
  std::vector<RestNeed> needs_;
};

// Tasks that wait and name no GPU types get those of their queue.
void prefer_types_of_queues(std::vector<QueueTask>& tasks, const QueueRulebook& queues);

// The request of a Job that waits suspended: as advised, where that is applied. A run keeps what it
// was given. One that keeps its place goes on there, in the shape that is kept.
void resize(QueueTask& task, const Resizer& resizer, bool keeps_place);
// How many GPUs a plan counts it for: those that were written, and on pools where it is resized
// those that it is resized to.
void ask_for(const TaskRequest& request, const std::vector<Pool>& pools, PlanTask& task);

}  // namespace slackline::core
