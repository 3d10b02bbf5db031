// PlannerMeters: the metrics of the planner.
//
// Not thread-safe, but for the scrape that reads them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "obs/metrics.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/plan.h"
#include "slackline/model/share_ledger.h"

namespace slackline::control {

// Gauges of one name by what people choose, bounded in number: the first have series of their own,
// and what comes after them is added up in one, whose labels are "other".
template <std::size_t kLabels>
class GaugesByName {
 public:
  using Key = std::array<std::string, kLabels>;
  using Values = std::map<Key, double>;
  using Make = std::function<obs::Gauge(const Key&)>;
  static constexpr std::size_t kMost = obs::kMaxSeries - 2;  // with one more, "other"

  explicit GaugesByName(Make make) : make_(std::move(make)) {}

  // Others show 0.
  void show(const Values& values) {
    const Values sums = admitted(values);
    for (const auto& [key, gauge] : gauges_)
      if (!sums.contains(key)) gauge.set(0);
    set(sums);
  }
  // Others show what they did.
  void renew(const Values& values) { set(admitted(values)); }

 private:
  Values admitted(const Values& values) {
    Values sums;
    for (const auto& [key, value] : values)
      sums[admit(key)] += value;
    return sums;
  }
  Key admit(const Key& key) {
    if (gauges_.contains(key)) return key;
    Key named = key;
    if (gauges_.size() >= kMost) named.fill("other");
    if (!gauges_.contains(named)) gauges_.emplace(named, make_(named));
    return named;
  }
  void set(const Values& sums) {
    for (const auto& [key, sum] : sums)
      gauges_.at(key).set(sum);
  }

  Make make_;
  std::map<Key, obs::Gauge> gauges_;
};

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
  obs::Histogram plan_duration_;
  obs::Histogram first_write_;
  obs::Gauge leads_;
  obs::Gauge running_;
  obs::Gauge unreviewed_;
  GaugesByName<2> lengths_;  // by queue and class
  GaugesByName<1> budgets_;  // by queue
  GaugesByName<3> shares_;   // by queue, type and use
};

}  // namespace slackline::control
