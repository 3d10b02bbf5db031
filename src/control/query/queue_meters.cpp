#include "control/query/queue_meters.h"

#include "slackline/model/reason.h"
#include "slackline/model/spared.h"

namespace slackline::control {

QueueMeters::QueueMeters(obs::MetricsRegistry& metrics)
    : at_risk_(metrics.gauge("slackline_queue_at_risk")),
      late_(metrics.gauge("slackline_queue_predicted_late")),
      could_start_(metrics.gauge("slackline_queue_could_start")) {
  for (const ReasonFact& fact : kReasons)
    if (fact.use == ReasonUse::kWaits)
      waiting_.emplace(fact.code,
                       metrics.gauge("slackline_queue_waiting", {{"reason", fact.code}}));
  for (const std::string_view code : spared_codes())
    spared_.emplace(code, metrics.gauge("slackline_spared_gpus", {{"reason", std::string(code)}}));
}

void QueueMeters::show(const std::vector<QueueRow>& rows, double made_s) {
  std::map<std::string_view, double> waiting;
  std::map<std::string_view, double> spared_gpus;
  double at_risk = 0;
  double late = 0;
  double could_start = 0;
  for (const QueueRow& row : rows) {
    if (!row.reason.empty()) waiting[row.reason] += 1;
    if (!row.spared.empty()) spared_gpus[row.spared] += static_cast<double>(row.gpus);
    if (row.position > 0 && row.start_p90_s && *row.start_p90_s <= made_s) could_start += 1;
    if (row.predicted_late())
      late += 1;
    else if (row.deadline_s && row.finish_p90_s && *row.finish_p90_s > *row.deadline_s)
      at_risk += 1;
  }
  for (const auto& [reason, gauge] : waiting_)
    gauge.set(waiting[reason]);
  for (const auto& [reason, gauge] : spared_)
    gauge.set(spared_gpus[reason]);
  at_risk_.set(at_risk);
  late_.set(late);
  could_start_.set(could_start);
}

}  // namespace slackline::control
