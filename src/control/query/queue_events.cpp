#include "control/query/queue_events.h"

#include <algorithm>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

bool waits(const QueueRow& row) {
  return row.position > 0 && !row.uid.empty() && row.reason != reason::kHeldByUser;
}

TaskEvent event(const QueueRow& row, std::string_view reason, std::string message, bool warning) {
  TaskEvent event;
  event.kind = row.kind;
  event.object = row.key;
  event.uid = row.uid;
  event.reason = reason;
  event.message = std::move(message);
  event.warning = warning;
  return event;
}

std::string queued_text(const QueueRow& row, std::size_t waiting) {
  std::string text = format("position {} of {} that wait, class {}, queue {}", row.position,
                            waiting, row.qos_class, row.queue);
  if (!row.forecast.empty()) text += format("; not predicted: {}", row.forecast);
  if (row.start_s) text += format("; predicted to start {}", format_rfc3339(*row.start_s));
  if (row.finish_s) text += format(" and end {}", format_rfc3339(*row.finish_s));
  if (row.deadline_s) text += format("; deadline {}", format_rfc3339(*row.deadline_s));
  return text;
}

std::string risk_text(const QueueRow& row) {
  if (!row.finish_s)
    return format("predicted to end after {}, more than {} after its deadline {}",
                  format_rfc3339(*row.finish_after_s), format_duration(-*row.margin_below_s()),
                  format_rfc3339(*row.deadline_s));
  return format("predicted to end {}, {} after its deadline {}", format_rfc3339(*row.finish_s),
                format_duration(*row.finish_s - *row.deadline_s), format_rfc3339(*row.deadline_s));
}

}  // namespace

void QueueEvents::post(const std::vector<QueueRow>& rows, const Post& post) {
  const auto waiting = static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const QueueRow& row) { return row.position > 0; }));
  std::unordered_map<Uid, Posted> still;
  still.reserve(waiting);
  for (const QueueRow& row : rows) {
    if (!waits(row)) continue;
    Posted& posted = still[row.uid];
    if (const auto before = posted_.find(row.uid); before != posted_.end()) posted = before->second;
    if (!posted.queued)
      posted.queued = post(event(row, reason::kQueued, queued_text(row, waiting), false));
    const bool late = row.predicted_late();
    if (late && !posted.at_risk)
      posted.at_risk = post(event(row, reason::kDeadlineAtRisk, risk_text(row), true));
    else if (!late && row.finish_s)
      posted.at_risk = false;
  }
  posted_ = std::move(still);
}

}  // namespace slackline::control
