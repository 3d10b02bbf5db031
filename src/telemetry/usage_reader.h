// UsageReader: asks a Prometheus what tasks used, in one query per number: for a whole cluster's
// last minute, or for the time of one finished run.
//
// It waits at most for its queries' timeouts, and remembers nothing: a time that could not be read
// can be read again while the Prometheus has it.
//
// Thread-safety: all methods.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "slackline/model/usage.h"
#include "telemetry/measured_tasks.h"
#include "telemetry/prometheus_client.h"
#include "telemetry/queries.h"

namespace slackline::telemetry {

struct ReaderSettings {
  LabelNames labels;
  int step_s = 60;   // at least; no shorter than two scrape intervals
  int rate_s = 120;  // over which CPU is averaged; no shorter than four
};

struct UsageReading {
  std::vector<UsageSample> samples;  // one a task, in their order
  // What is missing in all of them, and what the Prometheus warned of.
  std::vector<std::string> remarks;
};

// So few pods are named in a query; for more, the whole cluster is asked for.
inline constexpr std::size_t kMostNamedPods = 64;

class UsageReader {
 public:
  // `client` outlives it.
  UsageReader(PrometheusClient& client, ReaderSettings settings)
      : client_(client), settings_(std::move(settings)) {}

  // What the tasks used while `window`, each only as far as the window is its own. An error if a
  // query fails: then nothing is known of this window.
  Result<UsageReading> read(std::span<const MeasuredTask> tasks, const Window& window,
                            net::Interrupt* interrupt = nullptr);

 private:
  Result<wire::QueryAnswer> ask(Quantity quantity, const QueryText& text, const Steps& steps,
                                net::Interrupt* interrupt);

  PrometheusClient& client_;
  const ReaderSettings settings_;
};

}  // namespace slackline::telemetry
