#include "control/plan/calibrator.h"

#include <algorithm>
#include <utility>

#include "control/plan/task_events.h"
#include "obs/log.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

constexpr std::size_t kMostCalibrations = 64;
constexpr double kStopsWait_s = 60;  // for runs that should have made way
constexpr double kSent_s = 30;       // until the watch shows what was made
constexpr double kAsked_s = 3600;
constexpr double kNotAllowed_s = 600;
constexpr double kFailed_s = 60;
constexpr double kLooksEvery_s = 10;  // while something is wanted

std::string made_text(const CalibrationOrder& order) {
  return format("made Job {}: {} iterations as {} on {}, to measure how fast {} trains there",
                order.name, order.iterations, order.shape.str(), order.gpu_type.str(),
                *order.from->intent->workload());
}

std::string refused_text(const CalibrationOrder& order) {
  return format(
      "Slackline may not make Jobs in {}, so the speed of {} is not measured. Whoever owns the "
      "namespace may allow it: kubectl apply -n {} -f deploy/calibration/rolebinding.yaml; or take "
      "off the label slackline.dev/calibration",
      order.from->key.ns, *order.from->intent->workload(), order.from->key.ns);
}

}  // namespace

Calibrator::Calibrator(cluster::ClusterWriter& writer, Post post, obs::MetricsRegistry& metrics,
                       const Clock& clock)
    : writer_(writer),
      post_(std::move(post)),
      metrics_(metrics),
      left_(metrics.gauge("slackline_calibration_gpu_seconds_left")),
      clock_(clock),
      orders_(kMostCalibrations) {}

Calibrator::~Calibrator() {
  stop();
  join();
}

void Calibrator::start() {
  thread_ = std::thread(&Calibrator::run, this);
}

void Calibrator::stop() {
  orders_.close();
}

void Calibrator::join() {
  if (thread_.joinable()) thread_.join();
}

std::optional<std::vector<OwnWrite>> Calibrator::make_way(const ClusterSnapshot& snapshot,
                                                          const core::Queue& queue,
                                                          core::Plan& plan, double now_wall_s) {
  core::InTheWay found = core::calibrations_in_the_way(snapshot, queue, plan, now_wall_s);
  if (!found.any) {
    in_the_way_s_.reset();
    return std::nullopt;
  }
  const double now_s = clock_.steady_s();
  if (!in_the_way_s_) in_the_way_s_ = now_s;
  if (now_s < *in_the_way_s_ + kStopsWait_s) core::leave_out_stops(plan);
  for (std::size_t i = 0; i < found.to_end.size(); ++i)
    count("ended");
  return std::move(found.to_end);
}

double Calibrator::look(const ClusterSnapshot& snapshot, const core::QueueOptions& options,
                        const core::Queue& queue, const CalibrationRules& rules) {
  const double now_s = clock_.steady_s();
  left_.set(core::calibration_gpu_s_left(snapshot, rules, options.now_wall_s));
  if (rules.gpu_minutes_per_day <= 0) return kNever;
  if (core::anybody_waits(snapshot, queue)) {
    idle_s_.reset();
    return kNever;
  }
  if (!idle_s_) idle_s_ = now_s;
  auto trials = core::study_calibrations(snapshot, options, rules).trials;
  std::erase_if(trials,
                [](const core::Trial& trial) { return trial.state != core::TrialState::kWanted; });
  if (trials.empty()) return kNever;
  double next_s = now_s + kLooksEvery_s;
  trials = due(std::move(trials), rules, now_s, next_s);
  for (CalibrationOrder& order :
       core::begin_calibrations(snapshot, options, queue, trials, rules)) {
    const auto [sent, first] =
        made_.try_emplace(format("{}/{}", order.from->key.ns, order.name), now_s);
    if (!first && now_s < sent->second + kSent_s) continue;
    sent->second = now_s;
    orders_.push(std::move(order));
  }
  std::erase_if(made_, [&](const auto& sent) { return now_s >= sent.second + kSent_s; });
  return next_s;
}

std::vector<core::Trial> Calibrator::due(std::vector<core::Trial> trials,
                                         const CalibrationRules& rules, double now_s,
                                         double& next_s) {
  MutexLock lock(mutex_);
  const auto is_over = [now_s](const auto& until) { return until.second <= now_s; };
  std::erase_if(asked_, is_over);
  std::erase_if(refused_, is_over);
  const bool idle = now_s >= *idle_s_ + rules.idle_for_s;
  if (!idle) next_s = std::min(next_s, *idle_s_ + rules.idle_for_s);
  std::vector<core::Trial> due;
  for (core::Trial& trial : trials)
    if (!refused_.contains(trial.from->key.ns) && (idle || asked_.contains(trial.model)))
      due.push_back(std::move(trial));
  return due;
}

void Calibrator::forget() {
  in_the_way_s_.reset();
  idle_s_.reset();
  made_.clear();
  orders_.clear();
}

void Calibrator::ask(const std::string& model) {
  MutexLock lock(mutex_);
  asked_[model] = clock_.steady_s() + kAsked_s;
  refused_.clear();
}

void Calibrator::run() {
  while (const auto order = orders_.wait_pop())
    make(*order);
}

bool Calibrator::make_next() {
  const auto order = orders_.pop();
  if (order) make(*order);
  return order.has_value();
}

void Calibrator::make(const CalibrationOrder& order) {
  const Status made = writer_.calibrate(order);
  if (made) {
    count("made");
    post_(event_on(*order.from, reason::kCalibrationStarted, made_text(order), false));
    return;
  }
  const bool forbidden = made.error().code == ErrorCode::kForbidden;
  {
    MutexLock lock(mutex_);
    refused_[order.from->key.ns] = clock_.steady_s() + (forbidden ? kNotAllowed_s : kFailed_s);
  }
  count(forbidden ? "not_allowed" : "failed");
  obs::log_warning("calibration_not_made", {{"error", made.error().message}});
  if (forbidden)
    post_(event_on(*order.from, reason::kCalibrationNotAllowed, refused_text(order), true));
}

void Calibrator::count(std::string_view result) {
  metrics_.counter("slackline_calibration_runs_total", {{"result", result}}).add();
}

}  // namespace slackline::control
