// UsageMeters: the metrics of UsagePasses.
//
// Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "obs/metrics.h"
#include "slackline/model/usage.h"

namespace slackline::control {

enum class UsagePass : std::uint8_t { kLive, kRun, kCorrection };
std::string_view to_string(UsagePass pass);

class UsageMeters {
 public:
  // `metrics` outlives it.
  explicit UsageMeters(obs::MetricsRegistry& metrics);

  void count_read(UsagePass pass, bool ok) const;
  void show_answer(double at_s) const { last_answer_s_.set(at_s); }
  void show_waiting(std::size_t runs) const { waiting_.set(static_cast<double>(runs)); }
  // Of one step.
  void show_tasks(const std::vector<UsageSample>& samples) const;
  void count_lost_steps(double steps) const { lost_steps_.add(steps); }
  void count_lost_run() const { lost_runs_.add(); }

 private:
  obs::MetricsRegistry& metrics_;
  obs::Gauge last_answer_s_;
  obs::Gauge waiting_;
  obs::Counter lost_steps_;
  obs::Counter lost_runs_;
};

}  // namespace slackline::control
