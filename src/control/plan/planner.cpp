#include "control/plan/planner.h"

#include <algorithm>
#include <utility>

#include "control/plan/stop_ledger.h"
#include "control/plan/task_events.h"
#include "control/state/present_situation.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/disrupted_jobs.h"
#include "slackline/core/cluster/growth.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/queue_shares.h"
#include "slackline/core/cluster/unreviewed.h"
#include "slackline/core/handover/begin_growth.h"
#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/handover/disown.h"
#include "slackline/core/handover/take_on.h"
#include "slackline/core/throughput/predictor.h"

namespace slackline::control {
namespace {

constexpr double kPlanRetry_s = 0.25;   // where the actuator did not take every write
constexpr double kMovesAgain_s = 2.0;   // while moves are advised, or runs are shrunk
constexpr double kFollowsEvery_s = 10;  // a replica that does not lead looks for slow nodes
constexpr double kGangGrows_s = 15;     // after its last pod
constexpr double kLookAnyway_s = 1.0;   // timers of the hand-over are seconds

bool stops_nobody(const core::Plan& plan) {
  return std::none_of(plan.effects.begin(), plan.effects.end(),
                      [](const core::Effect& effect) { return effect.ended.has_value(); });
}

// Nothing tells that a controller makes no more pods of a gang, or leaves its leader alone.
bool any_gang_grows(const core::Queue& queue, double now_wall_s) {
  for (core::TaskIndex index = 0; index < queue.size(); ++index) {
    const core::QueueTask& task = queue.task(index);
    if (task.hindrance && task.hindrance->reason == reason::kGangIncomplete &&
        std::any_of(task.pods.begin(), task.pods.end(),
                    [&](const PodPtr& pod) { return now_wall_s < pod->created_s + kGangGrows_s; }))
      return true;
  }
  return false;
}

bool any_shrunk(const core::Queue& queue) {
  for (core::TaskIndex index = 0; index < queue.size(); ++index)
    if (core::is_shrunk(queue.task(index))) return true;
  return false;
}

}  // namespace

core::QueueOptions PlannerOptions::queue_options(const Settings& now, const Known& known,
                                                 const cluster::ClusterSource& source,
                                                 const Clock& clock) const {
  core::QueueOptions options{situation_of(catalog, now.theta, known, source, clock)};
  if (portraits != nullptr) options.portraits = portraits->get();
  options.queues = &now.queues;
  options.reserves = now.policy.reserves();
  options.may_stop = !stock_waits && (now.policy.preempts() || now.queues.any_shares());
  return options;
}

std::string PlannerOptions::fingerprint(const Settings& now) const {
  std::string text = format("{} theta={}", now.policy.name, now.theta);
  for (const GpuTypeRule& type : catalog.types)
    text += format(" {}={}", type.alias.str(), type.cost);
  return format("{:016x}", slackline::fingerprint(text));
}

Planner::Planner(PlannerOptions options, const Published<Known>& known,
                 const cluster::ClusterSource& source, Actuator& actuator,
                 std::function<std::optional<std::int64_t>()> term, obs::MetricsRegistry& metrics,
                 const Clock& clock)
    : options_(std::move(options)),
      known_(known),
      source_(source),
      actuator_(actuator),
      term_of_(std::move(term)),
      clock_(clock),
      meters_(metrics),
      preemption_meters_(metrics),
      mover_(metrics) {}

NextTurn Planner::turn(std::optional<double> woken_s, StopAsked stop) {
  stop_ = std::move(stop);
  if (woken_s && !changed_s_) changed_s_ = woken_s;
  renew_term();
  show_view();
  const double now_s = clock_.steady_s();
  const bool able = term_ && server_minor_ && options_.can_sign() && source_.health().trusted() &&
                    (options_.stops == nullptr || options_.stops->load());
  const SnapshotPtr seen = source_.snapshot();
  const auto ours = able ? hand_over(seen, now_s, woken_s.value_or(now_s)) : std::nullopt;
  may_turn_s_ = turn_pace_.worked(now_s, clock_.steady_s());
  double due_s = now_s + kLookAnyway_s;
  if (!term_) follow(*seen, now_s);
  if (able) {
    const bool due = changed_s_ || now_s >= next_plan_s_;
    if (due && now_s >= may_plan_s_) {
      plan(ours ? *ours : actuator_.overlaid(seen), changed_s_.value_or(now_s));
      may_plan_s_ = plan_pace_.worked(now_s, clock_.steady_s());
    }
    due_s = std::min(due_s, std::max(may_plan_s_, changed_s_ ? 0 : next_plan_s_));
  }
  return {.if_woken_s = std::min(may_turn_s_, may_plan_s_), .at_latest_s = due_s};
}

// kube-scheduler asks any replica for scores.
void Planner::follow(const ClusterSnapshot& seen, double now_s) {
  if (now_s < next_follow_s_) return;
  next_follow_s_ = now_s + kFollowsEvery_s;
  const auto tell_nobody = [](const TaskEvent&) { return false; };
  mover_.see_slow_nodes(seen, *options_.settings->get(), tell_nobody);
}

void Planner::renew_term() {
  const auto term = term_of_();
  meters_.show_leads(term.has_value());
  if (term != term_) {
    term_ = term;
    if (term)
      begin_term();
    else
      end_term();
  }
  if (term_ && !server_minor_) server_minor_ = options_.server_minor();
}

std::optional<Actuator::Overlay> Planner::hand_over(const SnapshotPtr& seen, double now_s,
                                                    double woken_s) {
  stamp_.pin_pods_by = *server_minor_ < kTemplatesAreOpenSince ? &options_.catalog : nullptr;
  // Terms begin again where somebody has deleted the Lease; plans that are there do not.
  if (stamp_.epoch == 0) stamp_.epoch = std::max(*term_, core::latest_epoch(*seen) + 1);
  Actuator::Overlay ours = actuator_.overlaid(seen);
  if (ours.gave_up && !changed_s_) changed_s_ = now_s;  // no event will say so
  auto moves =
      core::hand_over(*ours.snapshot, ours.unanswered, memory_, stamp_, now_s, clock_.wall_s());
  for (OwnWrite& write : core::disown(*ours.snapshot, now_s))
    moves.push_back(std::move(write));
  for (OwnWrite& write : core::take_on(*ours.snapshot, stamp_, now_s, clock_.wall_s()))
    moves.push_back(std::move(write));
  if (moves.empty()) return ours;
  show_view();
  write(std::move(moves), *seen, woken_s);
  return std::nullopt;
}

void Planner::end_term() {
  actuator_.forget();  // what was not sent yet is for the next leader to decide
  if (options_.calibrator != nullptr) options_.calibrator->forget();
  mover_.forget();
  meters_.show_nothing();
}

void Planner::begin_term() {
  stamp_ = {};
  memory_ = {};
  denied_room_.clear();
  unreleased_.clear();
  kept_.clear();
  preemption_meters_.forget();
  mover_.forget();
  near_ends_ = {};
  gang_places_ = {};
  if (options_.calibrator != nullptr) options_.calibrator->forget();
  resize_news_.forget();
  told_unreviewed_.clear();
  actuator_.forget();
  if (options_.stops != nullptr) options_.stops->forget();
  changed_s_ = clock_.steady_s();
}

void Planner::read_stops(const Actuator::Overlay& seen, const core::Policy& policy) {
  core::StopBook book;
  if (options_.stops != nullptr) {
    const core::StopLimits limits = policy.stop_limits().value_or(core::StopLimits{});
    book =
        options_.stops->read(*source_.snapshot(), *seen.snapshot, seen.refused, limits.protect_s);
  } else {
    book.refused = seen.refused;
  }
  for (const auto& [job, refused_release] : seen.unreleased)
    if (clock_.steady_s() < refused_release.stops_from_s) book.unreleased.insert(job);
  if (book != *stop_book_) stop_book_ = std::make_shared<const core::StopBook>(std::move(book));
}

std::unordered_set<Uid> Planner::held_off_at(double now_s) const {
  auto jobs = memory_.held_off(now_s);
  for (const auto& [job, refused] : unreleased_)
    if (now_s < refused.until_s) jobs.insert(job);
  return jobs;
}

// When one of those whose release was refused may be tried, or have others stopped.
double Planner::next_release_s(double now_s) const {
  double next_s = kNever;
  for (const auto& [job, refused] : unreleased_)
    for (const double from_s : {refused.until_s, refused.stops_from_s})
      if (now_s < from_s) next_s = std::min(next_s, from_s);
  return next_s;
}

void Planner::note_who_waits(const core::Plan& plan, const core::Queue& queue,
                             const ClusterSnapshot& snapshot) {
  denied_room_.clear();
  for (const core::TaskIndex task : plan.denied_room)
    denied_room_.insert(queue.task(task).uid);
  kept_.clear();
  for (const core::Reservation& kept : plan.reservations)
    for (const core::PoolNode node : kept.nodes)
      kept_[name_of(queue.task(kept.task))].push_back(
          snapshot.node(queue.pools()[kept.pool].nodes[node]).node->name);
}

void Planner::plan(const Actuator::Overlay& seen, double changed_s) {
  const ClusterSnapshot& snapshot = *seen.snapshot;
  const double began_s = clock_.steady_s();
  const SettingsPtr settings = options_.settings->get();
  unreleased_ = seen.unreleased;
  const auto held_off = held_off_at(began_s);
  const core::RefusedNodes refused = memory_.refused_nodes(snapshot, began_s);
  core::QueueOptions asked = options_.queue_options(*settings, *known_.get(), source_, clock_);
  asked.held_off = &held_off;
  asked.refused = &refused;
  asked.stop = stop_;
  read_stops(seen, settings->policy);
  asked.stop_book = stop_book_.get();
  asked.near_ends = &near_ends_;
  gang_places_.see(snapshot, asked.now_wall_s);
  asked.gang_places = &gang_places_;
  const Mover::Post post = [this](TaskEvent event) {
    return actuator_.add_event(std::move(event));
  };
  asked.slow_nodes = mover_.see_slow_nodes(snapshot, *settings, post);
  core::Queue queue = core::make_queue(snapshot, asked, menus_);
  if (queue.gave_up()) return;
  preemption_meters_.see(snapshot, queue, seen.unanswered, began_s);
  core::Plan plan = core::plan(queue.state(), asked.now_wall_s, settings->policy);
  std::optional<std::vector<OwnWrite>> make_way;
  if (options_.calibrator != nullptr)
    make_way = options_.calibrator->make_way(snapshot, queue, plan, asked.now_wall_s);
  const bool place_is_kept =
      std::any_of(plan.effects.begin(), plan.effects.end(), [&](const core::Effect& effect) {
        return effect.is_start() && !core::may_start(queue.task(effect.task));
      });
  const double ended_s = clock_.steady_s();
  next_plan_s_ = next_plan(plan, place_is_kept, asked.now_wall_s, ended_s);
  const double due_wall_s =
      std::min({core::next_node_down_s(snapshot, asked.now_wall_s),
                core::next_told_stop_s(snapshot, asked.now_wall_s),
                stop_book_->next_bar_ends_s(asked.now_wall_s), gang_places_.next_end_s()});
  next_plan_s_ = std::min(next_plan_s_, ended_s + due_wall_s - asked.now_wall_s);
  next_plan_s_ = std::min(next_plan_s_, core::next_hold_ends_s(snapshot, ended_s));
  next_plan_s_ = std::min(next_plan_s_, next_release_s(began_s));
  changed_s_.reset();
  meters_.planned(ended_s - began_s);
  meters_.show_queue(queue);
  meters_.show_shares(core::share_ledger(queue, settings->queues, options_.catalog));
  note_who_waits(plan, queue, snapshot);
  if (const auto limits = settings->policy.stop_limits())
    near_ends_.see(queue, limits->protect_s, asked.now_wall_s);
  if (const auto budget = settings->policy.budget())
    meters_.show_budgets(queue, queue.state().budgets_left_gpu_s(*budget, asked.now_wall_s));
  auto begun = core::begin_starts(snapshot, seen.unanswered, queue, plan, options_.catalog, stamp_,
                                  asked.now_steady_s, asked.now_wall_s);
  if (!make_way) make_way = change_runs(seen, asked, queue, plan, post);
  for (OwnWrite& write : *make_way)
    begun.push_back(std::move(write));
  // What protects a run ends though nothing changes.
  if (!mover_.advised().empty() || any_shrunk(queue))
    next_plan_s_ = std::min(next_plan_s_, ended_s + kMovesAgain_s);
  if (any_gang_grows(queue, asked.now_wall_s))
    next_plan_s_ = std::min(next_plan_s_, ended_s + kLookAnyway_s);
  resize_news_.look(snapshot, asked, queue, post);
  tell_once(core::pods_that_cannot_come_back(snapshot), loss_of, told_);
  tell_of_unreviewed(snapshot);
  if (!write(std::move(begun), snapshot, changed_s))
    next_plan_s_ = std::min(next_plan_s_, ended_s + kPlanRetry_s);
}

std::vector<OwnWrite> Planner::change_runs(const Actuator::Overlay& seen,
                                           const core::QueueOptions& asked,
                                           const core::Queue& queue, const core::Plan& plan,
                                           const Mover::Post& post) {
  const ClusterSnapshot& snapshot = *seen.snapshot;
  const SettingsPtr settings = options_.settings->get();
  auto writes = mover_.look(snapshot, asked, queue, plan, *settings, post);
  if (writes.empty() && stops_nobody(plan))
    writes = core::begin_growth(snapshot, asked, queue, settings->policy);
  if (options_.calibrator == nullptr || !writes.empty()) return writes;
  const double again_s = options_.calibrator->look(snapshot, asked, queue, settings->calibration);
  next_plan_s_ = std::min(next_plan_s_, again_s);
  return core::remove_calibrations(snapshot, asked.now_wall_s);
}

template <class Object, class EventOf>
void Planner::tell_once(const std::vector<std::shared_ptr<const Object>>& objects, EventOf event_of,
                        std::unordered_set<Uid>& told) {
  std::unordered_set<Uid> now;
  for (const auto& object : objects)
    if (told.contains(object->uid) || actuator_.add_event(event_of(*object)))
      now.insert(object->uid);
  told = std::move(now);
}

void Planner::tell_of_unreviewed(const ClusterSnapshot& snapshot) {
  if (!options_.reviews) return;
  if (!ready_wall_s_) ready_wall_s_ = clock_.wall_s();
  const std::vector<JobPtr> unreviewed = core::unreviewed_jobs(snapshot, *ready_wall_s_);
  meters_.show_unreviewed(unreviewed.size());
  tell_once(unreviewed, not_reviewed, told_unreviewed_);
}

double Planner::next_plan(const core::Plan& plan, bool place_is_kept, double planned_wall_s,
                          double ended_s) const {
  const double asked_s = plan.next_wake_s ? ended_s + (*plan.next_wake_s - planned_wall_s) : kNever;
  return std::min(
      {asked_s, memory_.next_let_in_s(ended_s), place_is_kept ? ended_s + kLookAnyway_s : kNever});
}

bool Planner::write(std::vector<OwnWrite> writes, const ClusterSnapshot& snapshot, double woken_s) {
  if (writes.empty()) return true;
  if (is_asked(stop_)) return false;  // who leads next decides it again
  const SettingsPtr settings = options_.settings->get();
  DecisionStamp stamp{snapshot.version, settings->policy.name, {}};
  stamp.options_hash = format("{}-{}", options_.fingerprint(*settings), known_.get()->fingerprint);
  const auto decided = std::make_shared<const DecisionStamp>(std::move(stamp));
  for (OwnWrite& each : writes)
    each.decision.stamp = decided;
  const std::size_t wanted = writes.size();
  const std::size_t taken = actuator_.perform(std::move(writes));
  if (taken > 0) meters_.first_write(clock_.steady_s() - woken_s);
  return taken == wanted;
}

void Planner::show_view() {
  PlannerView view;
  view.active = true;
  view.leads = term_.has_value();
  if (options_.leader) view.leader = options_.leader();
  if (term_) {
    for (const auto& [uid, backoff] : memory_.backoff)
      view.backoffs[uid] = {backoff.until_s, backoff.reason};
    for (const auto& [uid, refused_release] : unreleased_)
      if (refused_release.times > 0)
        view.backoffs[uid] = {refused_release.until_s, std::string(reason::kReleaseRefused)};
  }
  if (term_) view.denied_room = denied_room_;
  if (term_) view.kept = kept_;
  if (term_) view.moves = mover_.advised();
  if (term_) view.stop_book = stop_book_;
  if (term_) view.refused = memory_.refused_nodes(*source_.snapshot(), clock_.steady_s());
  view.slow_nodes = mover_.slow_nodes();
  if (view != *view_.get()) view_.set(std::move(view));
}

}  // namespace slackline::control
