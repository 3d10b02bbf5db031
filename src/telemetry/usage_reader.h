// UsageReader: asks a Prometheus what tasks used, in one query per number for a whole cluster's
// last minute, or in one per number and 64 pods for the time of one finished run.
//
// It waits at most for its queries' timeouts, and remembers nothing: a time that could not be read
// can be read again while the Prometheus has it.
//
// Thread-safety: all methods.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "net/interrupt.h"
#include "telemetry/prometheus_client.h"
#include "telemetry/usage_queries.h"
#include "telemetry/usage_source.h"
#include "telemetry/usage_timeline.h"

namespace slackline::telemetry {

class UsageJoin;

struct ReaderSettings {
  LabelNames labels;
  int step_s = 60;   // at least; no shorter than two scrape intervals
  int rate_s = 120;  // over which CPU is averaged; no shorter than four
};

ReaderSettings reader_settings(const TelemetrySettings& settings);

// So few pods are named in a query. For the pods of one task there are several, if need be; for
// more pods of several tasks, the whole cluster is asked for.
inline constexpr std::size_t kMostNamedPods = 64;

class UsageReader final : public UsageSource {
 public:
  // `client` outlives it.
  UsageReader(PrometheusClient& client, ReaderSettings settings)
      : client_(client), settings_(std::move(settings)) {}

  Result<UsageReading> read(std::span<const MeasuredTask> tasks, const Window& window) override;
  Result<UsageReading> read_steps(std::span<const MeasuredTask> tasks,
                                  const Window& window) override;
  Result<std::vector<NodeLoad>> node_loads(double end_s) override;
  int step_s() const override { return settings_.step_s; }
  void stop() override { interrupt_.interrupt(); }

 private:
  // What all series say of the tasks, as the samples that `samples` makes of it.
  Result<UsageReading> read_joined(std::span<const MeasuredTask> tasks, const Window& window,
                                   std::vector<UsageSample> (*samples)(const UsageJoin&));
  // Adds all series to the join, and returns the remarks.
  Result<UsageReading> fill(UsageJoin& join, const std::vector<Scope>& scopes, const Steps& steps);
  Result<wire::QueryAnswer> ask(Quantity quantity, const Scope& scope, const Steps& steps);

  PrometheusClient& client_;
  const ReaderSettings settings_;
  net::Interrupt interrupt_;
};

}  // namespace slackline::telemetry
