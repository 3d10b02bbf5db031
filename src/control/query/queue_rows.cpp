#include "control/query/queue_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/saturating.h"
#include "slackline/core/answers/explain.h"
#include "slackline/core/answers/refusals.h"
#include "slackline/core/answers/told_forecast.h"
#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/lost_members.h"
#include "slackline/core/cluster/queue_shares.h"
#include "slackline/core/cluster/quota_menu.h"
#include "slackline/core/cluster/resizing.h"
#include "slackline/core/cluster/room_wait.h"
#include "slackline/core/cluster/run_progress.h"
#include "slackline/core/cluster/spared_runs.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/plan.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

constexpr std::string_view kApplied = "applied";
constexpr std::string_view kSuggested = "suggested";

std::optional<double> within_horizon(double time_s) {
  return std::isfinite(time_s) ? std::optional(time_s) : std::nullopt;
}

auto key_of(const QueueRow& row) {
  using Key = std::tuple<bool, double, double, double, ObjectKey, std::string>;
  const std::string kind(to_string(row.kind));
  if (row.state != TaskState::kWaiting) return Key{false, 0, 0, 0, row.key, kind};
  return Key{
      true, row.start_s.value_or(kNever), row.deadline_s.value_or(kNever), row.created_s, row.key,
      kind};
}

// Without what a plan, the cluster or a forecast says of it.
QueueRow as_written(const core::QueueTask& task, double now_s) {
  QueueRow row;
  row.key = task.key;
  row.uid = task.uid;
  row.kind = task.kind;
  row.intent = task.intent;
  row.plan = task.plan;
  row.job = task.job;
  row.gang = task.gang;
  row.created_s = task.created_s;
  row.age_s = now_s - task.created_s;
  row.deadline_s = task.deadline_s;
  row.length_source = core::to_string(task.length);
  row.gpus = task.request.all_gpus();
  const std::vector<std::int64_t>& of_each = task.request.of_each;
  if (!task.shape_is_free && (of_each.empty() || of_each.front() == of_each.back()))
    row.shape = clamped_placement(task.request.pods, task.request.gpus);
  row.state = state_of(task);
  return row;
}

class RowMaker {
 public:
  RowMaker(const QueueSight& sight, const PlannerView& planner, const core::ForecastBook& book)
      : sight_(sight),
        queue_(sight.queue),
        planner_(planner),
        book_(book),
        room_waits_(*sight.snapshot, sight.queue, sight.now_s),
        resizer_(*sight.snapshot, sight.options),
        shares_(core::share_kinds(sight.queue)),
        spared_(core::spared_runs(*sight.snapshot, sight.options, sight.queue, sight.policy)) {}

  std::vector<QueueRow> make() {
    std::vector<QueueRow> rows;
    rows.reserve(queue_.size());
    for (core::TaskIndex task = 0; task < queue_.size(); ++task)
      rows.push_back(row(task));
    std::sort(rows.begin(), rows.end(),
              [](const QueueRow& a, const QueueRow& b) { return key_of(a) < key_of(b); });
    int position = 0;
    for (QueueRow& row : rows)
      if (row.state == TaskState::kWaiting) row.position = ++position;
    return rows;
  }

 private:
  QueueRow row(core::TaskIndex index) {
    const core::QueueTask& task = queue_.task(index);
    const core::PlacementMenu& menu = *queue_.state().tasks()[index].menu;
    QueueRow row = as_written(task, sight_.now_s);
    row.share = shares_[index];
    row.spared = to_string(spared_[index]);
    const std::optional<double> refused_s = refused_until_s(index);
    if (task.deadline_s && task.length_known() && !menu.empty())
      row.slack_s = *task.deadline_s - sight_.now_s - queue_.state().fastest_lat_s(index);
    row.nodes = nodes_of(task);
    const auto lost = core::lost_members(*sight_.snapshot, task, sight_.now_steady_s);
    if (task.plan) {
      if (task.request.of_each.empty()) row.shape = task.plan->shape;
      row.gpus = std::int64_t{task.plan->shape.d_node} * task.plan->shape.d_gpn;
      if (lost || core::awaits_replacements(task.job.get(), task.bound.size(), task.pods))
        row.reason = reason::kReplacementWaits;
      else if (core::pod_not_starting(task) != nullptr)
        row.reason = reason::kPodsNotStarting;
      else if (!task.is_planned() && task.bound.empty())
        row.reason = reason::kNotManaged;  // it was let go
    } else {
      row.reason = reason_of(index, refused_s.has_value());
      if (row.reason == reason::kWaitsItsTurn && !row.nodes.empty())
        row.reason = reason::kWaitsForRoom;
    }
    if (const core::RoomWait* wait = room_waits_.of(index)) describe_room(*wait, row);
    row.blocked = never_starts(row.reason) || never_shared(index, row.reason) ||
                  never_admitted(index, row.reason);
    row.progress = row.state == TaskState::kStarting
                       ? core::done_before(queue_.state().progress(index))
                       : core::done_share(queue_, index, sight_.now_s);
    if (const auto move = planner_.moves.find(task.uid); move != planner_.moves.end())
      row.move = move->second;
    row.resize = resize_of(task);
    forecast(index, refused_s, row);
    if (lost) leave_end_open(row);
    // What was released to wait for others starts when they have ended.
    if (row.state == TaskState::kStarting && row.room_by_s) postpone(row, *row.room_by_s);
    const bool unfinished = row.cut_short && !(row.finish_s > row.deadline_s);
    if (row.deadline_s && row.finish_s && !unfinished)
      row.margin_s = *row.deadline_s - *row.finish_s;
    if (task.plan) row.slack_s = row.margin_s;
    return row;
  }

  std::vector<NodeName> nodes_of(const core::QueueTask& task) const {
    std::vector<NodeName> nodes;
    for (const NodeName& node : task.plan ? task.plan->nodes : kept_nodes(planner_, book_, task))
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
    return nodes;
  }

  std::optional<ResizeView> resize_of(const core::QueueTask& task) const {
    if (!task.job) return std::nullopt;
    ResizeView view;
    if (task.plan) {
      if (!task.plan->resize) return std::nullopt;
      view.mode = to_string(ResizeMode::kAuto);
      view.state = kApplied;
      view.asked = task.plan->resize->asked;
      return view;
    }
    const core::ResizingPtr resizing = resizer_.of(*task.job, *task.intent);
    if (!resizing) return std::nullopt;
    view.texts = core::suggestions(*resizing);
    if (view.texts.empty()) return std::nullopt;
    view.mode = to_string(resizing->mode);
    view.state = kSuggested;
    if (resizing->changes())
      view.state = kApplied;
    else if (resizing->mode == ResizeMode::kAuto && resizing->hold != core::ResizeHold::kNone)
      view.state = core::to_string(resizing->hold);
    return view;
  }

  static void describe_room(const core::RoomWait& wait, QueueRow& row) {
    row.reason = reason::kWaitingForPreempted;
    row.waits_for = {wait.tasks.begin(), wait.tasks.end()};
    row.room_since_s = wait.since_s;
    row.room_by_s = wait.until_s;
  }

  // Until somebody changes the task, the cluster or what it depends on.
  static bool never_starts(std::string_view why) {
    constexpr std::array kBlocking = {reason::kGpuTypeAbsent,    reason::kNoNodeFits,
                                      reason::kDependencyFailed, reason::kDependencyMissing,
                                      reason::kDependencyCycle,  reason::kGangCannotScaleUp,
                                      reason::kHeldByUser};
    return std::find(kBlocking.begin(), kBlocking.end(), why) != kBlocking.end();
  }

  // It asks for more than the shares could ever let it use.
  bool never_shared(core::TaskIndex index, std::string_view why) const {
    return (why == reason::kShareExceeded || why == reason::kPoolBusy) &&
           !queue_.state().could_use_any(index);
  }

  // It asks for more than a quota of its namespace allows in all.
  bool never_admitted(core::TaskIndex index, std::string_view why) {
    if (why != reason::kQuotaExceeded) return false;
    if (!quotas_) quotas_.emplace(*sight_.snapshot);
    return core::is_never_admitted(*quotas_, queue_.task(index),
                                   *queue_.state().tasks()[index].menu);
  }

  std::string_view reason_of(core::TaskIndex index, bool lacks_refused_nodes) {
    const core::QueueTask& task = queue_.task(index);
    if (task.hindrance) return task.hindrance->reason;
    if (queue_.state().tasks()[index].menu->empty())
      return type_is_absent(task) ? reason::kGpuTypeAbsent : reason::kNoNodeFits;
    if (no_node_may(index)) return reason::kNoNodeFits;
    if (const auto share = share_reason(index); !share.empty()) return share;
    if (const auto* backoff = backoff_of(task.uid)) return backoff->reason;
    if (lacks_refused_nodes) return reason::kNotBound;
    if (planner_.left_waiting.contains(task.uid) ||
        planner_.left_waiting.contains(task.member->uid))
      return reason::kNotLed;
    if (!planner_.active) return starts_at_once(task) ? reason::kStartsNow : reason::kWaitsItsTurn;
    if (planner_.denied_room.contains(task.uid)) return reason::kPreemptionBudgetSpent;
    if (planner_.leads) return reason::kWaitsItsTurn;
    return planner_.leader.empty() ? reason::kNotLed : reason::kNotKnownHere;
  }

  // Where nobody releases what would start now, that uses shares, too. Empty: they leave it room.
  std::string_view share_reason(core::TaskIndex index) {
    const auto of_runs = core::reason_of_shares(queue_.state(), index);
    if (!of_runs.empty() || planner_.active || queue_.state().shares().shares() == nullptr)
      return of_runs;
    if (!after_starts_) {
      after_starts_.emplace(queue_.state());
      core::plan(*after_starts_, sight_.now_s, sight_.policy);
    }
    const bool waits = after_starts_->progress(index).phase == core::TaskPhase::kWaiting;
    return waits ? core::reason_of_shares(*after_starts_, index) : std::string_view();
  }

  // The plan of now starts it: in no future it waits.
  bool starts_at_once(const core::QueueTask& task) const {
    const core::Forecast* forecast = book_.find(name_of(task));
    return forecast != nullptr && forecast->start_s.p90() <= book_.made_s();
  }

  const PlannerView::Backoff* backoff_of(const Uid& uid) const {
    const auto at = planner_.backoffs.find(uid);
    const bool backs_off =
        at != planner_.backoffs.end() && at->second.until_s > sight_.now_steady_s;
    return backs_off ? &at->second : nullptr;
  }

  // Until when kube-scheduler's refusals alone leave it too few nodes, epoch; nullopt: they do not.
  std::optional<double> refused_until_s(core::TaskIndex index) const {
    const core::RefusedNodes* refused = sight_.options.refused;
    const core::QueueTask& task = queue_.task(index);
    if (task.plan || !core::lacking_nodes(*sight_.snapshot, queue_, index, refused))
      return std::nullopt;
    return sight_.now_s + core::first_again_s(*core::refusals_of(*sight_.snapshot, refused, task)) -
           sight_.now_steady_s;
  }

  // It was released, and kube-scheduler does not bind it: nobody can tell when it will.
  static bool is_refused(const core::QueueTask& task) {
    return std::any_of(task.pods.begin(), task.pods.end(), [](const PodPtr& pod) {
      return !pod->gated && pod->unschedulable.has_value();
    });
  }

  bool type_is_absent(const core::QueueTask& task) const {
    const core::AcceptedTypes accepted(*task.intent, *sight_.catalog, task.request.resource);
    bool any = !accepted.anything();
    for (const core::QueuePool& pool : queue_.pools()) {
      if (pool.nodes.empty() || pool.pool.resource != task.request.resource) continue;
      if (accepted.preference(pool.pool.type)) return false;
      any = true;
    }
    return any;
  }

  // Were nothing on them. Tasks alike share their eligibility, and so the answer.
  bool no_node_may(core::TaskIndex index) {
    const core::PlanTask& planned = queue_.state().tasks()[index];
    const auto [at, first] =
        barred_.try_emplace(std::pair(planned.eligible.get(), planned.menu.get()), false);
    if (first) at->second = !core::could_ever_fit(*sight_.snapshot, queue_, index);
    return at->second;
  }

  // Tasks that wait for something other than GPUs have no forecast, but for those that wait for
  // tasks that have one.
  void forecast(core::TaskIndex index, std::optional<double> refused_s, QueueRow& row) const {
    const core::QueueTask& task = queue_.task(index);
    if (row.blocked) {
      row.forecast = reason::kNever;
      if (row.deadline_s) row.chance = 0;
      return;
    }
    const auto* backoff = backoff_of(row.uid);
    if (backoff != nullptr) row.retry_s = sight_.now_s + backoff->until_s - sight_.now_steady_s;
    if (refused_s) {
      row.retry_s = std::max(*refused_s, row.retry_s.value_or(*refused_s));
      return;
    }
    if (row.state == TaskState::kStarting && is_refused(task)) return;
    const core::Forecast* found = book_.find(name_of(task));
    if (found == nullptr) {
      const core::TaskPhase phase = queue_.state().progress(index).phase;
      if (phase == core::TaskPhase::kWaiting) row.forecast = reason::kNotInBook;
      if (phase == core::TaskPhase::kFuture && row.state == TaskState::kRunning) {
        row.start_s = row.start_p90_s = core::started_s(task);
        row.finish_s = row.finish_p90_s = core::end_as_planned(task, sight_.now_s);
        if (const auto limit_s = core::limit_end_s(task); limit_s && row.start_s && task.plan)
          row.cut_short = *row.start_s + task.plan->predicted_s.value_or(0) > *limit_s;
      }
      return;
    }
    const core::Forecast forecast = core::as_told(*found, task, queue_.state(), index);
    row.start_s = within_horizon(forecast.start_s.p50());
    row.start_p90_s = within_horizon(forecast.start_s.p90());
    row.finish_s = within_horizon(forecast.finish_s.p50());
    row.finish_p90_s = within_horizon(forecast.finish_s.p90());
    if (row.start_s && !core::end_is_known(task, queue_.state(), index)) {
      row.forecast = reason::kLengthUnknown;
      row.finish_after_s = std::max(*row.start_s, sight_.now_s);
    } else if (!row.start_s || !row.finish_s) {
      row.forecast = reason::kBeyondHorizon;
      row.finish_after_s = forecast.until_s;
    }
    const bool runs = queue_.state().progress(index).phase == core::TaskPhase::kRunning;
    const double lasts_s =
        runs ? queue_.state().running_choice(index).lat_s : queue_.state().fastest_lat_s(index);
    row.cut_short = core::ends_unfinished(task, lasts_s);
    if (row.finish_s || forecast.chance == 0) row.chance = forecast.chance;
    if (task.plan) return;
    postpone(row, std::max(sight_.now_s, row.retry_s.value_or(sight_.now_s)));
    lasts_at_least(row, row.cut_short ? static_cast<double>(*task.request.limit_s) : lasts_s);
    if (row.cut_short) lasts_at_most(row, static_cast<double>(*task.request.limit_s));
  }

  // The forecast is of a run that is whole: it ends no sooner, and nobody knows how much later.
  static void leave_end_open(QueueRow& row) {
    if (row.finish_s) row.finish_after_s = row.finish_s;
    row.finish_s = row.finish_p90_s = std::nullopt;
    if (row.chance != 0) row.chance.reset();
  }

  // What waits does not start before.
  static void postpone(QueueRow& row, double until_s) {
    const double late_s = row.start_s ? until_s - *row.start_s : 0;
    if (late_s <= 0) return;
    for (auto* time_s : {&row.start_s, &row.start_p90_s, &row.finish_s, &row.finish_p90_s})
      if (*time_s) **time_s += late_s;
    if (row.finish_after_s) row.finish_after_s = std::max(*row.finish_after_s, until_s);
  }

  // The medians are of few futures: their difference may be less than the run takes at least.
  static void lasts_at_least(QueueRow& row, double least_s) {
    if (!row.start_s || !row.finish_s) return;
    row.finish_s = std::max(*row.finish_s, *row.start_s + least_s);
    if (row.finish_p90_s) row.finish_p90_s = std::max(*row.finish_p90_s, *row.finish_s);
  }

  static void lasts_at_most(QueueRow& row, double most_s) {
    if (!row.start_s || !row.finish_s) return;
    row.finish_s = std::min(*row.finish_s, *row.start_s + most_s);
    if (row.finish_p90_s && row.start_p90_s)
      row.finish_p90_s = std::min(*row.finish_p90_s, *row.start_p90_s + most_s);
  }

  const QueueSight& sight_;
  const core::Queue& queue_;
  const PlannerView& planner_;
  const core::ForecastBook& book_;
  const core::RoomWaits room_waits_;
  const core::Resizer resizer_;
  const std::vector<std::string_view> shares_;   // by task
  const std::vector<Spared> spared_;             // by task
  std::optional<core::QuotaBook> quotas_;        // read once a quota keeps a task
  std::optional<core::PlanState> after_starts_;  // of now; made when first needed
  std::map<std::pair<const core::EligibleNodes*, const core::PlacementMenu*>, bool> barred_;
};

}  // namespace

TaskState state_of(const core::QueueTask& task) {
  if (!task.plan) return TaskState::kWaiting;
  // Of pods without a Job the member has no node while any has none.
  if (!task.job) return core::task_state(true, task.member->bound() ? 1 : 0, 1);
  const std::int64_t bound = std::ssize(task.bound);
  const std::int64_t there = bound + std::ssize(task.pods);
  return core::task_state(true, bound, std::max({there, task.job->wanted_pods(), std::int64_t{1}}));
}

std::vector<QueueRow> queue_rows(const QueueSight& sight, const PlannerView& planner,
                                 const core::ForecastBook& book) {
  return RowMaker(sight, planner, book).make();
}

const std::vector<NodeName>& kept_nodes(const PlannerView& planner, const core::ForecastBook& book,
                                        const core::QueueTask& task) {
  static const std::vector<NodeName> kNone;
  if (!planner.leads) return book.nodes_for(name_of(task));
  const auto at = planner.kept.find(name_of(task));
  return at != planner.kept.end() ? at->second : kNone;
}

void add_not_managed(const QueueSight& sight, std::vector<QueueRow>& rows) {
  std::set<std::pair<ObjectKey, TaskKind>> listed;
  for (const QueueRow& row : rows)
    listed.emplace(row.key, row.kind);
  const auto first = static_cast<std::ptrdiff_t>(rows.size());
  for (core::TaskIndex index = 0; index < sight.queue.size(); ++index) {
    const core::QueueTask& task = sight.queue.task(index);
    if (task.plan || listed.contains({task.key, task.kind})) continue;
    rows.push_back(as_written(task, sight.now_s));
    rows.back().reason = reason::kNotManaged;
  }
  std::sort(rows.begin() + first, rows.end(), [](const QueueRow& a, const QueueRow& b) {
    return std::tie(a.created_s, a.key, a.kind) < std::tie(b.created_s, b.key, b.kind);
  });
}

}  // namespace slackline::control
