// StoreCondition: what is wrong with one of the daemon's databases, told in the log, in metrics and
// to /readyz?verbose, with the remedy.
//
//   slackline_NAME_store_degraded         1 while it cannot be written
//   slackline_NAME_store_failures_total   writes that failed
//   slackline_NAME_store_damaged{outcome} found damaged since the start
//
// One thread; problem() from any.
#pragma once

#include <string>
#include <string_view>

#include "obs/metrics.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"
#include "store/kept_database.h"

namespace slackline::control {

class StoreCondition {
 public:
  // `name`: "model", of the model database. `metrics` outlives it.
  StoreCondition(std::string name, std::string path, obs::MetricsRegistry& metrics);

  // For people; empty = nothing is wrong.
  const Published<std::string>& problem() const { return problem_; }

  // After it was opened: `closed` says why it is not open.
  void opened(const std::string& closed, const store::StoreDamage& damage);
  // It could be opened at last.
  void recovered(const store::StoreDamage& damage);
  // The outcome of a write, with the remedy where it may pass by itself; `what` was to be written:
  // "the samples were".
  Status written(const Status& status, std::string_view what, const store::StoreDamage& damage);
  void cannot_read(std::string_view rows, const Error& error);
  void count_failed_write() const { failed_writes_.add(); }
  void tell(const store::StoreDamage& damage);

 private:
  const std::string name_;
  const std::string path_;
  Published<std::string> problem_;
  obs::Counter failed_writes_;
  obs::Gauge degraded_;
  obs::Gauge restored_;
  obs::Gauge lost_;
  std::string refusal_;     // why it cannot be written now; empty = it can
  std::string unreadable_;  // the last thing that could not be read; empty = all could
};

// Errors after which the same write may work later: it is locked, full or not writable.
bool passes_by_itself(const Error& error);

}  // namespace slackline::control
