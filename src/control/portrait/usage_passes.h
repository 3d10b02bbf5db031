// UsagePasses: asks the Prometheus what tasks used, and tells it to the portraits.
//
//   live        every step: what running tasks used in the steps that are over. Steps that could
//               not be read are read later, if they are no older than a day. Where an answer is too
//               large, fewer are asked for at once; one that is too large by itself is given up.
//               With them the load of the nodes (node_meters.h), as it is now.
//   run         two steps after the end of a run: what it used from its first start to its end;
//               of one that failed also whether a GPU was full at last
//   correction  a run with a gap is read again after ten minutes, an hour and six hours: what was
//               late may have come
//
// Reading again is harmless: a step is told once, and a run that is told again replaces what it
// said, unless less was measured than before. A replica that leads later goes on: it reads the runs
// that ended meanwhile, and the steps of the last day of which it told none.
//
//   slackline_usage_reads_total{pass,result}           pass: live, run, correction; ok or failed
//   slackline_usage_last_answer_timestamp_seconds      epoch; 0 before the first
//   slackline_usage_tasks{gpus}                        of the last step: measured, shared, unknown
//   slackline_usage_runs_waiting                       that are over and to be read
//   slackline_usage_lost_total{what}                   given up: step, run
//
// Thread-safe; turn() is its own thread's, or a test's.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/watch/source.h"
#include "control/learn/known.h"
#include "control/portrait/ended_runs.h"
#include "control/portrait/idle_holders.h"
#include "control/portrait/node_meters.h"
#include "control/portrait/portraits.h"
#include "control/portrait/usage_meters.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/published.h"
#include "slackline/base/worker.h"
#include "slackline/model/gpu_catalog.h"
#include "telemetry/usage_source.h"

namespace slackline::control {

inline constexpr double kMostBehind_s = 24 * 3600.0;
inline constexpr double kStepsOfAQuery = 60;           // fewer once an answer was too large
inline constexpr std::size_t kMostEndedRuns = 10'000;  // then the oldest is given up

class UsagePasses {
 public:
  struct World {
    const GpuCatalog& catalog;
    const Published<Known>& known;
    const cluster::ClusterSource& source;
    // Whether this replica reads; null: it does.
    std::function<bool()> leads{};
    // Told what each run that is over used; null: nobody is.
    std::function<void(const Uid& run, const MeasuredUse& use)> measured{};
    double look_back_s = 0;  // from the first turn, where the portraits know of nothing measured
  };
  // All outlive it.
  UsagePasses(telemetry::UsageSource& usage, World world, Portraits& portraits,
              obs::MetricsRegistry& metrics, const Clock& clock);

  // To be read. Does not wait.
  void add(const EndedRun& run);
  // Why nothing is measured, for people; empty where all is well.
  const Published<std::string>& problem() const { return problem_; }

  // Who holds GPUs without using them, as the last steps told.
  const Published<std::vector<IdleHolder>>& idle_holders() const { return idle_.known(); }

  void start();
  // Also ends a query in progress.
  void stop();
  void join() { worker_.join(); }

  // What is due now.
  void turn();

 private:
  struct Waiting {
    EndedRun run;
    double due_s = 0;
    std::size_t reads = 0;
  };
  enum class Done : std::uint8_t { kOver, kAgain, kFailed };

  double first_look_s() const;
  bool leads() const;
  void rest();
  bool read_live(double now_s);
  double last_step_s(double now_s) const;
  Done read_part(telemetry::Window window);
  void ask_for_less(const telemetry::Window& window);
  bool read_nodes(double end_s);
  std::vector<telemetry::MeasuredTask> tasks_in(
      const telemetry::Window& window, std::unordered_map<Uid, PortraitIdentity>& families) const;
  void read_runs(double now_s);
  std::vector<Waiting> due_runs(double now_s) const;
  Done read_run(Waiting& waiting, double now_s);
  static Done read_later(Waiting& waiting, double now_s);
  RunOutcome outcome_of(const EndedRun& ended, telemetry::MeasuredTask task);
  void note(UsagePass pass, bool answered);
  void tell(std::string problem);

  telemetry::UsageSource& usage_;
  const World world_;
  Portraits& portraits_;
  const UsageMeters meters_;
  NodeMeters nodes_;
  const Clock& clock_;
  const double step_s_;
  Published<std::string> problem_;
  bool resting_ = false;
  IdleHolders idle_;
  double most_steps_ = kStepsOfAQuery;
  double read_to_s_ = 0;  // the end of the last step that was told; 0: none
  mutable Mutex mutex_;
  std::unordered_map<Uid, Waiting> ended_ SLACKLINE_GUARDED_BY(mutex_);
  Worker worker_;
};

}  // namespace slackline::control
