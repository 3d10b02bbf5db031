#include "slackline/core/answers/quote.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/answers/explain.h"
#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/queue_shares.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr const char* kNotTried = "not tried";

// The task in one placement only.
PlanTask only_in(const PlanTask& task, const Choice& choice, const std::vector<Pool>& pools) {
  PlanTask one = task;
  one.preference.clear();
  PlacementMenu menu = make_menu({{choice.pool, choice.shape, choice.throughput_samples_per_s,
                                   choice.work_s, choice.startup_s, choice.error}},
                                 pools, {});
  menu.base_s = task.menu->base_s;
  one.menu = std::make_shared<const PlacementMenu>(std::move(menu));
  return one;
}

// Round by round the next fastest placement of every pool.
std::vector<ChoiceIndex> in_turns(const PlacementMenu& menu) {
  std::map<PoolIndex, std::vector<ChoiceIndex>> by_pool;
  for (ChoiceIndex index = 0; index < menu.all.size(); ++index)
    by_pool[menu.all[index].pool].push_back(index);
  std::size_t rounds = 0;
  for (auto& [pool, choices] : by_pool) {
    std::sort(choices.begin(), choices.end(), [&](ChoiceIndex a, ChoiceIndex b) {
      return std::tuple(menu.all[a].lat_s, menu.all[a].gpus, a) <
             std::tuple(menu.all[b].lat_s, menu.all[b].gpus, b);
    });
    rounds = std::max(rounds, choices.size());
  }
  std::vector<ChoiceIndex> order;
  for (std::size_t round = 0; round < rounds && order.size() < kMostQuoteRows; ++round)
    for (const auto& [pool, choices] : by_pool)
      if (round < choices.size()) order.push_back(choices[round]);
  return order;
}

class Quoter {
 public:
  Quoter(const ClusterSnapshot& snapshot, const Queue& queue, const QuotedTask& task,
         const Policy& policy, double now_s, const QuoteOptions& options)
      : snapshot_(snapshot),
        queue_(queue),
        policy_(policy),
        now_s_(now_s),
        options_(options),
        waves_(task.waves),
        written_(find_task(queue, task.written.uid())),
        free_(find_task(queue, task.free.uid())) {
    for (const QueuePool& pool : queue.pools())
      pools_.push_back(pool.pool);
  }

  Quote make() {
    if (written_ >= queue_.size() || free_ >= queue_.size()) return quote_;
    const QueueTask& task = queue_.task(written_);
    quote_.deadline_s = task.deadline_s;
    quote_.length_known = task.length_known();
    quote_.hindrance = task.hindrance;
    // Candidates stand behind the tasks of the queue, and wait in no trial but their own.
    std::vector<PlanTask> all = queue_.state().tasks().tasks();
    make_time_for_later_waves(all);
    std::vector<TaskIndex> aside = {written_, free_};
    const PlacementMenu& menu = *all[free_].menu;
    std::vector<ChoiceIndex> order = in_turns(menu);
    std::erase_if(order, [&](ChoiceIndex index) { return is_all_of_written(menu.all[index]); });
    const auto first = static_cast<TaskIndex>(all.size());
    for (const ChoiceIndex index : order)
      if (aside.size() <= kMostCandidates) {
        aside.push_back(static_cast<TaskIndex>(all.size()));
        all.push_back(only_in(all[free_], menu.all[index], pools_));
      }
    const TaskTable table(std::move(all));
    PlanState state = queue_.state().with(table);
    if (!task.hindrance)
      for (TaskIndex candidate = first; candidate < table.size(); ++candidate)
        state.arrive(candidate);
    const Trials trials(state, policy_, now_s_, {aside, options_.expected, options_.stop});
    quote_.rows.push_back(as_written(trials));
    for (std::size_t i = 0; i < order.size() && i < kMostQuoteRows; ++i)
      quote_.rows.push_back(row(trials, menu.all[order[i]], static_cast<TaskIndex>(first + i)));
    add_types_without_placement(menu);
    add_delays(trials, first);
    choose_best();
    return std::move(quote_);
  }

 private:
  // As in the queue, where the pods of a Job are due as much earlier as others come after them.
  void make_time_for_later_waves(std::vector<PlanTask>& all) {
    if (!quote_.deadline_s || !quote_.length_known || all[written_].menu->empty()) return;
    quote_.later_s = static_cast<double>(waves_ - 1) * queue_.state().fastest_lat_s(written_);
    *quote_.deadline_s -= quote_.later_s;
    for (const TaskIndex task : {written_, free_})
      all[task].deadline_s -= quote_.later_s;
  }

  QuoteRow as_written(const Trials& trials) {
    QuoteRow row;
    row.written = true;
    const PlacementMenu& menu = *queue_.state().tasks()[written_].menu;
    if (menu.all.size() == 1) describe(menu.all.front(), row);
    tried(trials, written_, nullptr, row);
    if (menu.empty()) row.why_not = reason::kNoNodeFits;
    return row;
  }

  QuoteRow row(const Trials& trials, const Choice& choice, TaskIndex candidate) {
    QuoteRow row;
    describe(choice, row);
    row.accepted = is_accepted(choice);
    if (candidate < trials.size())
      tried(trials, candidate, &choice, row);
    else
      row.why_not = kNotTried;
    return row;
  }

  void describe(const Choice& choice, QuoteRow& row) const {
    row.gpu_type = pools_[choice.pool].type;
    row.shape = choice.shape;
    if (!queue_.task(free_).length_known_in(choice)) return;
    row.run_s = choice.lat_s;
    row.gpu_hours = choice.gpus * choice.lat_s / kSecondsPerHour;
  }

  bool is_accepted(const Choice& choice) const {
    const std::vector<Choice>& all = queue_.state().tasks()[written_].menu->all;
    return std::any_of(all.begin(), all.end(), [&](const Choice& mine) {
      return mine.pool == choice.pool && mine.shape == choice.shape;
    });
  }

  // The row of the task as written is the row of this placement.
  bool is_all_of_written(const Choice& choice) const {
    return queue_.state().tasks()[written_].menu->all.size() == 1 && is_accepted(choice);
  }

  // `choice`: null where the policy chooses.
  void tried(const Trials& trials, TaskIndex candidate, const Choice* choice, QuoteRow& row) {
    if (!trials.waits(candidate)) {
      row.why_not = std::string(quote_.hindrance ? quote_.hindrance->reason : reason::kNoNodeFits);
      return;
    }
    const QueueTask& task = queue_.task(written_);
    const double lasts_s =
        choice != nullptr ? choice->lat_s : queue_.state().fastest_lat_s(written_);
    const bool known = choice == nullptr || queue_.task(free_).length_known_in(*choice);
    row.forecast = trials.forecast(candidate);
    if (!row.forecast) {
      row.why_not = kNotTried;
      return;
    }
    ++quote_.tried;
    if (!std::isfinite(row.forecast->start_s.p50()))
      if (const std::string_view why = never_starts(choice); !why.empty()) {
        row.forecast.reset();
        row.why_not = why;
        return;
      }
    if (known && std::isfinite(row.forecast->start_s.p50()) && ends_unfinished(task, lasts_s)) {
      row.cut_short = true;
      row.why_not = format("its time limit ends it after {}",
                           format_duration(static_cast<double>(*task.request.limit_s)));
      return;
    }
    const double p90_s = row.forecast->finish_s.p90();
    const bool told = row.written ? quote_.length_known : row.run_s.has_value();
    // One that counts from the submission moves with it.
    if (task.intent->deadline_s && quote_.deadline_s && told && std::isfinite(p90_s))
      row.latest_s = *quote_.deadline_s - (p90_s - now_s_);
  }

  // Empty: it may, beyond the horizon.
  std::string_view never_starts(const Choice* choice) const {
    if (choice != nullptr)
      return could_ever_fit(snapshot_, queue_, free_, *choice) ? "" : reason::kNoNodeFits;
    if (!could_ever_fit(snapshot_, queue_, written_)) return reason::kNoNodeFits;
    return queue_.state().could_use_any(written_) ? "" : reason_of_shares(queue_.state(), written_);
  }

  // A type on which nobody can tell how long it runs, or that is too small.
  void add_types_without_placement(const PlacementMenu& menu) {
    for (PoolIndex pool = 0; pool < pools_.size(); ++pool) {
      const bool there = std::any_of(menu.all.begin(), menu.all.end(),
                                     [&](const Choice& choice) { return choice.pool == pool; });
      if (there || pools_[pool].resource != queue_.task(written_).request.resource) continue;
      QuoteRow row;
      row.gpu_type = pools_[pool].type;
      row.accepted = false;
      row.why_not = is_stated(queue_.task(free_).length)
                        ? "expected-duration says nothing of this type, or it does not fit"
                        : "nothing is known of its run time there, or it does not fit";
      quote_.rows.push_back(std::move(row));
    }
  }

  // Of the task as written, then of the others in the order in which they were tried.
  void add_delays(const Trials& trials, TaskIndex first) {
    const auto most = static_cast<TaskIndex>(queue_.size());
    for (std::size_t i = 0; i < quote_.rows.size(); ++i)
      if (quote_.rows[i].forecast)
        quote_.rows[i].delays =
            trials.delays(i == 0 ? written_ : static_cast<TaskIndex>(first + i - 1), most);
  }

  void choose_best() {
    const auto key = [&](const QuoteRow& row) {
      const bool late = quote_.deadline_s && row.forecast->chance.value_or(0) < 0.9;
      return std::tuple(late, late ? row.forecast->finish_s.p50() : row.gpu_hours.value_or(kNever),
                        row.forecast->finish_s.p50());
    };
    const auto finish_of = [](const QuoteRow& row) {
      return row.forecast && !row.cut_short ? row.forecast->finish_s.p50() : kNever;
    };
    std::stable_sort(
        quote_.rows.begin() + 1, quote_.rows.end(), [&](const QuoteRow& a, const QuoteRow& b) {
          return std::tuple(!a.forecast, finish_of(a)) < std::tuple(!b.forecast, finish_of(b));
        });
    for (std::size_t i = 0; i < quote_.rows.size(); ++i) {
      const QuoteRow& row = quote_.rows[i];
      if (!row.forecast || row.cut_short || !row.accepted || !row.shape) continue;
      if (quote_.length_known && !row.run_s) continue;
      if (!quote_.best || key(row) < key(quote_.rows[*quote_.best])) quote_.best = i;
    }
  }

  const ClusterSnapshot& snapshot_;
  const Queue& queue_;
  const Policy& policy_;
  double now_s_;
  const QuoteOptions& options_;
  std::int64_t waves_;
  TaskIndex written_;
  TaskIndex free_;
  std::vector<Pool> pools_;
  Quote quote_;
};

}  // namespace

QuotedTask quoted(const Variant& task, double now_s) {
  const auto submitted = [&](const char* uid) {
    Variant variant = task.job ? as_variant(*task.job, uid) : as_variant(*task.pod, uid);
    if (variant.job) {
      auto job = std::make_shared<Job>(*variant.job);
      job->created_s = now_s;
      variant.job = std::move(job);
    } else {
      auto pod = std::make_shared<Pod>(*variant.pod);
      pod->created_s = now_s;
      variant.pod = std::move(pod);
    }
    return variant;
  };
  QuotedTask quoted{submitted("slackline-quote"), submitted("slackline-quote-free")};
  TaskIntent& free = changed_intent(quoted.free);
  if (free.workload()) {
    free.any_placement = true;
    free.placements.clear();
  }
  if (free.workload() || !free.expected_duration_s) {
    free.any_gpu_type = true;
    free.gpu_types.clear();
  }
  return quoted;
}

Quote make_quote(const ClusterSnapshot& snapshot, const Queue& queue, const QuotedTask& task,
                 const Policy& policy, double now_s, const QuoteOptions& options) {
  return Quoter(snapshot, queue, task, policy, now_s, options).make();
}

}  // namespace slackline::core
