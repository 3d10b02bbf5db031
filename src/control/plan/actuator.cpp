#include "control/plan/actuator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "control/plan/stop_ledger.h"
#include "control/plan/task_events.h"
#include "control/state/resize_meter.h"
#include "obs/log.h"
#include "slackline/core/handover/hand_over_stage.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

constexpr std::size_t kWriters = 8;  // connections to the API server
constexpr std::size_t kMostOrders = 4096;
constexpr std::size_t kMostBegun = 10'000;  // plans that are remembered
constexpr double kLeastRest_s = 0.2;
constexpr double kMostRest_s = 30;
constexpr double kOneRelease_s = 10;  // a task that was suspended again waits longer than that
constexpr double kSurelyRefused_s = 10;
constexpr double kOneDay_s = 86400;
constexpr double kDoubt_s = 10;  // how long a write without an answer counts as done

std::string_view result_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kForbidden:
      return "forbidden";
    case ErrorCode::kInvalidArgument:
      return "refused";
    case ErrorCode::kResourceExhausted:
      return "throttled";
    case ErrorCode::kTimeout:
      return "timeout";
    default:
      return "unavailable";
  }
}

bool may_have_happened(const Error& error) {
  return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kUnavailable;
}

// By a policy of the cluster, or because the API server takes no such change: it will do so again.
bool is_refused_release(const OwnWrite& write, const Error& error) {
  return write.is<ReleaseJob>() &&
         (error.code == ErrorCode::kForbidden || error.code == ErrorCode::kInvalidArgument);
}

}  // namespace

Actuator::Actuator(cluster::ClusterWriter& writer, obs::MetricsRegistry& metrics,
                   std::function<void()> answered, const Clock& clock)
    : writer_(writer),
      metrics_(metrics),
      starts_(metrics.counter("slackline_plan_starts_total")),
      answered_(std::move(answered)),
      clock_(clock),
      events_(writer, metrics, clock),
      orders_(kMostOrders) {}

Actuator::~Actuator() {
  stop();
  join();
}

void Actuator::start() {
  events_.start();
  for (std::size_t i = 0; i < kWriters; ++i)
    threads_.emplace_back(&Actuator::run, this);
}

void Actuator::stop() {
  events_.stop();
  orders_.close();
}

void Actuator::join() {
  events_.join();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::size_t Actuator::perform(std::vector<OwnWrite> writes) {
  MutexLock lock(mutex_);
  const double now_s = clock_.steady_s();
  std::erase_if(resting_,
                [&](const auto& entry) { return entry.second.until_s + kMostRest_s < now_s; });
  const std::unordered_set<Uid> in_vain = stops_in_vain(writes, now_s);
  std::unordered_set<Uid> taken;
  std::size_t count = 0;
  for (OwnWrite& write : writes) {
    const Uid uid = write.target.uid;
    if (is_blocked(uid, now_s) || in_vain.contains(uid)) continue;
    const auto is_taken = [&](const Uid& stopped) { return taken.contains(stopped); };
    if (!std::all_of(write.after.begin(), write.after.end(), is_taken)) continue;
    std::unordered_set<Uid> awaits(write.after.begin(), write.after.end());
    Order order{writes_.sent(write), std::move(write)};
    if (!awaits.empty())
      held_.push_back({std::move(order), std::move(awaits)});
    else if (!send(std::move(order)))
      continue;
    taken.insert(uid);
    ++count;
  }
  return count;
}

bool Actuator::is_blocked(const Uid& uid, double now_s) const {
  const auto rest = resting_.find(uid);
  return writes_.waiting_for(uid) || (rest != resting_.end() && now_s < rest->second.until_s);
}

// Nobody loses work for a task that is not released now: it rests, or another stop for it is left
// out.
std::unordered_set<Uid> Actuator::stops_in_vain(const std::vector<OwnWrite>& writes,
                                                double now_s) const {
  std::unordered_set<Uid> in_vain;
  for (const OwnWrite& write : writes) {
    bool blocked = !write.after.empty() && is_blocked(write.target.uid, now_s);
    for (const Uid& uid : write.after)
      blocked = blocked || is_blocked(uid, now_s);
    if (blocked) in_vain.insert(write.after.begin(), write.after.end());
  }
  return in_vain;
}

bool Actuator::send(Order order) {
  const std::uint64_t number = order.number;
  const bool taken = orders_.push(std::move(order));
  if (!taken) writes_.failed(number);
  return taken;
}

// Of those that wait for this stop.
void Actuator::let_go(const Uid& stopped, bool written) {
  std::vector<Held> still;
  for (Held& held : held_) {
    if (held.awaits.erase(stopped) == 0 || (written && !held.awaits.empty()))
      still.push_back(std::move(held));
    else if (written)
      send(std::move(held.order));
    else
      writes_.failed(held.order.number);
  }
  held_ = std::move(still);
}

Actuator::Overlay Actuator::overlaid(const SnapshotPtr& snapshot) {
  Overlay overlay{snapshot, {}};
  std::vector<OwnWrite> writes;
  {
    MutexLock lock(mutex_);
    overlay.gave_up = writes_.settle(*snapshot, clock_.steady_s());
    writes = writes_.writes();
    overlay.unanswered = writes_.unanswered();
    for (const auto& [uid, rest] : resting_)
      if (rest.spared && clock_.steady_s() < rest.until_s) overlay.refused.insert(uid);
    std::erase_if(unreleased_, [&](const auto& entry) {
      const Job* job = snapshot->find_job(entry.second.job.ns, entry.second.job.name);
      return job == nullptr || job->uid != entry.first || !job->suspended;
    });
    overlay.unreleased = unreleased_;
  }
  if (!writes.empty())
    overlay.snapshot =
        std::make_shared<const ClusterSnapshot>(core::with_writes(*snapshot, writes));
  return overlay;
}

void Actuator::forget() {
  MutexLock lock(mutex_);
  writes_.clear();
  held_.clear();
  orders_.clear();
}

void Actuator::run() {
  while (const auto order = orders_.wait_pop())
    carry_out(*order);
}

bool Actuator::send_next() {
  const auto order = orders_.pop();
  if (order) carry_out(*order);
  return order.has_value();
}

Result<std::string> Actuator::send_out(const OwnWrite& write) {
  if (ledger_ != nullptr) SLACKLINE_TRY(ledger_->book(write));
  auto version = writer_.write(write);
  if (ledger_ != nullptr && !version && !may_have_happened(version.error()))
    ledger_->take_back(write);
  return version;
}

void Actuator::carry_out(const Order& order) {
  auto version = send_out(order.write);
  count(order.write, version ? "written" : result_of(version.error()));
  if (version) written_(order.write);
  const bool expected = version || version.error().code == ErrorCode::kConflict ||
                        version.error().code == ErrorCode::kNotFound ||
                        (version.error().code == ErrorCode::kResourceExhausted &&
                         order.write.is<EvictPod>());  // a disruption budget forbids it
  if (!expected) obs::log_warning("write_failed", {{"error", version.error().message}});
  if (version) tell_of(order.write);
  const std::string answer = version ? "" : version.error().message;
  bool refused = false;
  {
    MutexLock lock(mutex_);
    refused = settle(order, std::move(version));
  }
  if (refused) events_.add(release_refused(order.write, answer));
  answered_();
}

bool Actuator::settle(const Order& order, Result<std::string> version) {
  let_go(order.write.target.uid, version.has_value());
  const auto* evict = order.write.as<EvictPod>();
  if (version) {
    if (evict != nullptr)  // until the watch shows it
      writes_.doubtful(order.number, clock_.steady_s() + kDoubt_s);
    writes_.written(order.number, *std::move(version));
    if (const PlanNote* plan = order.write.plan()) count_start(*plan);
    resting_.erase(order.write.target.uid);
    if (order.write.is<ReleaseJob>()) unreleased_.erase(order.write.target.uid);
    return false;
  }
  const double now_s = clock_.steady_s();
  if (may_have_happened(version.error()))
    writes_.doubtful(order.number, now_s + kDoubt_s);
  else
    writes_.failed(order.number);
  Rest& rest = resting_[order.write.target.uid];
  rest.step_s = std::clamp(2 * rest.step_s, kLeastRest_s, kMostRest_s);
  rest.until_s = now_s + rest.step_s;
  // After a conflict the Job is decided on again; else it would fail again.
  const bool stops = order.write.is<StopJob>() && version.error().code != ErrorCode::kConflict;
  rest.spared = evict != nullptr || stops;
  return is_refused_release(order.write, version.error()) && note_refused(order.write, now_s);
}

// Refusals of a few seconds are those of an API server that starts, or of rights that come.
bool Actuator::note_refused(const OwnWrite& write, double now_s) {
  RefusedRelease first;
  first.job = write.target.key;
  first.since_s = now_s;
  RefusedRelease& refused = unreleased_.try_emplace(write.target.uid, first).first->second;
  if (now_s < refused.since_s + kSurelyRefused_s) return false;
  const double times = std::ldexp(1.0, std::min(refused.times++, 20));
  refused.until_s = now_s + std::min(core::kLeastBackoff_s * times, core::kMostBackoff_s);
  refused.stops_from_s = now_s + std::min(core::kMostBackoff_s * times, kOneDay_s);
  return true;
}

void Actuator::count(const OwnWrite& write, std::string_view result) {
  metrics_.counter("slackline_own_writes_total", {{"kind", write.word()}, {"result", result}})
      .add();
}

// Pods that are planned without a Job share a plan.
void Actuator::count_start(const PlanNote& plan) {
  if (begun_.size() >= kMostBegun) begun_.clear();
  if (begun_.insert(plan.id).second) starts_.add();
}

void Actuator::tell_of(const OwnWrite& write) {
  auto event = event_of(write);
  if (!event || (event->reason == reason::kReleased && told_lately(event->uid))) return;
  const bool known = find_reason(event->reason) != nullptr;
  metrics_
      .counter("slackline_task_moves_total",
               {{"reason", known ? std::string_view(event->reason) : "other"}})
      .add();
  count_stop(write);
  events_.add(*std::move(event));
  if (auto resized = resize_of(write)) {
    count_resize(metrics_, kResizeApplied);
    events_.add(*std::move(resized));
  }
}

void Actuator::count_stop(const OwnWrite& write) {
  const auto count = [&](const auto& stop, std::string_view why) {
    metrics_.counter("slackline_lost_gpu_seconds_total").add(stop.lost_gpu_s);
    metrics_.counter("slackline_deadlines_risked_total").add(stop.risks_deadline ? 1 : 0);
    metrics_
        .counter("slackline_preemptions_total", {{"reason", why}, {"class", to_string(stop.qos)}})
        .add();
  };
  if (const auto* evict = write.as<EvictPod>()) count(*evict, write.decision.reason);
  const auto* stop = write.as<StopJob>();
  if (stop == nullptr) return;
  count(*stop, stop->disruption ? to_string(stop->disruption->kind) : write.decision.reason);
}

// The gates of a task that go in two rounds are one release.
bool Actuator::told_lately(const Uid& released) {
  MutexLock lock(mutex_);
  const double now_s = clock_.steady_s();
  if (released_.size() >= kMostOrders) released_.clear();
  const auto [at, first] = released_.try_emplace(released, now_s);
  const bool lately = !first && now_s < at->second + kOneRelease_s;
  at->second = now_s;
  return lately;
}

}  // namespace slackline::control
