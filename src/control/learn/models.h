// Models: the daemon's knowledge of how fast things train, and the one thread that adds to it.
//
// Verbs and questions read known(): a pointer to something immutable, never a wait. Whoever adds
// waits until it is on disk, but for record_run(): runs wait in memory (at most 1,000; further ones
// are dropped and counted) while the database is locked or full.
//
// Thread-safe. Errors: kUnavailable with the remedy.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "control/learn/known.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"

namespace slackline::control {

class ModelWriter;

struct ModelsOptions {
  std::string path;              // SQLite file, its folder must exist; kNoFile: in memory
  std::size_t queue_limit = 32;  // calls that wait for the thread
  double busy_timeout_s = 5;     // how long a locked file is waited for
};

class Models {
 public:
  // Opens or makes the file and starts the thread. A disk that refuses is not an error: the
  // base serves, and the thread tries again. `metrics` and `clock` outlive the object.
  static Result<std::unique_ptr<Models>> open(const ModelsOptions& options, WorkloadProfiles base,
                                              obs::MetricsRegistry& metrics, const Clock& clock);
  ~Models();  // stop() and join()
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  const Published<Known>& known() const;
  // What is wrong with keeping it, for people; empty = nothing.
  const Published<std::string>& problem() const;

  // At least one sample, all of one model. Of runs that are known already nothing is added.
  Result<SamplesAccepted> add_samples(std::vector<ThroughputSample> samples);
  // What was learnt of a model, by GPU type in the order in which it came.
  Result<std::vector<ThroughputSample>> samples(std::string model);
  Result<ModelView> describe(ModelDescriptor descriptor);
  // kNotFound where nothing was learnt of it or told.
  Status forget(std::string model);
  void record_run(ThroughputSample run);

  // What was accepted before is still done; later calls fail.
  void stop();
  void join();

 private:
  using Task = std::function<void()>;

  Models(const ModelsOptions& options, std::unique_ptr<ModelWriter> writer,
         obs::MetricsRegistry& metrics);
  template <class T>
  Result<T> ask(std::function<Result<T>()> work);
  void run();
  void write_runs(std::vector<ThroughputSample>& waiting);

  const std::size_t queue_limit_;
  std::unique_ptr<ModelWriter> writer_;  // of the thread
  obs::Counter dropped_runs_;

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
  std::deque<Task> tasks_ SLACKLINE_GUARDED_BY(mutex_);
  std::vector<ThroughputSample> runs_ SLACKLINE_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace slackline::control
