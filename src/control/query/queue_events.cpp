#include "control/query/queue_events.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

constexpr std::string_view kShadow = "if Slackline planned: ";

constexpr double kSecondsWithin_s = 300;  // until then seconds matter

// Nothing is predicted of a task that was stopped before its pods have ended.
bool waits(const QueueRow& row) {
  return row.position > 0 && !row.uid.empty() && row.reason != reason::kHeldByUser &&
         row.reason != reason::kPodsEnding;
}

// "14:10", "14:10:05" where that is soon, with the day where it is another one than today.
std::string clock_text(double time_s, double now_s) {
  const std::string time = format_rfc3339(time_s);  // 2026-11-26T14:10:00Z
  const std::string hour = time.substr(11, std::abs(time_s - now_s) < kSecondsWithin_s ? 8 : 5);
  const std::string day = time.substr(0, 10);
  return day == format_rfc3339(now_s).substr(0, 10) ? hour : day + " " + hour;
}

std::string span_text(double time_s, std::optional<double> p90_s, double now_s) {
  std::string text = clock_text(time_s, now_s);
  if (p90_s) text += format(" (by {})", clock_text(*p90_s, now_s));
  return text;
}

std::string gpus_text(const QueueRow& row) {
  std::string types;
  for (const GpuType& type : row.accepted_types())
    types += (types.empty() ? "" : " or ") + type.str();
  return types.empty() ? counted(row.gpus, "GPU") : format("{} {}", row.gpus, types);
}

std::string queued_text(const QueueRow& row, double now_s) {
  std::string text;
  if (row.start_s) text += format("starts {}, ", span_text(*row.start_s, row.start_p90_s, now_s));
  if (row.finish_s)
    text += format("{} {}, ", row.cut_short ? "cut short by its time limit" : "done",
                   span_text(*row.finish_s, row.finish_p90_s, now_s));
  if (!row.forecast.empty()) text += format("not predicted: {}, ", row.forecast);
  if (row.deadline_s) text += format("due {}, ", clock_text(*row.deadline_s, now_s));
  if (row.chance) text += format("in time {:.0f} %, ", 100 * *row.chance);
  text += format("behind {}, waits for {} ({})", counted(row.position - 1, "task"), gpus_text(row),
                 row.reason);
  return text + format("; class {}, queue {}; times are UTC", row.qos_class(), row.queue());
}

// Nothing is forecast of it.
std::string never_text(const QueueRow& row) {
  const ReasonFact* why = find_reason(row.reason);
  std::string text = format("will miss its deadline {}: {}", format_rfc3339(*row.deadline_s),
                            find_reason(reason::kNever)->meaning);
  if (why != nullptr) text += format("; {} ({})", why->meaning, why->code);
  return text;
}

std::string risk_text(const QueueRow& row) {
  if (!row.finish_s && !row.margin_below_s()) return never_text(row);
  if (!row.finish_s)
    return format("predicted to end after {}, more than {} after its deadline {}",
                  format_rfc3339(*row.finish_after_s), format_duration(-*row.margin_below_s()),
                  format_rfc3339(*row.deadline_s));
  if (*row.finish_s <= *row.deadline_s)
    return format("predicted to be ended {} by its time limit, before its work is done",
                  format_rfc3339(*row.finish_s));
  return format("predicted to end {}, {} after its deadline {}", format_rfc3339(*row.finish_s),
                format_duration(*row.finish_s - *row.deadline_s), format_rfc3339(*row.deadline_s));
}

}  // namespace

TaskEvent event_on(const QueueRow& row, std::string_view why, std::string message, bool warning) {
  TaskEvent event;
  event.kind = row.gang ? row.gang->kind : std::string(to_string(row.kind));
  if (row.gang) event.api_version = row.gang->api_version;
  event.object = row.key;
  event.uid = row.uid;
  event.reason = why;
  event.message = std::move(message);
  event.warning = warning;
  return event;
}

bool QueueEvents::is_news(const QueueRow& row, const Told& told, double now_s) {
  if (now_s < told.at_s + kAgainAfter_s) return false;
  if (row.start_s.has_value() == told.start_s.has_value()) {
    if (!row.start_s) return false;
    const double wait_s = *told.start_s - told.at_s;
    const double moved_s = std::abs(*row.start_s - *told.start_s);
    if (moved_s <= std::max(kMoved_s, kMovedShare * wait_s)) return false;
  }
  return true;
}

void QueueEvents::post(const std::vector<QueueRow>& rows, double now_s, const Manner& manner,
                       const Post& post) {
  const std::string preface(manner.shadow ? kShadow : "");
  std::unordered_map<Uid, Posted> still;
  still.reserve(rows.size());
  std::vector<std::pair<const QueueRow*, Posted*>> waiting;
  std::vector<std::pair<const QueueRow*, Posted*>> due;
  for (const QueueRow& row : rows) {
    if (!waits(row)) continue;
    Posted& posted = still[row.uid];
    if (const auto before = posted_.find(row.uid); before != posted_.end()) posted = before->second;
    waiting.emplace_back(&row, &posted);
    if (!posted.queued || is_news(row, *posted.queued, now_s)) due.emplace_back(&row, &posted);
  }
  const auto told_s = [](const Posted& posted) {
    return posted.queued ? posted.queued->at_s : -std::numeric_limits<double>::infinity();
  };
  std::stable_sort(due.begin(), due.end(), [&](const auto& a, const auto& b) {
    return told_s(*a.second) < told_s(*b.second);
  });
  for (const auto& [row, posted] : due) {
    TaskEvent told = event_on(*row, reason::kQueued, preface + queued_text(*row, now_s), false);
    told.is_forecast = manner.notes && row->kind == TaskKind::kJob;
    if (!writes_.take(now_s, kWriteBurst, kWrites_per_s, told.is_forecast ? 2 : 1)) break;
    if (post(std::move(told))) posted->queued = Told{now_s, row->start_s};
  }
  for (const auto& [row, posted] : waiting) {
    const bool late = row->predicted_late();
    if (late && !posted->at_risk)
      posted->at_risk =
          post(event_on(*row, reason::kDeadlineAtRisk, preface + risk_text(*row), true));
    else if (!late && row->finish_s)
      posted->at_risk = false;
  }
  posted_ = std::move(still);
}

}  // namespace slackline::control
