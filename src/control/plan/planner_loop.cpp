#include "control/plan/planner_loop.h"

#include <algorithm>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/disown.h"
#include "slackline/core/throughput/predictor.h"

namespace slackline::control {
namespace {

constexpr double kPlanRetry_s = 0.25;  // where the actuator did not take every write
constexpr double kLookAnyway_s = 1.0;  // timers of the hand-over are seconds

// Fine where the goal is: 0.25 s.
std::vector<double> first_write_bounds_s() {
  return {0.005, 0.01,  0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175,
          0.2,   0.225, 0.25,  0.3,  0.5,   1,   2.5,   5};
}

}  // namespace

core::QueueOptions PlannerOptions::ask(const Settings& now, const Known& known,
                                       const Clock& clock) const {
  core::QueueOptions asked;
  asked.catalog = &catalog;
  asked.predictor = known.predictor;
  asked.theta = now.theta;
  asked.queues = &now.queues;
  asked.now_wall_s = clock.wall_s();
  asked.now_steady_s = clock.steady_s();
  return asked;
}

std::string PlannerOptions::fingerprint(const Settings& now) const {
  std::string text = format("{} theta={}", now.policy.name, now.theta);
  for (const GpuTypeRule& type : catalog.types)
    text += format(" {}={}", type.alias.str(), type.cost);
  return format("{:016x}", slackline::fingerprint(text));
}

PlannerLoop::PlannerLoop(PlannerOptions options, const Published<Known>& known,
                         const cluster::ClusterSource& source, Actuator& actuator,
                         std::function<std::optional<std::int64_t>()> term,
                         obs::MetricsRegistry& metrics, const Clock& clock)
    : options_(std::move(options)),
      known_(known),
      source_(source),
      actuator_(actuator),
      term_of_(std::move(term)),
      metrics_(metrics),
      clock_(clock),
      plan_duration_(metrics.histogram("slackline_plan_duration_seconds",
                                       "One plan of the whole queue.", obs::latency_bounds_s())),
      first_write_(
          metrics.histogram("slackline_event_to_first_write_seconds",
                            "From the change that woke the planner to its first write being sent.",
                            first_write_bounds_s())),
      starts_(metrics.counter("slackline_plan_starts_total", "Tasks that plans have started.")),
      refused_(metrics.counter("slackline_plan_refused_effects_total",
                               "Effects that cannot be carried out: stops and shrinks.")),
      leads_(metrics.gauge("slackline_leader", "1 while this replica plans.")),
      running_(metrics.gauge("slackline_queue_running", "Tasks with a plan of Slackline.")) {}

PlannerLoop::~PlannerLoop() {
  stop();
  join();
}

void PlannerLoop::start() {
  thread_ = std::thread(&PlannerLoop::run, this);
}

void PlannerLoop::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  cv_.notify_all();
}

bool PlannerLoop::is_stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void PlannerLoop::join() {
  if (thread_.joinable()) thread_.join();
}

void PlannerLoop::wake() {
  MutexLock lock(mutex_);
  if (!woken_) woken_s_ = clock_.steady_s();
  woken_ = true;
  cv_.notify_all();
}

void PlannerLoop::run() {
  double due_s = 0;
  for (;;) {
    double woken_s = 0;
    {
      MutexLock lock(mutex_);
      const auto sleep_s = [&] {
        return (woken_ ? std::min(may_turn_s_, may_plan_s_) : due_s) - clock_.steady_s();
      };
      while (!stopping_ && sleep_s() > 0)
        cv_.wait_for_s(mutex_, sleep_s());
      if (stopping_) return;
      woken_s = woken_ ? woken_s_ : clock_.steady_s();
      if (woken_ && !changed_s_) changed_s_ = woken_s;
      woken_ = false;
    }
    due_s = turn(woken_s);
  }
}

double PlannerLoop::turn(double woken_s) {
  renew_term();
  show_view();
  const double now_s = clock_.steady_s();
  const bool able = term_ && server_minor_ && options_.can_sign() && source_.health().trusted();
  const SnapshotPtr seen = source_.snapshot();
  const SnapshotPtr ours = able ? hand_over(seen, now_s, woken_s) : nullptr;
  may_turn_s_ = turn_pace_.worked(now_s, clock_.steady_s());
  if (!able) return now_s + kLookAnyway_s;
  const bool due = changed_s_ || now_s >= next_plan_s_;
  if (due && now_s >= may_plan_s_) {
    plan(ours ? ours : actuator_.overlaid(seen).snapshot, changed_s_.value_or(now_s));
    may_plan_s_ = plan_pace_.worked(now_s, clock_.steady_s());
  }
  return std::min(now_s + kLookAnyway_s, std::max(may_plan_s_, changed_s_ ? 0 : next_plan_s_));
}

void PlannerLoop::renew_term() {
  const auto term = term_of_();
  leads_.set(term ? 1 : 0);
  if (term != term_) {
    term_ = term;
    if (term)
      begin_term(*term);
    else
      actuator_.forget();  // what was not sent yet is for the next leader to decide
  }
  if (term_ && !server_minor_) server_minor_ = options_.server_minor();
}

SnapshotPtr PlannerLoop::hand_over(const SnapshotPtr& seen, double now_s, double woken_s) {
  stamp_.pin_pods_by = *server_minor_ < kTemplatesAreOpenSince ? &options_.catalog : nullptr;
  const Actuator::Overlay ours = actuator_.overlaid(seen);
  if (ours.gave_up && !changed_s_) changed_s_ = now_s;  // no event will say so
  auto moves = core::hand_over(*ours.snapshot, ours.unanswered, memory_, stamp_, now_s);
  for (OwnWrite& write : core::disown(*ours.snapshot, now_s))
    moves.push_back(std::move(write));
  if (moves.empty()) return ours.snapshot;
  show_view();
  write(std::move(moves), *seen, woken_s);
  return nullptr;
}

void PlannerLoop::begin_term(std::int64_t term) {
  stamp_ = {};
  stamp_.epoch = term;
  memory_ = {};
  actuator_.forget();
  changed_s_ = clock_.steady_s();
}

void PlannerLoop::plan(const SnapshotPtr& snapshot, double changed_s) {
  const double began_s = clock_.steady_s();
  const SettingsPtr settings = options_.settings->get();
  const auto held_off = memory_.held_off(began_s);
  core::QueueOptions asked = options_.ask(*settings, *known_.get(), clock_);
  asked.held_off = &held_off;
  asked.stop = [this] { return is_stopping(); };
  core::Queue queue = core::make_queue(*snapshot, asked, menus_);
  if (queue.gave_up()) return;
  const core::Plan plan = core::plan(queue.state(), asked.now_wall_s, settings->policy);
  bool place_is_kept = false;
  for (const core::Effect& effect : plan.effects) {
    if (!effect.is_start())
      refused_.add();
    else if (core::may_start(queue.task(effect.task)))
      starts_.add();
    else
      place_is_kept = true;
  }
  const double ended_s = clock_.steady_s();
  next_plan_s_ = plan.next_wake_s ? ended_s + (*plan.next_wake_s - asked.now_wall_s) : kNever;
  next_plan_s_ = std::min(next_plan_s_, memory_.next_let_in_s(ended_s));
  if (place_is_kept) next_plan_s_ = std::min(next_plan_s_, ended_s + kLookAnyway_s);
  changed_s_.reset();
  plan_duration_.observe(ended_s - began_s);
  show_queue(queue);
  auto begun = core::begin_starts(*snapshot, queue, plan, options_.catalog, stamp_);
  if (!write(std::move(begun), *snapshot, changed_s))
    next_plan_s_ = std::min(next_plan_s_, ended_s + kPlanRetry_s);
}

bool PlannerLoop::write(std::vector<OwnWrite> writes, const ClusterSnapshot& snapshot,
                        double woken_s) {
  if (writes.empty()) return true;
  if (is_stopping()) return false;  // who leads next decides it again
  const SettingsPtr settings = options_.settings->get();
  DecisionStamp stamp{snapshot.version, settings->policy.name, {}};
  stamp.options_hash = format("{}-{}", options_.fingerprint(*settings), known_.get()->fingerprint);
  const auto decided = std::make_shared<const DecisionStamp>(std::move(stamp));
  for (OwnWrite& each : writes)
    each.decision.stamp = decided;
  const std::size_t wanted = writes.size();
  const std::size_t taken = actuator_.perform(std::move(writes));
  if (taken > 0) first_write_.observe(clock_.steady_s() - woken_s);
  return taken == wanted;
}

void PlannerLoop::show_queue(const core::Queue& queue) {
  std::map<std::pair<std::string, std::string>, double> lengths;
  for (core::TaskIndex task = 0; task < queue.size(); ++task) {
    const core::QueueTask& waiting = queue.task(task);
    if (waiting.plan) continue;
    lengths[{queue_of(*waiting.intent, waiting.key.ns),
             std::string(to_string(waiting.intent->qos_class.value_or(QosClass::kNormal)))}] += 1;
  }
  for (auto& [key, gauge] : lengths_)
    if (!lengths.contains(key)) gauge.set(0);
  for (const auto& [key, length] : lengths) {
    const auto at = lengths_.find(key);
    const obs::Gauge gauge =
        at != lengths_.end()
            ? at->second
            : metrics_.gauge("slackline_queue_length", "Tasks that wait, by queue and class.",
                             {{"queue", key.first}, {"class", key.second}});
    lengths_.emplace(key, gauge);
    gauge.set(length);
  }
  running_.set(static_cast<double>(queue.state().running().size()));
}

void PlannerLoop::show_view() {
  PlannerView view;
  view.active = true;
  view.leads = term_.has_value();
  if (options_.leader) view.leader = options_.leader();
  if (term_)
    for (const auto& [uid, backoff] : memory_.backoff)
      view.backoffs[uid] = {backoff.until_s, backoff.reason};
  if (view != *view_.get()) view_.set(std::move(view));
}

}  // namespace slackline::control
