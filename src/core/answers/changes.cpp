#include "slackline/core/answers/changes.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/answers/refusals.h"
#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

constexpr double kLeastGain_s = 60;
constexpr double kLeastShare = 0.02;  // of the time from now that a gain must exceed
constexpr double kLeastChance = 0.1;
constexpr std::size_t kMostGivers = 3;

bool earlier(double after_s, double before_s, double now_s) {
  if (!std::isfinite(after_s)) return false;
  if (!std::isfinite(before_s)) return true;
  return before_s - after_s > std::max(kLeastGain_s, kLeastShare * (before_s - now_s));
}

// Whoever had no deadline gains nothing by one.
bool likelier(const std::optional<double>& after, const std::optional<double>& before) {
  return after && before && *after >= *before + kLeastChance;
}

// Nothing known of the unchanged task: it never starts.
bool helps(const Forecast& after, const std::optional<Forecast>& before, double now_s) {
  if (!before) return std::isfinite(after.start_s.p50());
  const bool sooner = earlier(after.start_s.p50(), before->start_s.p50(), now_s) &&
                      !earlier(before->finish_s.p50(), after.finish_s.p50(), now_s);
  return sooner || earlier(after.finish_s.p50(), before->finish_s.p50(), now_s) ||
         likelier(after.chance, before->chance);
}

class ChangeFinder {
 public:
  ChangeFinder(const ExplainQuestion& question, const QueueOptions& queue_options,
               const Policy& policy, TaskMenus& menus, const ChangeOptions& options)
      : question_(question),
        queue_options_(queue_options),
        policy_(policy),
        menus_(menus),
        options_(options) {}

  Changes find() {
    if (is_held_back()) return {};
    const std::vector<Proposal> all = proposals(question_, options_);
    std::vector<Variant> variants;
    for (const Proposal& proposal : all)
      variants.push_back(proposal.variant);
    const RefusedNodes refused = refused_with(variants);
    QueueOptions queue_options = queue_options_;
    queue_options.refused = &refused;
    const Queue queue =
        make_queue(with_variants(question_.snapshot, variants), queue_options, menus_);
    if (queue.gave_up()) return std::move(changes_);
    const TaskIndex task = original_in(queue);
    std::vector<TaskIndex> aside = {task};
    for (const Variant& variant : variants)
      if (const TaskIndex index = find_task(queue, variant.uid()); index < queue.size())
        aside.push_back(index);
    const Trials trials(queue.state(), policy_, question_.now_s,
                        {aside, options_.expected, options_.stop});
    if (trials.waits(task)) changes_.unchanged = trials.forecast(task);
    // The cheapest questions first, and of every kind one before the second of any.
    for (const Proposal& proposal : all)
      if (const TaskIndex index = find_task(queue, proposal.variant.uid()); index < queue.size())
        if (trials.waits(index) && !is_cut_short(queue, index))
          keep({proposal.kind, proposal.what, std::nullopt, {}}, trials.forecast(index),
               queue.task(index).length_known());
    if (trials.waits(task)) try_givers(queue, trials, task);
    try_quotas();
    sort();
    return std::move(changes_);
  }

 private:
  // Kubernetes would end it first.
  static bool is_cut_short(const Queue& queue, TaskIndex task) {
    return queue.task(task).length_known() &&
           ends_unfinished(queue.task(task), queue.state().fastest_lat_s(task));
  }

  // By its own pods, or by its owner, whatever it asks for; a variant has neither.
  bool is_held_back() const {
    const auto& hindrance = question_.queue.task(question_.task).hindrance;
    return hindrance &&
           (hindrance->reason == reason::kPodsEnding || hindrance->reason == reason::kHeldByUser);
  }

  // What was refused to the task stays so, whatever it asks for.
  RefusedNodes refused_with(const std::vector<Variant>& variants) const {
    const RefusedNodes* refused = queue_options_.refused;
    const TaskRefusals* own =
        refusals_of(question_.snapshot, refused, question_.queue.task(question_.task));
    RefusedNodes all = refused != nullptr ? *refused : RefusedNodes{};
    if (own == nullptr) return all;
    for (const Variant& variant : variants)
      if (variant.job || variant.pod) all[variant.uid()] = *own;
    return all;
  }

  TaskIndex original_in(const Queue& queue) const {
    const QueueTask& task = question_.queue.task(question_.task);
    for (TaskIndex index = 0; index < queue.size(); ++index)
      if (queue.task(index).key == task.key && queue.task(index).uid == task.uid &&
          queue.task(index).kind == task.kind)
        return index;
    return 0;
  }

  // `known`: how long it would run. Where nobody knows, only its start counts.
  void keep(Change change, std::optional<Forecast> outlook, bool known) {
    if (!outlook) {
      ++changes_.not_tried;
      return;
    }
    ++changes_.tried;
    if (!known) {
      outlook->finish_s.deciles.fill(kNever);
      outlook->chance.reset();
    }
    if (!(known ? helps(*outlook, changes_.unchanged, question_.now_s) : is_sooner(*outlook)) ||
        is_no_better_than_told(*outlook))
      return;
    change.outlook = *outlook;
    changes_.helpful.push_back(std::move(change));
  }

  bool is_sooner(const Forecast& outlook) const {
    const auto& before = changes_.unchanged;
    return before ? earlier(outlook.start_s.p50(), before->start_s.p50(), question_.now_s)
                  : std::isfinite(outlook.start_s.p50());
  }

  // Than the forecast that people see beside it, which was made before.
  bool is_no_better_than_told(const Forecast& outlook) const {
    const Forecast* told = question_.forecast ? question_.forecast(question_.task) : nullptr;
    return told != nullptr &&
           !earlier(outlook.start_s.p50(), told->start_s.p50(), question_.now_s) &&
           !earlier(outlook.finish_s.p50(), told->finish_s.p50(), question_.now_s) &&
           !likelier(outlook.chance, told->chance);
  }

  // Running tasks on GPUs that it could use: the smallest that are large enough, then those that
  // would run longest.
  std::vector<TaskIndex> givers(const Queue& queue, TaskIndex task) const {
    const PlanState& state = queue.state();
    const PlacementMenu& menu = *state.tasks()[task].menu;
    const int least = menu.all[menu.by_size.front()].gpus;
    std::vector<std::tuple<bool, int, double, TaskIndex>> order;
    for (const TaskIndex run : state.running()) {
      if (run >= queue.size()) continue;  // others' pods are nobody's to stop
      const Choice& choice = state.running_choice(run);
      const bool usable = std::any_of(menu.all.begin(), menu.all.end(),
                                      [&](const Choice& mine) { return mine.pool == choice.pool; });
      if (usable)
        order.emplace_back(choice.gpus < least, choice.gpus,
                           -state.predicted_end_s(run, question_.now_s), run);
    }
    std::sort(order.begin(), order.end());
    std::vector<TaskIndex> runs;
    for (const auto& [smaller, gpus, end_s, run] : order)
      if (runs.size() < kMostGivers) runs.push_back(run);
    return runs;
  }

  void try_givers(const Queue& queue, const Trials& trials, TaskIndex task) {
    for (const TaskIndex run : givers(queue, task)) {
      PlanState state = trials.with(task);
      state.stop(run, question_.now_s);
      state.withdraw(run);
      state.hold_back(task, question_.now_s + lasting_grace_s(state.tasks()[run].grace_s));
      keep({ChangeKind::kGiveWay,
            format("stop {}", queue.task(run).key.str()),
            queue.task(run).key,
            {}},
           trials.forecast(state, task), queue.task(task).length_known());
    }
  }

  // Every quota that has no room is raised by what is lacking.
  void try_quotas() {
    const std::vector<QuotaShortage> shortages = lacking_quota(question_);
    if (shortages.empty()) return;
    std::vector<std::string> asks;
    for (const QuotaShortage& shortage : shortages)
      asks.push_back(format("{} more {} in the ResourceQuota {}",
                            amount_text({shortage.resource, shortage.need - shortage.left}),
                            shortage.resource, shortage.quota));
    const Queue queue = make_queue(with_raised(shortages), queue_options_, menus_);
    if (queue.gave_up()) return;
    const TaskIndex task = original_in(queue);
    const Trials trials(queue.state(), policy_, question_.now_s,
                        {{}, options_.expected, options_.stop});
    if (trials.waits(task))
      keep({ChangeKind::kQuota, join(asks, ", "), std::nullopt, {}}, trials.forecast(task),
           queue.task(task).length_known());
  }

  ClusterSnapshot with_raised(const std::vector<QuotaShortage>& shortages) const {
    ClusterSnapshot raised = question_.snapshot;
    const std::string& ns = question_.queue.task(question_.task).key.ns;
    for (auto& quota : raised.quotas) {
      if (quota->key.ns != ns) continue;
      auto copy = std::make_shared<ResourceQuota>(*quota);
      for (const QuotaShortage& shortage : shortages)
        for (QuotaLimit& limit : copy->limits)
          if (copy->key.name == shortage.quota && limit.resource == shortage.resource)
            limit.hard = saturating_add(limit.hard, shortage.need - shortage.left);
      quota = std::move(copy);
    }
    return raised;
  }

  void sort() {
    std::stable_sort(
        changes_.helpful.begin(), changes_.helpful.end(),
        [](const Change& a, const Change& b) { return rank(a.outlook) < rank(b.outlook); });
  }

  // Those of which nobody knows when they end come last.
  static std::tuple<bool, double, double> rank(const Forecast& outlook) {
    const double finish_s = outlook.finish_s.p50();
    return {!std::isfinite(finish_s), -outlook.chance.value_or(1), finish_s};
  }

  const ExplainQuestion& question_;
  const QueueOptions& queue_options_;
  const Policy& policy_;
  TaskMenus& menus_;
  const ChangeOptions& options_;
  Changes changes_;
};

}  // namespace

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kFewerGpus:
      return "FewerGpus";
    case ChangeKind::kOtherType:
      return "OtherType";
    case ChangeKind::kFreeShape:
      return "FreeShape";
    case ChangeKind::kLaterDeadline:
      return "LaterDeadline";
    case ChangeKind::kHigherClass:
      return "HigherClass";
    case ChangeKind::kGiveWay:
      return "GiveWay";
    case ChangeKind::kQuota:
      break;
  }
  return "Quota";
}

Changes find_changes(const ExplainQuestion& question, const QueueOptions& queue_options,
                     const Policy& policy, TaskMenus& menus, const ChangeOptions& options) {
  return ChangeFinder(question, queue_options, policy, menus, options).find();
}

}  // namespace slackline::core
