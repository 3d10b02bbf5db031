#include "slackline/core/answers/explain.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/answers/refusals.h"
#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/depends.h"
#include "slackline/core/cluster/lost_members.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/queue_shares.h"
#include "slackline/core/cluster/quota_menu.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/cluster/room_wait.h"
#include "slackline/core/planning/plan.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

// The worst first.
constexpr std::array kOrder = {
    reason::kGpuTypeAbsent,     reason::kNoNodeFits,
    reason::kHeldByUser,        reason::kDependencyCycle,
    reason::kDependencyMissing, reason::kDependencyFailed,
    reason::kGangCannotScaleUp, reason::kNotLed,
    reason::kNotAdmitted,       reason::kQuotaExceeded,
    reason::kShareExceeded,     reason::kPoolBusy,
    reason::kDependencyPending, reason::kStartsNow,
    reason::kNotKnownHere,      reason::kPreemptionBudgetSpent,
    reason::kNodesLost,         reason::kNotBound,
    reason::kPodsRejected,      reason::kReleaseRefused,
    reason::kNotReplaced,       reason::kPodsNotStarting,
    reason::kPodsEnding,        reason::kWaitingForPreempted,
    reason::kWaitsForRoom,      reason::kWaitsItsTurn,
};

std::size_t place_of(const Blocker& blocker) {
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), blocker.reason) -
                                  kOrder.begin());
}

class Explainer {
 public:
  explicit Explainer(const ExplainQuestion& question)
      : question_(question),
        task_(question.queue.task(question.task)),
        room_waits_(question.snapshot, question.queue, question.now_s) {}

  std::vector<Blocker> explain(std::string_view first) {
    if (const auto lost = lost_members(question_.snapshot, task_, question_.now_steady_s)) {
      add_quotas();
      if (const auto refusals = blocking_refusals(question_)) blockers_.push_back(*refusals);
      note(reason::kReplacementWaits, text_of(*lost));
      return std::move(blockers_);
    }
    if (const Pod* pod = pod_not_starting(task_); pod != nullptr && task_.plan) {
      note(reason::kPodsNotStarting,
           format("{} on {}: {}", pod->key.name, pod->node.str(), pod->not_starting));
      return std::move(blockers_);
    }
    add_dependencies();
    add_quotas();
    const auto refusals = blocking_refusals(question_);
    if (refusals) blockers_.push_back(*refusals);
    // GPUs of refused nodes may well be free.
    const bool lacks_nodes = refusals && refusals->lacking();
    const bool none_is_large_enough = first == reason::kNoNodeFits;
    auto rest = none_is_large_enough ? std::nullopt : lacking_rest(question_);
    const bool lacks_gpus = !rest || rest->p50_s;  // else on no node are GPUs what it lacks
    if (auto gpus = task_.plan || !lacks_gpus ? std::nullopt : lacking_gpus(question_);
        gpus && !lacks_nodes && !none_is_large_enough)
      blockers_.push_back(*std::move(gpus));
    else if (rest)
      blockers_.push_back(*std::move(rest));
    const bool share_is_used = first == reason::kShareExceeded || first == reason::kPoolBusy;
    if (const auto share = reason_of_shares(question_.queue.state(), question_.task);
        !share.empty())
      add_share(share, question_.queue.state(), "");
    else if (share_is_used && question_.policy != nullptr)
      add_share(first, after_starts(), " or start now");
    if (task_.hindrance && task_.hindrance->reason == reason::kPodsEnding)
      add_own_end();
    else if (task_.hindrance)
      note(task_.hindrance->reason, task_.hindrance->detail);
    add_yield();
    if (none_is_large_enough)
      note(first, too_large(question_));
    else
      note(first, first == reason::kWaitsForRoom ? kept_text(question_.kept) : "");
    add_room();
    std::stable_sort(blockers_.begin(), blockers_.end(),
                     [](const Blocker& a, const Blocker& b) { return place_of(a) < place_of(b); });
    return std::move(blockers_);
  }

 private:
  // What was not found by looking at it here.
  void note(std::string_view reason, const std::string& detail, std::string_view what = {}) {
    if (reason.empty()) return;
    const bool there = std::any_of(blockers_.begin(), blockers_.end(), [&](const Blocker& blocker) {
      return blocker.reason == reason;
    });
    if (there) return;
    const ReasonFact* fact = find_reason(reason);
    Blocker blocker;
    blocker.reason = reason;
    blocker.what = what.empty() && fact != nullptr ? fact->meaning : what;
    blocker.detail = detail;
    blockers_.push_back(std::move(blocker));
  }

  void add_dependencies() {
    const auto hindrance = Dependencies(question_.snapshot).of(task_);
    if (!hindrance) return;
    note(hindrance->reason, hindrance->detail);
    Blocker& blocker = blockers_.back();
    double p50_s = question_.now_s;
    double p90_s = question_.now_s;
    bool known = hindrance->reason == reason::kDependencyPending;
    for (const std::string& name : task_.intent->depends_on) {
      const ObjectKey key{task_.key.ns, name};
      const Job* job = question_.snapshot.find_job(key.ns, key.name);
      if (job != nullptr && job->finished) continue;
      blocker.on.push_back(key);
      const Forecast* forecast = known ? forecast_of(key) : nullptr;
      const auto end_s = forecast != nullptr ? std::nullopt : end_of_other(key);
      known = known && (forecast != nullptr || end_s);
      if (!known) continue;
      p50_s = std::max(p50_s, forecast != nullptr ? forecast->finish_s.p50() : *end_s);
      p90_s = std::max(p90_s, forecast != nullptr ? forecast->finish_s.p90() : *end_s);
    }
    if (!known) return;
    blocker.p50_s = p50_s;
    blocker.p90_s = p90_s;
  }

  // Of a Job that runs without a plan, and for whose end its dependents are planned.
  std::optional<double> end_of_other(const ObjectKey& key) const {
    const PlanState& state = question_.queue.state();
    std::optional<double> end_s;
    for (const TaskIndex run : state.tasks()[question_.task].after)
      if (run >= question_.queue.size() && question_.queue.key_of_run(run) == key)
        end_s = std::max(end_s.value_or(0), state.predicted_end_s(run, question_.now_s));
    return end_s;
  }

  const Forecast* forecast_of(const ObjectKey& key) const {
    if (!question_.forecast) return nullptr;
    for (TaskIndex task = 0; task < question_.queue.size(); ++task)
      if (question_.queue.task(task).job && question_.queue.task(task).key == key)
        return question_.forecast(task);
    return nullptr;
  }

  void add_quotas() {
    for (const QuotaShortage& shortage : lacking_quota(question_)) {
      const auto text = [&](std::int64_t amount) {
        return amount_text({shortage.resource, amount});
      };
      Blocker blocker;
      blocker.reason = reason::kQuotaExceeded;
      blocker.what = format("{} in the ResourceQuota {}", shortage.resource, shortage.quota);
      if (shortage.resource == "cpu" || shortage.resource == "memory") {
        blocker.what += format(": needs {}, has {}", text(shortage.need), text(shortage.left));
      } else {
        blocker.need = shortage.need;
        blocker.have = shortage.left;
      }
      if (shortage.need > shortage.hard)
        blocker.detail =
            format("the quota allows {} in all: it never starts as it is", text(shortage.hard));
      else
        add_quota_relief(question_, shortage, blocker);
      blockers_.push_back(std::move(blocker));
    }
  }

  // "16 A100 are more than it may ever use: its queue owns 4, may borrow 4, and 0 are nobody's"
  std::string most_of_shares(const Shares& shares, std::uint32_t type) const {
    const PlanState& state = question_.queue.state();
    const GpuShare share = shares.share(state.tasks()[question_.task].queue, type);
    int fewest = std::numeric_limits<int>::max();
    for (const Choice& choice : state.tasks()[question_.task].menu->all)
      if (shares.type_of_pool[choice.pool] == type) fewest = std::min(fewest, choice.gpus);
    const std::string borrows = state.stays(question_.task)
                                    ? "borrows nothing, because it is not stopped to give back"
                                    : format("may borrow {}", share.borrow);
    return format("{} {} are more than it may ever use: its queue owns {}, {}, and {} are nobody's",
                  fewest, shares.types[type], share.own, borrows, shares.pool(type));
  }

  // With what the plan of now starts.
  PlanState after_starts() const {
    PlanState state = question_.queue.state();
    plan(state, question_.now_s, *question_.policy);
    return state;
  }

  void add_share(std::string_view reason, const PlanState& state, std::string_view or_start) {
    const bool is_full = state.shares().is_full(state.tasks()[question_.task].queue);
    note(reason, share_text(state, or_start),
         is_full ? "as many tasks of its queue run as may at a time (maxRunning)" : "");
  }

  // "vision: 20 of 20 tasks run; A100: 8 of 8 in the pool are in use"
  std::string share_text(const PlanState& state, std::string_view or_start) const {
    const ShareUse& use = state.shares();
    const PlanTask& task = state.tasks()[question_.task];
    std::vector<std::string> parts;
    if (use.is_full(task.queue))
      parts.push_back(format("{} of {} tasks run{}", use.running(task.queue),
                             use.shares()->of_queue[task.queue].max_running, or_start));
    std::set<std::uint32_t> types;
    for (const Choice& choice : task.menu->all)
      if (const auto type = use.shares()->type_of_pool[choice.pool]; type != Shares::kNoType)
        types.insert(type);
    if (!state.could_use_any(question_.task)) {
      for (const std::uint32_t type : types)
        parts.push_back(most_of_shares(*use.shares(), type));
      return format("{}: {}", task_.account, join(parts, "; "));
    }
    for (const std::uint32_t type : types)
      parts.push_back(format("{}: {} of {} in the pool are in use", use.shares()->types[type],
                             use.of_pool(type), use.shares()->pool(type)));
    if (state.stays(question_.task))
      for (const std::uint32_t type : types)
        parts.push_back(
            format("{}: it borrows nothing, because it is not stopped to give back; "
                   "such runs use {} of {} beyond what their queues own",
                   use.shares()->types[type], use.staying_of_pool(type), use.shares()->pool(type)));
    return parts.empty() ? std::string() : format("{}: {}", task_.account, join(parts, "; "));
  }

  // It fits, and the plan of now lets another task go first.
  void add_yield() {
    if (question_.policy == nullptr) return;
    PlanState state = question_.queue.state();
    for (const Yielding& yield : plan(state, question_.now_s, *question_.policy).yields) {
      if (yield.task != question_.task || yield.to >= question_.queue.size()) continue;
      Blocker blocker;
      blocker.reason = reason::kWaitsItsTurn;
      blocker.what = "it fits; a task before it would miss its deadline if it started now";
      blocker.on = {question_.queue.task(yield.to).key};
      blockers_.push_back(std::move(blocker));
    }
  }

  // It was stopped: for whom, what is left to do, and until when its pods may take.
  void add_own_end() {
    note(reason::kPodsEnding, task_.hindrance->detail);
    Blocker& blocker = blockers_.back();
    for (TaskIndex asker = 0; asker < question_.queue.size(); ++asker)
      if (const RoomWait* wait = room_waits_.of(asker);
          wait != nullptr && std::ranges::binary_search(wait->tasks, task_.key))
        blocker.on.push_back(question_.queue.task(asker).key);
    if (task_.job->preemptions != nullptr) {
      const std::string left =
          format("{:.0f} % of its work is left", 100 * task_.job->preemptions->left);
      blocker.detail = blocker.detail.empty() ? left : left + "; " + blocker.detail;
    }
    double until_s = 0;
    for (const NodeStatePtr& state : question_.snapshot.nodes)
      for (const PodPtr& pod : state->pods)
        if (pod->owner && pod->owner->uid == task_.uid && !pod->terminal())
          until_s = std::max(until_s, pod->gone_by_s.value_or(0));
    if (until_s > question_.now_s) blocker.p50_s = blocker.p90_s = until_s;
  }

  void add_room() {
    const RoomWait* wait = room_waits_.of(question_.task);
    if (wait == nullptr) return;
    Blocker blocker;
    blocker.reason = reason::kWaitingForPreempted;
    blocker.what = "running tasks that make room for it";
    blocker.on = wait->tasks;
    blocker.p50_s = blocker.p90_s = std::max(wait->until_s, question_.now_s);
    std::erase_if(blockers_, [](const Blocker& other) {
      return other.reason == reason::kWaitingForPreempted;
    });
    blockers_.push_back(std::move(blocker));
  }

  const ExplainQuestion& question_;
  const QueueTask& task_;
  const RoomWaits room_waits_;
  std::vector<Blocker> blockers_;
};

}  // namespace

namespace {

// What keeps its controller from making the others; all of them, where they never are admitted.
std::vector<QuotaShortage> lacking_for_members(const QueueTask& gang, const QuotaBook& quotas) {
  const auto there = std::count_if(gang.pods.begin(), gang.pods.end(), [](const PodPtr& pod) {
    return !is_to_come(*pod) && !pod->deleting;
  });
  const Resources& pod = gang.member->requests;
  const std::int64_t all = gang.request.pods;
  return quotas.shortages(gang.key.ns, pod,
                          quotas.ever_admits(gang.key.ns, pod, all) ? all - there : all);
}

}  // namespace

std::vector<QuotaShortage> lacking_quota(const ExplainQuestion& question) {
  const QueueTask& task = question.queue.task(question.task);
  QuotaBook quotas(question.snapshot);
  quotas.charge_released(question.snapshot, question.now_steady_s, question.now_s);
  if (task.kind == TaskKind::kGang && task.hindrance &&
      task.hindrance->reason == reason::kGangIncomplete)
    return lacking_for_members(task, quotas);
  // Those that run are counted already.
  if (const auto lost = lost_members(question.snapshot, task, question.now_steady_s)) {
    if (lost->not_made < 1) return {};
    return quotas.shortages(task.key.ns, task.bound.front()->requests, lost->not_made);
  }
  // By its smallest placement, where none is admitted.
  const PlacementMenu& menu = *question.queue.state().tasks()[question.task].menu;
  if (std::any_of(menu.all.begin(), menu.all.end(),
                  [&](const Choice& choice) { return is_admitted(quotas, task, choice.shape); }))
    return {};
  const QuotaDemand least =
      demand_of(task, menu.empty() ? clamped_placement(task.request.pods, task.request.gpus)
                                   : menu.all[menu.by_size.front()].shape);
  return quotas.shortages(task.key.ns, least.pod, least.pods);
}

std::vector<Blocker> explain(const ExplainQuestion& question, std::string_view first) {
  return Explainer(question).explain(first);
}

}  // namespace slackline::core
