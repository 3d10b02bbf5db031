// Calibrator: calibration runs of the planner that leads (core/cluster/calibration.h,
// docs/CALIBRATION.md). It ends them where they are in the way, and makes them once nobody has
// waited for CalibrationRules::idle_for_s, or somebody has asked for a model.
//
//   CalibrationStarted     Normal   on the Job that a run was made of
//   CalibrationNotAllowed  Warning  on that Job: Slackline may not make Jobs in its namespace
//   slackline_calibration_runs_total{result}   made, not_allowed, failed, ended
//   slackline_calibration_gpu_seconds_left     of what they may use in a day; of the leader
//
// Threads: make_way(), look() and forget() are the planner's; ask() from any; Jobs are made on a
// thread of its own, between start() and stop().
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/watch/source.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/mailbox.h"
#include "slackline/base/mutex.h"
#include "slackline/core/cluster/calibration.h"

namespace slackline::control {

class Calibrator {
 public:
  // False where the Event cannot be taken now.
  using Post = std::function<bool(TaskEvent)>;
  // All outlive it.
  Calibrator(cluster::ClusterWriter& writer, Post post, obs::MetricsRegistry& metrics,
             const Clock& clock);
  ~Calibrator();
  Calibrator(const Calibrator&) = delete;
  Calibrator& operator=(const Calibrator&) = delete;

  void start();
  // What is under way is finished, what waits is given up.
  void stop();
  void join();

  // After a plan: the writes that end the runs in its way, once; nullopt: none is. Until they are
  // gone `plan` stops nobody, for at most a minute: what it would do next is then left out, and
  // `queue` is not as it will be.
  std::optional<std::vector<OwnWrite>> make_way(const ClusterSnapshot& snapshot,
                                                const core::Queue& queue, core::Plan& plan,
                                                double now_wall_s);
  // Makes what is to be made now. `queue` is as a plan has left it. Returns when to look again
  // though nothing changes, in steady seconds; infinity: never.
  double look(const ClusterSnapshot& snapshot, const core::QueueOptions& options,
              const core::Queue& queue, const CalibrationRules& rules);
  // Another replica may have led meanwhile.
  void forget();

  // Runs of this model begin as soon as nobody waits, for an hour.
  void ask(const std::string& model);

  // Makes the one that waited longest, on the caller's thread; for tests that start none. False:
  // there is none.
  bool make_next();

 private:
  void run();
  void make(const CalibrationOrder& order);
  void count(std::string_view result);
  // Trials that may begin now, and when others may.
  std::vector<core::Trial> due(std::vector<core::Trial> trials, const CalibrationRules& rules,
                               double now_s, double& next_s);

  cluster::ClusterWriter& writer_;
  const Post post_;
  obs::MetricsRegistry& metrics_;
  obs::Gauge left_;
  const Clock& clock_;
  std::optional<double> in_the_way_s_;  // steady: since when runs are
  std::optional<double> idle_s_;        // since when nobody waits
  std::map<std::string, double> made_;  // "namespace/name" of a run, and when it was sent
  Mailbox<CalibrationOrder> orders_;
  std::thread thread_;

  Mutex mutex_;
  std::map<std::string, double> asked_ SLACKLINE_GUARDED_BY(mutex_);    // models, until when
  std::map<std::string, double> refused_ SLACKLINE_GUARDED_BY(mutex_);  // namespaces, until when
};

}  // namespace slackline::control
