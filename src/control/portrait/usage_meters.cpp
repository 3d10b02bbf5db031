#include "control/portrait/usage_meters.h"

#include <algorithm>
#include <utility>

namespace slackline::control {
namespace {

constexpr std::string_view kLost = "slackline_usage_lost_total";

constexpr std::array<std::pair<std::string_view, UsageQuality>, 3> kQualities{
    {{"measured", UsageQuality::kMeasured},
     {"shared", UsageQuality::kShared},
     {"unknown", UsageQuality::kUnknown}}};

}  // namespace

std::string_view to_string(UsagePass pass) {
  switch (pass) {
    case UsagePass::kLive:
      return "live";
    case UsagePass::kRun:
      return "run";
    case UsagePass::kCorrection:
      break;
  }
  return "correction";
}

UsageMeters::UsageMeters(obs::MetricsRegistry& metrics)
    : metrics_(metrics),
      last_answer_s_(metrics.gauge("slackline_usage_last_answer_timestamp_seconds")),
      waiting_(metrics.gauge("slackline_usage_runs_waiting")),
      lost_steps_(metrics.counter(kLost, {{"what", "step"}})),
      lost_runs_(metrics.counter(kLost, {{"what", "run"}})) {
  for (const UsagePass pass : {UsagePass::kLive, UsagePass::kRun, UsagePass::kCorrection})
    for (const bool ok : {true, false})
      metrics_.counter("slackline_usage_reads_total",
                       {{"pass", to_string(pass)}, {"result", ok ? "ok" : "failed"}});
  show_tasks({});
}

void UsageMeters::count_read(UsagePass pass, bool ok) const {
  metrics_
      .counter("slackline_usage_reads_total",
               {{"pass", to_string(pass)}, {"result", ok ? "ok" : "failed"}})
      .add();
}

void UsageMeters::show_tasks(const std::vector<UsageSample>& samples) const {
  for (const auto& [name, quality] : kQualities)
    metrics_.gauge("slackline_usage_tasks", {{"gpus", name}})
        .set(static_cast<double>(std::count_if(
            samples.begin(), samples.end(),
            [wanted = quality](const auto& sample) { return sample.gpus == wanted; })));
}

}  // namespace slackline::control
