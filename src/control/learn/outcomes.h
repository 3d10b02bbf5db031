// Outcomes: what became of GPU Jobs and gangs: how long Jobs waited, and once they are over whether
// they met their deadlines, for the history (store/journal.h) and the metrics.
//
//   slackline_admission_wait_time_seconds{queue,class}      from creation until all pods have
//                                                           started; of Jobs seen waiting
//   slackline_jobs_completed_total{queue,class,deadline}    that succeeded: met, missed, none
//   slackline_jobs_failed_total{queue,class}
//
// A Job or gang is counted when it enters the history, once in the life of the file: a restart
// counts nothing again, and those that ended while nobody looked are counted late. The counters of
// a queue and class are 0 once one of its Jobs has begun. Queues beyond obs::kMaxQueues are
// "other".
//
// Thread-safe.
#pragma once

#include <functional>
#include <string>

#include "cluster/watch/source.h"
#include "control/learn/known.h"
#include "control/learn/runs.h"
#include "obs/bounded_names.h"
#include "obs/metrics.h"
#include "slackline/base/published.h"
#include "slackline/model/finished_task.h"
#include "slackline/model/gpu_catalog.h"
#include "store/journal.h"

namespace slackline::control {

struct GangRun;

// What is known of the cluster at the end of a Job.
struct OutcomeFacts {
  const ClusterSnapshot& snapshot;
  const GpuCatalog& catalog;
  const core::Predictor& predictor;
  double now_s = 0;  // epoch
};

// The row of a Job or gang that is over. Pure.
FinishedTask finished_task(const Job& job, const RunSeen& seen, const OutcomeFacts& facts);
FinishedTask finished_task(const GangRun& run, const OutcomeFacts& facts);

class Outcomes final : public Runs::Listener {
 public:
  explicit Outcomes(obs::MetricsRegistry& metrics) : metrics_(metrics) {}
  // Before the source starts; all outlive it.
  void follow(const GpuCatalog& catalog, const Published<Known>& known,
              const cluster::ClusterSource& source, store::Journal& journal);

  void on_began(const std::string& queue, const std::string& qos_class, double waited_s) override;
  bool on_ended(const Job& job, const RunSeen& seen) override;
  // The same of a gang (gang_runs.h).
  bool on_ended(const GangRun& run);
  // The task has entered the history.
  void count(const FinishedTask& task);

 private:
  bool append(const std::function<FinishedTask(const OutcomeFacts&)>& row);
  obs::Counter completed(const std::string& queue, const std::string& qos_class,
                         DeadlineResult result) const;
  obs::Counter failed(const std::string& queue, const std::string& qos_class) const;

  obs::MetricsRegistry& metrics_;
  obs::BoundedNames queues_{obs::kMaxQueues};
  const GpuCatalog* catalog_ = nullptr;
  const Published<Known>* known_ = nullptr;
  const cluster::ClusterSource* source_ = nullptr;
  store::Journal* journal_ = nullptr;
};

}  // namespace slackline::control
