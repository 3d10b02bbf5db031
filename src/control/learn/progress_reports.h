// ProgressReports: takes what training Jobs tell of their progress, and notes it on the Job.
//
//   POST -> take() -> memory, by the Job's uid -> annotation `progress` -> watch -> the next plan
//
// Any replica takes a report and writes it itself: there is nothing to decide about it. The
// annotation is what counts, for all replicas and after a restart. It is written when it is older
// than kWriteEvery_s, whoever wrote it; and at once where the Job is stopped, because what it did
// last is where it resumes. A report that waits is written when its time has come.
//
// A task may report kBurst times at once, then every kReportEvery_s. What is kept for Jobs that
// have ended or gone is forgotten.
//
// Thread-safety: take() from any thread; start() and stop() from one; a thread of its own between
// them, which writes.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "obs/metrics.h"
#include "obs/said_once.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/result.h"
#include "slackline/base/token_bucket.h"
#include "slackline/base/worker.h"
#include "slackline/model/progress.h"
#include "slackline/model/snapshot.h"

namespace slackline::cluster {
class ClusterSource;
class ClusterWriter;
}  // namespace slackline::cluster

namespace slackline::control {

class ProgressReports {
 public:
  static constexpr double kBurst = 6;
  static constexpr double kReportEvery_s = 5;
  static constexpr double kWriteEvery_s = 60;
  static constexpr double kRetry_s = 5;  // after a write that failed

  // Null: nothing is written, outside active mode. All references outlive it.
  ProgressReports(const cluster::ClusterSource& source, cluster::ClusterWriter* writer,
                  obs::MetricsRegistry& metrics, const Clock& clock);

  // What counts after the report. kNotFound: there is no such Job, or it has ended.
  // kInvalidArgument: Slackline does not manage it. kResourceExhausted: over the rate of the task.
  // kUnavailable: the cluster is not read yet.
  Result<ProgressNote> take(const ObjectKey& job, const ProgressReport& report);

  void start();
  void stop();  // waits for a write under way
  // Writes what is due now, as the thread does every second.
  void write_due();

 private:
  struct Kept {
    ObjectKey job;
    ProgressNote note;
    bool unwritten = false;
    std::optional<double> wrote_s;  // or tried to; steady
    bool wrote_waiting = false;     // since its last pods ended, while it waits
    double rests_until_s = 0;       // after a write that failed; steady
    TokenBucket reports;
  };
  struct Order {
    ObjectKey job;
    Uid uid;
    ProgressNote note;
    bool waits = false;
  };

  Result<ProgressNote> note(const Job& job, const ProgressReport& report,
                            const ClusterSnapshot& snapshot);
  std::vector<Order> collect_due(const ClusterSnapshot& snapshot);
  bool is_due(const Kept& kept, const Job& job, double now_s) const;
  void settle(const Order& order, bool written);

  const cluster::ClusterSource& source_;
  cluster::ClusterWriter* const writer_;
  obs::Counter taken_;
  obs::Counter over_rate_;
  obs::Counter refused_;
  const Clock& clock_;
  obs::SaidOnce failures_;
  Mutex mutex_;
  std::unordered_map<Uid, Kept> kept_ SLACKLINE_GUARDED_BY(mutex_);
  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
