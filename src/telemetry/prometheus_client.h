// PrometheusClient: the HTTP API of one Prometheus, or of what speaks it (Thanos, Mimir,
// VictoriaMetrics).
//
// Queries are sent as POST forms, because those for many pods do not fit into a URL. Redirects are
// not followed. The token file is read again for every request, so that a token that is renewed
// counts.
//
// Errors say the URL and what to do: kInvalidArgument (the query, the URL or the answer is wrong,
// or no Prometheus is at this path), kForbidden, kUnavailable, kTimeout, kResourceExhausted.
//
// Thread-safety: all methods.
#pragma once

#include <memory>
#include <string>

#include "message/telemetry_settings.h"
#include "net/http_client.h"
#include "slackline/base/result.h"
#include "wire/telemetry/prometheus_codec.h"

namespace slackline::telemetry {

// The points at which a range query is evaluated: start, start + step, ..., end.
struct TimeGrid {
  double start_s = 0;
  double end_s = 0;
  double step_s = 60;
};

class PrometheusClient {
 public:
  // The URL is checked: kInvalidArgument.
  static Result<PrometheusClient> make(PrometheusSettings settings);

  Result<wire::QueryAnswer> query(const std::string& promql, double time_s,
                                  net::Interrupt* interrupt = nullptr);
  Result<wire::QueryAnswer> query_range(const std::string& promql, const TimeGrid& grid,
                                        net::Interrupt* interrupt = nullptr);

  const PrometheusSettings& settings() const { return settings_; }

 private:
  explicit PrometheusClient(PrometheusSettings settings);
  Result<wire::QueryAnswer> ask(const std::string& path, std::string form,
                                net::Interrupt* interrupt);

  PrometheusSettings settings_;
  std::unique_ptr<net::HttpClient> http_;
};

}  // namespace slackline::telemetry
