// PlannerMeters: the metrics of the planner.
//
// Not thread-safe, but for the scrape that reads them.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "obs/metrics.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/plan.h"
#include "slackline/model/share_ledger.h"

namespace slackline::control {

class PlannerMeters {
 public:
  explicit PlannerMeters(obs::MetricsRegistry& metrics);  // which outlives it

  void show_leads(bool leads) { leads_.set(leads ? 1 : 0); }
  void show_queue(const core::Queue& queue);
  // What each queue may still make others lose, GPU-seconds.
  void show_budgets(const core::Queue& queue, const std::vector<double>& left_gpu_s);
  void show_shares(const ShareLedger& ledger);
  void show_unreviewed(std::size_t jobs) { unreviewed_.set(static_cast<double>(jobs)); }
  void show_nothing();  // another replica leads, and shows it
  void planned(double took_s) { plan_duration_.observe(took_s); }
  void first_write(double after_s) { first_write_.observe(after_s); }

 private:
  obs::MetricsRegistry& metrics_;
  obs::Histogram plan_duration_;
  obs::Histogram first_write_;
  obs::Gauge leads_;
  obs::Gauge running_;
  obs::Gauge unreviewed_;
  std::map<std::pair<std::string, std::string>, obs::Gauge> lengths_;  // by queue and class
  std::map<std::string, obs::Gauge> budgets_;                          // by queue
  std::map<std::array<std::string, 3>, obs::Gauge> shares_;            // by queue, type and use
};

}  // namespace slackline::control
