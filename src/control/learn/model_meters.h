// ModelMeters: the metrics of learning. Models and GPU types are named by users, so no label has
// them; `slackline models` shows each.
//
// Thread-safe.
#pragma once

#include "obs/metrics.h"
#include "slackline/model/model_record.h"
#include "slackline/model/sample.h"

namespace slackline::control {

class ModelMeters {
 public:
  // `metrics` outlives it.
  explicit ModelMeters(obs::MetricsRegistry& metrics);

  void count_sample(const ThroughputSample& sample) const;
  void count_fit(const ProfileEntry& entry, double duration_s) const;
  void count_refused_fit(double duration_s) const;
  void count_refused_run() const { refused_runs_.add(); }

 private:
  obs::MetricsRegistry* metrics_;
  obs::Counter fits_done_;
  obs::Counter fits_refused_;
  obs::Histogram fit_duration_s_;
  obs::Histogram held_out_error_;
  obs::Counter refused_runs_;
};

}  // namespace slackline::control
