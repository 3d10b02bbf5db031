#include "cli/telemetry_service.h"

#include <utility>

namespace slackline::cli {

Result<std::unique_ptr<TelemetryService>> TelemetryService::make(const TelemetrySettings& settings,
                                                                 control::UsagePasses::World world,
                                                                 control::Portraits& portraits,
                                                                 obs::MetricsRegistry& metrics) {
  if (settings.prometheus.url.empty()) return std::unique_ptr<TelemetryService>();
  SLACKLINE_ASSIGN(telemetry::PrometheusClient client,
                   telemetry::PrometheusClient::make(settings.prometheus));
  return std::unique_ptr<TelemetryService>(
      new TelemetryService(std::move(client), telemetry::reader_settings(settings),
                           std::move(world), portraits, metrics));
}

TelemetryService::TelemetryService(telemetry::PrometheusClient client,
                                   telemetry::ReaderSettings settings,
                                   control::UsagePasses::World world, control::Portraits& portraits,
                                   obs::MetricsRegistry& metrics)
    : client_(std::move(client)),
      reader_(client_, std::move(settings)),
      passes_(reader_, std::move(world), portraits, metrics, system_clock()) {}

void TelemetryService::stop() {
  passes_.stop();
  passes_.join();
}

}  // namespace slackline::cli
