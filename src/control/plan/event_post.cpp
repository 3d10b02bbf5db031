#include "control/plan/event_post.h"

#include "obs/log.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

constexpr double kRemembered_s = 3600;  // as long as API servers keep Events
constexpr std::size_t kMostObjects = 20000;

}  // namespace

EventPost::EventPost(cluster::ClusterWriter& writer, obs::MetricsRegistry& metrics,
                     const Clock& clock)
    : writer_(writer), metrics_(metrics), clock_(clock) {}

EventPost::~EventPost() {
  stop();
  join();
}

void EventPost::start() {
  thread_ = std::thread(&EventPost::run, this);
}

void EventPost::stop() {
  waiting_.close();
}

void EventPost::join() {
  if (thread_.joinable()) thread_.join();
}

bool EventPost::add(TaskEvent event) {
  const std::string reason = event.reason;
  const bool taken = queue(std::move(event));
  if (!taken) count(reason, "refused");
  return taken;
}

bool EventPost::queue(TaskEvent event) {
  MutexLock lock(mutex_);
  if (objects_.size() >= kMostObjects) forget_old();
  Object& object = objects_[event.uid];
  if (!take(object)) return false;
  Series& series = object.series[event.reason];
  series.last_s = clock_.wall_s();
  if (++series.count == 1) series.first_s = series.last_s;
  event.count = series.count;
  event.first_s = series.first_s;
  event.last_s = series.last_s;
  const auto is_same = [uid = event.uid, reason = event.reason](const TaskEvent& other) {
    return other.uid == uid && other.reason == reason;
  };
  return waiting_.push_over(std::move(event), is_same);
}

bool EventPost::take(Object& object) {
  if (waiting_.full()) return false;
  const double now_s = clock_.steady_s();
  return object.bucket.take(now_s, kObjectBurst, 1 / kObjectRefill_s) &&
         all_.take(now_s, kBurst, kRefill_per_s);
}

void EventPost::forget_old() {
  const double before_s = clock_.steady_s() - kRemembered_s;
  std::erase_if(objects_,
                [&](const auto& entry) { return entry.second.bucket.filled_s < before_s; });
  if (objects_.size() >= kMostObjects) objects_.clear();
}

void EventPost::run() {
  while (const auto event = waiting_.wait_pop())
    post(*event);
}

bool EventPost::post_next() {
  const auto event = waiting_.pop();
  if (event) post(*event);
  return event.has_value();
}

void EventPost::post(const TaskEvent& event) {
  const Status posted = writer_.post(event);
  count(event.reason, posted ? "posted" : "failed");
  if (!posted) obs::log_warning("event_not_posted", {{"error", posted.error().message}});
  if (event.is_forecast) note(event);
}

void EventPost::note(const TaskEvent& event) {
  const Status noted = writer_.note_forecast(event);
  metrics_.counter("slackline_forecast_notes_total", {{"result", noted ? "written" : "failed"}})
      .add();
  // It is gone, or was released meanwhile.
  const bool gone = !noted && (noted.error().code == ErrorCode::kNotFound ||
                               noted.error().code == ErrorCode::kConflict);
  if (!noted && !gone) obs::log_warning("forecast_not_noted", {{"error", noted.error().message}});
}

void EventPost::count(const std::string& reason, std::string_view result) {
  const bool known = find_reason(reason) != nullptr;
  metrics_
      .counter("slackline_events_total",
               {{"reason", known ? std::string_view(reason) : "other"}, {"result", result}})
      .add();
}

}  // namespace slackline::control
