// TelemetryService: what `serve` runs to know what tasks use: the Prometheus that is configured,
// and the passes that read it. Wiring only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "control/portrait/usage_passes.h"
#include "telemetry/prometheus_client.h"
#include "telemetry/usage_reader.h"

namespace slackline::cli {

class TelemetryService {
 public:
  // Null where no Prometheus is configured. All references outlive it.
  static Result<std::unique_ptr<TelemetryService>> make(const TelemetrySettings& settings,
                                                        control::UsagePasses::World world,
                                                        control::Portraits& portraits,
                                                        obs::MetricsRegistry& metrics);

  // A run that is over, to be read.
  void add(const control::EndedRun& run) { passes_.add(run); }
  // Why nothing is measured; empty where all is well.
  const Published<std::string>& problem() const { return passes_.problem(); }

  const Published<std::vector<IdleHolder>>& idle_holders() const { return passes_.idle_holders(); }

  void start() { passes_.start(); }
  void stop();

 private:
  TelemetryService(telemetry::PrometheusClient client, telemetry::ReaderSettings settings,
                   control::UsagePasses::World world, control::Portraits& portraits,
                   obs::MetricsRegistry& metrics);

  telemetry::PrometheusClient client_;
  telemetry::UsageReader reader_;
  control::UsagePasses passes_;
};

}  // namespace slackline::cli
