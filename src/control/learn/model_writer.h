// ModelWriter: what is learnt goes to disk first, then into a new fit, then it is published.
//
// Only the (model, GPU type) pairs that got samples are fitted again, with kind "auto": what a
// profile has to what was measured, the others to runs, too. A fit that equals the last one is not
// a new version. If rows cannot be read back, or the database is damaged beyond its mirror, only
// what was learnt is lost: the shipped profiles remain in use, and log, metrics and problem() say
// so. The same holds while the database cannot be opened. At most kMaxLearntModels are learnt or
// described, and at most kMaxModelsOfNamespace of them are names that runs of one namespace
// brought; a run of a further one is left out, counted and logged. Threads: one.
//
// Errors: kUnavailable with the remedy where the database is locked, full or not writable; then
// nothing of the call was stored.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/learn/known.h"
#include "control/learn/model_meters.h"
#include "control/state/store_condition.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/base/stop.h"
#include "store/model_store.h"

namespace slackline::control {

// Beside those of the profiles. A model takes some 14 kB of memory, and every change fits them all.
inline constexpr std::size_t kMaxLearntModels = 2000;
// Of them, that are known from the runs of one namespace first, and from no profile or description.
inline constexpr std::size_t kMaxModelsOfNamespace = kMaxLearntModels / 8;

class ModelWriter {
 public:
  // Reads what is known so far and publishes it. `metrics` and `clock` outlive the writer.
  static Result<std::unique_ptr<ModelWriter>> open(const std::string& path, WorkloadProfiles base,
                                                   obs::MetricsRegistry& metrics,
                                                   const Clock& clock, double busy_timeout_s = 5);

  const Published<Known>& known() const { return known_; }
  // What is wrong with the database, for people; empty = nothing.
  const Published<std::string>& problem() const { return condition_.problem(); }

  // The samples of one model.
  Result<SamplesAccepted> add_samples(const std::vector<ThroughputSample>& samples);
  // kNotFound: no model has that name.
  Result<std::vector<ThroughputSample>> samples(const std::string& model) const;
  Result<ModelView> describe(const ModelDescriptor& descriptor);
  // Everything that was learnt or described; what profiles say of it stays. kNotFound: nothing was.
  Status forget(const std::string& model);
  // True while the database could not be opened yet; a daemon that begins so knows the base.
  bool closed() const { return !store_.closed().empty(); }
  // Tries to open it; what it holds is then known.
  void open_again();
  // Removes from `runs` those that are on disk; the rest is for the next time.
  Status add_runs(std::vector<ThroughputSample>& runs);
  // Fits the pairs whose fit is older than their samples: the work of a predecessor that ended too
  // early, and the reasons of refusals, which are not kept on disk. What was not fitted when it is
  // stopped is fitted by the next start.
  void catch_up(const StopAsked& stop = {});

 private:
  ModelWriter(const std::string& path, store::ModelStore store, WorkloadProfiles base,
              obs::MetricsRegistry& metrics, const Clock& clock);
  void load();
  template <class T>
  T readable(Result<T> rows, std::string_view what);
  Status written(const Status& status, std::string_view what);
  Status check_room(const std::string& model) const;
  Status check_share(const ThroughputSample& run) const;
  bool is_refused(const ThroughputSample& run);
  std::vector<ThroughputSample> samples_to_fit(const store::ModelKey& key) const;
  void refit(const std::set<store::ModelKey>& keys, const StopAsked& stop = {});
  void refit(const store::ModelKey& key);
  void keep(const ProfileEntry& entry, LearntPair& pair);
  void publish();

  store::ModelStore store_;
  StoreCondition condition_;
  WorkloadProfiles base_;
  Learnt learnt_;
  Published<Known> known_;
  ModelMeters meters_;
  const Clock& clock_;
  std::set<std::string> told_;  // namespaces that have all the models of their share
};

}  // namespace slackline::control
