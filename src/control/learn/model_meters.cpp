#include "control/learn/model_meters.h"

namespace slackline::control {
namespace {

constexpr const char* kFits = "slackline_model_fits_total";

}  // namespace

ModelMeters::ModelMeters(obs::MetricsRegistry& metrics)
    : metrics_(&metrics),
      fits_done_(metrics.counter(kFits, {{"result", "done"}})),
      fits_refused_(metrics.counter(kFits, {{"result", "refused"}})),
      fit_duration_s_(metrics.histogram("slackline_model_fit_duration_seconds",
                                        {0.001, 0.01, 0.1, 0.5, 1, 5, 30, 120})),
      held_out_error_(metrics.histogram("slackline_model_fit_error_ratio",
                                        {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1})),
      refused_runs_(metrics.counter("slackline_model_runs_refused_total")) {}

void ModelMeters::count_sample(const ThroughputSample& sample) const {
  metrics_->counter("slackline_model_samples_total", {{"origin", to_string(sample.origin)}}).add();
}

void ModelMeters::count_fit(const ProfileEntry& entry, double duration_s) const {
  fits_done_.add();
  fit_duration_s_.observe(duration_s);
  if (entry.held_out_mape) held_out_error_.observe(*entry.held_out_mape / 100);
}

void ModelMeters::count_refused_fit(double duration_s) const {
  fits_refused_.add();
  fit_duration_s_.observe(duration_s);
}

}  // namespace slackline::control
