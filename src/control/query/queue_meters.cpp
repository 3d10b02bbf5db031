#include "control/query/queue_meters.h"

#include "slackline/model/reason.h"

namespace slackline::control {

QueueMeters::QueueMeters(obs::MetricsRegistry& metrics)
    : at_risk_(metrics.gauge("slackline_queue_at_risk",
                             "Tasks that end in time in most futures, but not in nine of ten.")),
      late_(metrics.gauge("slackline_queue_predicted_late",
                          "Tasks that end after their deadline in most futures.")) {
  for (const ReasonFact& fact : kReasons)
    if (fact.use == ReasonUse::kWaits)
      waiting_.emplace(fact.code,
                       metrics.gauge("slackline_queue_waiting", "Tasks that wait, by reason.",
                                     {{"reason", fact.code}}));
}

void QueueMeters::show(const std::vector<QueueRow>& rows) {
  std::map<std::string_view, double> waiting;
  double at_risk = 0;
  double late = 0;
  for (const QueueRow& row : rows) {
    if (row.position > 0) waiting[row.reason] += 1;
    if (row.predicted_late())
      late += 1;
    else if (row.deadline_s && row.finish_p90_s && *row.finish_p90_s > *row.deadline_s)
      at_risk += 1;
  }
  for (const auto& [reason, gauge] : waiting_)
    gauge.set(waiting[reason]);
  at_risk_.set(at_risk);
  late_.set(late);
}

}  // namespace slackline::control
