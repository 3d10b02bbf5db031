// depends-on: a task waits until every Job that it names has completed successfully.
//
// Jobs are named within the task's namespace, whether they ask for GPUs or not. A Job that failed
// or is not there keeps the task waiting: one of that name may be created again. What ran had all
// of it, which may be gone since, and waits for none of it again. Jobs that have ended are not part
// of a cycle.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slackline/core/cluster/hindrance.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

struct OtherRun;
struct PlanTask;
struct QueueTask;

// The shortest cycle from the Job over its dependencies back to itself, as names, the Job first and
// last; empty if there is none. `depends_on` replaces what the snapshot says about the Job.
std::vector<std::string> dependency_cycle(const ClusterSnapshot& snapshot, const ObjectKey& job,
                                          const std::vector<std::string>& depends_on);

// For forecasts: what each of these waits for (PlanTask::after), where all of it is among them or
// the runs that no plan placed, and is predicted to finish. `planned`: the same tasks, then `runs`,
// and others behind them.
void come_after_dependencies(const ClusterSnapshot& snapshot, const std::vector<QueueTask>& tasks,
                             const std::vector<OtherRun>& runs, std::vector<PlanTask>& planned);

// By what is left of a run on the Job: it was stopped or disrupted, a pod of it has ended, or it
// told of its progress. A Job that somebody suspended before any of that looks as if it never ran.
bool has_run(const Job& job);

class Dependencies {
 public:
  // O(Jobs + dependencies). `snapshot` outlives it.
  explicit Dependencies(const ClusterSnapshot& snapshot);

  // nullopt: all of its dependencies are done, or it has run.
  std::optional<Hindrance> of(const Job& job) const;
  // The same; pods of a Job that had its turn, and what has a plan, need them no more either.
  std::optional<Hindrance> of(const QueueTask& task) const;
  // Which of these are not done, whoever names them.
  std::optional<Hindrance> of(const std::string& ns, const TaskIntent& intent) const;

 private:
  const ClusterSnapshot& snapshot_;
  std::set<ObjectKey> entangled_;  // Jobs that are in a cycle or wait for one
};

}  // namespace slackline::core
