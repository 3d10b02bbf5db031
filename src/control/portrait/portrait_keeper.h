// PortraitKeeper: what is told of families goes into their portraits, and from there to disk.
//
// A portrait is forgotten when its last run ended longer ago than it is kept, and the one that ran
// longest ago when there are too many. Rows that cannot be read back are told and left out. While
// the database cannot be written, portraits learn on in memory, and are written later. What is told
// while it is closed is learnt again on top of what it turns out to have.
//
// Threads: one; known() and problem() from any.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/portrait/ended_runs.h"
#include "control/state/store_condition.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/core/portrait/book.h"
#include "slackline/core/portrait/learn.h"
#include "store/portrait_store.h"

namespace slackline::control {

inline constexpr std::size_t kMostPortraits = 10'000;
inline constexpr std::size_t kMostTold = 10'000;

struct PortraitOptions {
  std::string path;               // SQLite file, its folder must exist; kNoFile: in memory
  double keep_s = 365 * 86400.0;  // after the end of a family's last run
  double least_run_s = core::kLeastEvidence_s;  // shorter runs are no evidence
  std::size_t most = kMostPortraits;
  double busy_timeout_s = 5;  // how long a locked file is waited for
};

// A window of a run of the family.
struct ObservedWindow {
  PortraitIdentity identity;
  UsageSample usage;
};

class PortraitKeeper {
 public:
  // Reads what is known so far and publishes it. `metrics` and `clock` outlive it.
  static Result<std::unique_ptr<PortraitKeeper>> open(const PortraitOptions& options,
                                                      obs::MetricsRegistry& metrics,
                                                      const Clock& clock);

  const Published<core::PortraitBook>& known() const { return known_; }
  const Published<std::string>& problem() const { return condition_.problem(); }

  void observe(const std::vector<ObservedWindow>& windows);
  void add_run(const PortraitIdentity& identity, const PortraitRun& run);
  // Unless the portrait remembers the run already.
  void add_unmeasured(const EndedRun& ended);
  void add_rollback(const PortraitIdentity& identity, const ResizeRollback& rollback);
  // In place of what is known of their families.
  void put(const std::vector<Portrait>& portraits);
  void forget(const std::string& key);

  // What changed becomes known.
  void publish();
  // Runs wait for it; windows alone may wait longer.
  bool wants_write() const { return urgent_; }
  bool has_changes() const { return !changed_.empty() || !forgotten_.empty(); }
  // Everything that changed, some hundred at once; what cannot be written stays for the next time.
  // Errors: kUnavailable with the remedy.
  Status write();
  bool closed() const { return !store_.closed().empty(); }
  void open_again();

 private:
  PortraitKeeper(const PortraitOptions& options, store::PortraitStore store,
                 obs::MetricsRegistry& metrics, const Clock& clock);
  void load();
  // Now, and again when the database opens, unless too much was told meanwhile.
  template <class Change>
  void learn(Change change, std::size_t most = kMostTold) {
    change();
    if (closed() && told_.size() < most) told_.emplace_back(std::move(change));
  }
  void take_run(const PortraitIdentity& identity, const PortraitRun& run);
  void drop(const std::string& key);
  // To be changed.
  Portrait& portrait_of(const PortraitIdentity& identity);
  void forget_old();
  void count_resizes(const ResizeRecord& before, const ResizeRecord& now) const;
  Status write_some();

  const PortraitOptions options_;
  store::PortraitStore store_;
  StoreCondition condition_;
  const Clock& clock_;
  obs::MetricsRegistry& metrics_;
  obs::Gauge count_;
  core::PortraitBook book_;
  Published<core::PortraitBook> known_;
  std::set<std::string> changed_;
  std::set<std::string> forgotten_;
  std::vector<std::function<void()>> told_;  // since it has been closed
  bool again_ = false;                       // it is learnt again, and was counted
  bool urgent_ = false;
  bool published_ = true;
};

}  // namespace slackline::control
