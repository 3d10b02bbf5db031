#include "control/answers/answer_query.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "control/answers/answer_shapes.h"
#include "control/answers/portrait_advice.h"
#include "control/answers/what_if_question.h"
#include "control/portrait/portrait_query.h"
#include "control/query/queue_reader.h"
#include "control/query/queue_rows.h"
#include "control/query/written_book.h"
#include "control/state/present_situation.h"
#include "slackline/base/duration.h"
#include "slackline/base/mutex.h"
#include "slackline/base/text.h"
#include "slackline/core/answers/calendar.h"
#include "slackline/core/answers/quote.h"
#include "slackline/core/answers/refusals.h"
#include "slackline/core/answers/what_if.h"
#include "slackline/core/cluster/annotation_hints.h"
#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/not_in_queue.h"
#include "slackline/core/cluster/pod_admission.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/resizing.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/contract.h"

namespace slackline::control {
namespace {

constexpr std::size_t kMostWhatIfRows = 200;
constexpr double kCalendarDay_s = 86400;
constexpr double kSlots = 72;  // of a calendar, at least an hour each

Error out_of_time(double limit_s) {
  return {ErrorCode::kUnavailable,
          format("the queue is too long to be played in {:.0f} s; ask again when it is shorter",
                 limit_s)};
}

const QueueRow* find_row(const std::vector<QueueRow>& rows, const ObjectKey& key) {
  for (const QueueRow& row : rows)
    if (row.key == key) return &row;
  return nullptr;
}

std::optional<core::TaskIndex> find_task(const core::Queue& queue, const ObjectKey& key) {
  for (core::TaskIndex task = 0; task < queue.size(); ++task)
    if (queue.task(task).key == key) return task;
  return std::nullopt;
}

}  // namespace

struct AnswerQuery::Impl {
  Impl(const PlannerOptions& planning, const Published<Known>& known,
       const cluster::ClusterSource& source, const Published<PlannerView>& planner_view,
       const Published<WrittenBook>& written_books, const Clock& given_clock, AnswerTimes limits)
      : options(planning),
        planner(planner_view),
        books(written_books),
        clock(given_clock),
        times(limits),
        reader(options, known, source, planner, clock, /*always=*/true) {}

  // True once this much time has gone.
  StopAsked within(double limit_s) const {
    return [this, until_s = clock.steady_s() + limit_s] { return clock.steady_s() > until_s; };
  }

  Result<EtaView> eta(const ObjectKey& key, const QueueSight& sight, const WrittenBook& written,
                      const core::ForecastBook& book) {
    SLACKLINE_TRY(cluster_is_read(*sight.snapshot));
    const std::vector<QueueRow> rows = queue_rows(sight, *planner.get(), book);
    const QueueRow* row = find_row(rows, key);
    if (row == nullptr) {
      if (auto others = left_to_others(*sight.snapshot, key, sight.now_s)) return others->eta;
      return fail(ErrorCode::kNotFound, why_missing(options, *sight.snapshot, key));
    }
    EtaView view = eta_of(*row, sight.now_s);
    view.forecast_s = book.made_s();
    view.start_held = written.coverage.start;
    view.finish_held = written.coverage.finish;
    return view;
  }

  const PlannerOptions options;
  const Published<PlannerView>& planner;
  const Published<WrittenBook>& books;
  const Clock& clock;
  const AnswerTimes times;
  Mutex mutex;
  QueueReader reader SLACKLINE_GUARDED_BY(mutex);
};

AnswerQuery::AnswerQuery(const PlannerOptions& options, const Published<Known>& known,
                         const cluster::ClusterSource& source,
                         const Published<PlannerView>& planner, const Published<WrittenBook>& books,
                         const Clock& clock, AnswerTimes times)
    : impl_(new Impl(options, known, source, planner, books, clock, times)) {}

AnswerQuery::~AnswerQuery() = default;

Result<EtaView> AnswerQuery::eta(const ObjectKey& key) {
  Impl& my = *impl_;
  MutexLock lock(my.mutex);
  const QueueSight sight = my.reader.read();
  const auto written = my.books.get();
  return my.eta(key, sight, *written, *my.reader.book_for(sight, *written));
}

namespace {

// What is worked out under the lock, before the viewer is asked.
struct Explained {
  std::vector<std::string> problems;
  std::vector<std::string> hints;
  EtaView eta;
  std::vector<core::Blocker> blockers;
  std::vector<core::NodeGroup> nodes;
  std::optional<core::NodeGroup> node;
  std::int64_t nodes_total = 0;
  core::Changes changes;
};

// What is not as the task's author may think.
std::vector<std::string> hints_at(const ObjectKey& key, const QueueSight& sight,
                                  core::TaskIndex index) {
  std::vector<std::string> hints;
  if (const auto asked = core::TaskCatalog(*sight.snapshot).find(key))
    hints = core::annotation_hints(*sight.snapshot, *asked, *sight.options.catalog,
                                   *sight.options.predictor);
  const core::QueueTask& task = sight.queue.task(index);
  const core::PlanState& state = sight.queue.state();
  const bool runs = state.progress(index).phase == core::TaskPhase::kRunning;
  const double run_s = runs ? state.running_choice(index).lat_s : state.fastest_lat_s(index);
  if (core::ends_unfinished(task, run_s))
    hints.push_back(format(
        "spec.activeDeadlineSeconds: the Job is ended after {}, and its run takes {}: it fails; "
        "write more seconds, or leave the limit out",
        format_duration(static_cast<double>(*task.request.limit_s)), format_duration(run_s)));
  if (task.plan != nullptr) return hints;
  const auto to_come = std::count_if(task.pods.begin(), task.pods.end(),
                                     [](const PodPtr& pod) { return core::is_to_come(*pod); });
  if (to_come > 0)
    hints.push_back(
        format("its controller makes {} of its {} pods once the others run; it waits for "
               "the room of all",
               to_come, task.pods.size()));
  for (std::string& rule : core::rules_not_counted(*task.member))
    hints.push_back(std::move(rule));
  return hints;
}

ExplainView view_of_all(const Explained& explained, const std::string& node, Viewer& viewer) {
  ExplainView view;
  view.eta = explained.eta;
  view.problems = explained.problems;
  view.hints = explained.hints;
  for (const core::Blocker& blocker : explained.blockers)
    view.blockers.push_back(view_of(blocker, viewer));
  for (const core::NodeGroup& group : explained.nodes)
    view.nodes.push_back(view_of(group, viewer));
  view.nodes_total = explained.nodes_total;
  view.node = node;
  if (explained.node) view.node_group = view_of(*explained.node, viewer);
  for (const core::Change& change : explained.changes.helpful)
    view.changes.push_back(view_of(change, viewer));
  view.changes_tried = explained.changes.tried;
  view.changes_not_tried = explained.changes.not_tried;
  return view;
}

}  // namespace

Result<ExplainView> AnswerQuery::explain(const ObjectKey& key, const std::string& node,
                                         Viewer viewer) {
  Impl& my = *impl_;
  const bool urgent = viewer.may_be_urgent(key.ns);
  Explained explained;
  {
    MutexLock lock(my.mutex);
    const StopAsked stop = my.within(my.times.why_s);
    const QueueSight sight = my.reader.read();
    const auto written = my.books.get();
    const auto book = my.reader.book_for(sight, *written);
    SLACKLINE_ASSIGN(explained.eta, my.eta(key, sight, *written, *book));
    if (!control::find_task(sight.queue, key))
      if (auto others = left_to_others(*sight.snapshot, key, sight.now_s)) return *others;
    core::ExplainQuestion question{.snapshot = *sight.snapshot,
                                   .queue = sight.queue,
                                   .task = *control::find_task(sight.queue, key),
                                   .catalog = *sight.catalog,
                                   .now_s = sight.now_s,
                                   .now_steady_s = sight.now_steady_s};
    question.forecast = [&](core::TaskIndex task) -> const core::Forecast* {
      return task < sight.queue.size() ? book->find(name_of(sight.queue.task(task))) : nullptr;
    };
    question.policy = &sight.policy;
    question.refused = sight.options.refused;
    question.kept = kept_nodes(*sight.planner, *book, sight.queue.task(question.task));
    explained.nodes_total = static_cast<std::int64_t>(sight.snapshot->nodes.size());
    if (!node.empty()) {
      const auto index = sight.snapshot->find_node(node);
      if (!index)
        return fail(ErrorCode::kNotFound,
                    format("no node {}; /v1/nodes lists all of them", printable(node, 64)));
      explained.node = core::group_of(question, *index);
    }
    const core::QueueTask& task = sight.queue.task(question.task);
    explained.problems = task.intent->problems;
    if (std::string none = core::asks_for_unlisted(*sight.snapshot, task.member->requests);
        !none.empty())
      explained.problems.push_back(std::move(none));
    explained.hints = hints_at(key, sight, question.task);
    const bool waits = task.plan == nullptr;
    if (waits || !explained.eta.reason.empty())
      explained.blockers = core::explain(question, explained.eta.reason);
    else if (explained.eta.state == to_string(TaskState::kStarting))
      if (auto refusals = core::blocking_refusals(question))
        explained.blockers.push_back(*std::move(refusals));
    if (waits) {
      explained.nodes = core::group_nodes(question);
      if (explained.eta.standing != "starts")
        explained.changes =
            core::find_changes(question, sight.options, sight.policy, my.reader.menus(),
                               {urgent, my.reader.expect(*written->arrivals, sight.queue), stop});
    }
  }
  return view_of_all(explained, node, viewer);
}

namespace {

// Pods that start one by one are quoted one by one.
core::Variant as_one(const PostedTask& posted) {
  core::Variant task{posted.job, posted.pod};
  if (posted.job && core::starts_one_by_one(*posted.job)) {
    auto pod = std::make_shared<Pod>(*core::written_pod(*posted.job));
    pod->key = posted.job->key;
    pod->intent = posted.job->intent;
    pod->constraints = posted.job->constraints;
    pod->requests = posted.job->pod_requests;
    pod->ask = posted.job->ask;
    task = {nullptr, std::move(pod)};
  }
  if (!posted.deadline_s) return task;
  TaskIntent& intent = core::changed_intent(task);
  intent.deadline_s = posted.deadline_s;
  intent.deadline_after_s = std::nullopt;
  return task;
}

// As the webhook would write it: the deadline of a class that somebody named.
void set_promise(core::Variant& task, const Job* posted, const ClusterSnapshot& snapshot,
                 const core::Situation& situation) {
  if (posted == nullptr || !posted->intent || !posted->intent->qos_class) return;
  const TaskIntent& intent = task.job ? *task.job->intent : *task.pod->intent;
  if (intent.deadline_s || intent.deadline_after_s) return;
  const auto reference = core::class_reference(intent, posted->pod_requests, posted, situation,
                                               snapshot.node_table.types);
  if (!reference) return;
  if (const auto at_s = core::resolve_deadline(intent, situation.now_wall_s, reference->run_s))
    core::changed_intent(task).deadline_after_s = *at_s - situation.now_wall_s;
}

// As the API server will make its pods, or refuse them: in the words of the webhook's warning.
void admit(core::Variant& task, bool of_job, const ClusterSnapshot& snapshot,
           std::vector<std::string>& problems) {
  if (snapshot.admission == nullptr) return;
  if (task.job)
    task.job = core::with_admission(task.job, *snapshot.admission);
  else
    task.pod = core::with_admission(task.pod, *snapshot.admission);
  const auto& constraints = task.job ? task.job->constraints : task.pod->constraints;
  const std::string_view at = of_job ? "spec.template: " : "";
  if (constraints && !constraints->refused.empty())
    problems.push_back(
        format("{}the API server refuses its pods: {}", at, printable(constraints->refused, 200)));
  const std::string& ns = task.job ? task.job->key.ns : task.pod->key.ns;
  const PodAsk* ask = task.job ? task.job->ask.get() : task.pod->ask.get();
  for (const auto& doubt : core::admission_doubts(snapshot, ns, constraints.get(), ask))
    problems.push_back(format("{}{}", at, printable(doubt, 300)));
}

// The names behind a quote's delays, before the viewer is asked.
struct Quoted {
  core::Quote quote;
  std::vector<ObjectKey> keys;  // by task of the queue
  std::string length_source;
  std::vector<std::string> advice;
};

// How many of those that wait are predicted to start before the task as written.
std::optional<std::int64_t> tasks_before(const core::Quote& quote, const core::Queue& queue,
                                         const core::ForecastBook& book) {
  const auto written = std::find_if(quote.rows.begin(), quote.rows.end(),
                                    [](const core::QuoteRow& row) { return row.written; });
  if (written == quote.rows.end() || !written->forecast) return std::nullopt;
  const double start_s = written->forecast->start_s.p50();
  if (!std::isfinite(start_s)) return std::nullopt;
  std::int64_t before = 0;
  for (core::TaskIndex index = 0; index < queue.size(); ++index) {
    const core::QueueTask& task = queue.task(index);
    const core::Forecast* forecast = task.plan ? nullptr : book.find(name_of(task));
    if (forecast != nullptr && forecast->start_s.p50() < start_s) ++before;
  }
  return before;
}

void name_delays(const std::vector<core::Delay>& delays, const std::vector<ObjectKey>& keys,
                 Viewer& viewer, QuoteRowView& row) {
  row.delayed = static_cast<std::int64_t>(delays.size());
  row.stopped = std::count_if(delays.begin(), delays.end(),
                              [](const core::Delay& delay) { return delay.stopped; });
  for (const core::Delay& delay : delays)
    if (viewer.sees(keys[delay.task].ns))
      row.delays.push_back({keys[delay.task].str(),
                            std::isfinite(delay.by_s) ? std::optional(delay.by_s) : std::nullopt,
                            delay.stopped});
}

QuoteRowView row_view(const core::QuoteRow& row, const Quoted& quoted, Viewer& viewer) {
  QuoteRowView view{.written = row.written,
                    .accepted = row.accepted,
                    .gpu_type = row.written && !row.shape ? "" : type_text(row.gpu_type),
                    .shape = row.shape,
                    .run_s = row.run_s,
                    .gpu_hours = row.gpu_hours,
                    .start = {},
                    .finish = {},
                    .chance = {},
                    .latest_s = row.latest_s,
                    .delayed = {},
                    .stopped = {},
                    .cut_short = row.cut_short,
                    .why_not = row.why_not};
  if (row.forecast) {
    view.start = span_of(row.forecast->start_s);
    if (quoted.quote.length_known && !row.cut_short && (row.written || row.run_s)) {
      view.finish = span_of(row.forecast->finish_s);
      view.chance = row.forecast->chance;
    }
    if (!view.start.p50_s) view.why_not = reason::kBeyondHorizon;
  }
  if (row.delays) name_delays(*row.delays, quoted.keys, viewer, view);
  return view;
}

}  // namespace

Result<QuoteView> AnswerQuery::quote(const PostedTask& posted, Viewer viewer) {
  Impl& my = *impl_;
  QuoteView view;
  core::Variant task = as_one(posted);
  view.task = (task.job ? task.job->key : task.pod->key).str();
  view.problems = task.job ? task.job->problems : task.pod->problems;
  if (const auto& intent = task.job ? task.job->intent : task.pod->intent)
    view.problems.insert(view.problems.end(), intent->problems.begin(), intent->problems.end());
  Quoted quoted;
  bool left_alone = false;
  {
    MutexLock lock(my.mutex);
    core::QuotedTask variants;
    const auto written = my.books.get();
    const StopAsked stop =
        my.within(written->book->size() > kQuickQueue ? my.times.long_quote_s : my.times.quote_s);
    const QueueSight sight =
        my.reader.read({}, [&](const ClusterSnapshot& snapshot, const core::QueueOptions& by) {
          left_alone = is_left_alone(posted, snapshot, my.options.stock_waits, view);
          admit(task, posted.job != nullptr, snapshot, view.problems);
          set_promise(task, posted.job.get(), snapshot, by);
          variants = core::quoted(task, by.now_wall_s);
          if (task.pod && posted.job) variants.waves = core::waves_left(*posted.job);
          return core::with_variants(snapshot, {variants.written, variants.free});
        });
    SLACKLINE_TRY(cluster_is_read(*sight.snapshot));
    quoted.quote =
        core::make_quote(*sight.snapshot, sight.queue, variants, sight.policy, sight.now_s,
                         {my.reader.expect(*written->arrivals, sight.queue), stop});
    view.before = tasks_before(quoted.quote, sight.queue, *written->book);
    for (core::TaskIndex index = 0; index < sight.queue.size(); ++index)
      quoted.keys.push_back(sight.queue.task(index).key);
    if (const auto at = core::find_task(sight.queue, variants.written.uid());
        at < sight.queue.size()) {
      view.length_source = core::to_string(sight.queue.task(at).length);
      quoted.advice = portrait_advice(sight.queue.task(at), sight.options, quoted.quote);
    }
  }
  if (quoted.quote.rows.empty())
    return fail(ErrorCode::kInvalidArgument,
                format("{} asks for no GPUs, or cannot be read{}", printable(view.task, 128),
                       view.problems.empty() ? "" : ": " + printable(view.problems.front(), 200)));
  view.deadline_s = quoted.quote.deadline_s;
  if (task.pod && posted.job) view.note = one_by_one_text(*posted.job, quoted.quote.later_s);
  if (quoted.quote.hindrance) view.reason = quoted.quote.hindrance->reason;
  view.tried = quoted.quote.tried;
  view.advice = std::move(quoted.advice);
  for (std::size_t i = 0; i < quoted.quote.rows.size(); ++i) {
    view.rows.push_back(row_view(quoted.quote.rows[i], quoted, viewer));
    view.rows.back().best = quoted.quote.best == i;
  }
  if (left_alone) leave_to_others(view);
  return view;
}

namespace {

// Of the median finish or, where there is none, start.
std::optional<double> change_of(const core::Outlook& outlook) {
  const auto between = [](double before_s, double after_s) -> std::optional<double> {
    if (before_s == after_s && std::isinf(after_s)) return std::nullopt;
    return after_s - before_s;  // infinite where one of them is beyond the horizon
  };
  const auto finish = between(outlook.before.finish_s.p50(), outlook.after.finish_s.p50());
  if (finish) return finish;
  return between(outlook.before.start_s.p50(), outlook.after.start_s.p50());
}

WhatIfRow what_if_row(const core::Outlook& outlook, const core::Queue& queue, double now_s) {
  constexpr double kLeast_s = 60;
  constexpr double kGrain = 0.03;  // of the time from now: what two plays differ by anyway
  WhatIfRow row;
  const core::QueueTask& task = queue.task(outlook.task);
  row.state = to_string(state_of(task));
  row.start_before = span_of(outlook.before.start_s);
  row.start_after = span_of(outlook.after.start_s);
  row.finish_before = span_of(outlook.before.finish_s);
  row.finish_after = span_of(outlook.after.finish_s);
  row.chance_before = outlook.before.chance;
  row.chance_after = outlook.after.chance;
  const double change_s = change_of(outlook).value_or(0);
  const double ahead_s = row.finish_before.p50_s.value_or(now_s) - now_s;
  row.verdict = "same";
  if (std::abs(change_s) > std::max(kLeast_s, kGrain * ahead_s))
    row.verdict = change_s < 0 ? "gains" : "loses";
  if (std::isfinite(change_s)) row.change_s = change_s;
  return row;
}

WhatIfView what_if_view(const core::Comparison& comparison, const core::Queue& queue, double now_s,
                        std::vector<ObjectKey>& keys) {
  WhatIfView view;
  for (const core::Outlook& outlook : comparison.tasks) {
    WhatIfRow row = what_if_row(outlook, queue, now_s);
    if (outlook.before.chance && outlook.after.chance) {
      ++view.with_deadline;
      view.in_time_before += *outlook.before.chance;
      view.in_time_after += *outlook.after.chance;
    }
    ++(row.verdict == "gains" ? view.gains : row.verdict == "loses" ? view.loses : view.same);
    if (row.verdict == "same") continue;
    view.rows.push_back(std::move(row));
    keys.push_back(queue.task(outlook.task).key);
  }
  return view;
}

void add_ended(const std::vector<ObjectKey>& ended, WhatIfView& view,
               std::vector<ObjectKey>& keys) {
  view.ends = static_cast<std::int64_t>(ended.size());
  for (const ObjectKey& key : ended) {
    WhatIfRow& row = view.rows.emplace_back();
    row.state = "running";
    row.verdict = "ends";
    keys.push_back(key);
  }
}

// The rows that the viewer may see, the greatest change first.
void name_rows(const std::vector<ObjectKey>& keys, Viewer& viewer, WhatIfView& view) {
  std::vector<WhatIfRow> seen;
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    if (!viewer.sees(keys[i].ns)) {
      ++view.hidden;
      continue;
    }
    view.rows[i].task = keys[i].str();
    seen.push_back(std::move(view.rows[i]));
  }
  const auto size_of = [](const WhatIfRow& row) {
    return row.change_s ? std::abs(*row.change_s) : kNever;
  };
  std::sort(seen.begin(), seen.end(), [&](const WhatIfRow& a, const WhatIfRow& b) {
    return std::pair(-size_of(a), a.task) < std::pair(-size_of(b), b.task);
  });
  if (seen.size() > kMostWhatIfRows) seen.resize(kMostWhatIfRows);
  view.rows = std::move(seen);
}

}  // namespace

Result<WhatIfView> AnswerQuery::what_if(const WhatIfQuestion& asked, Viewer viewer) {
  Impl& my = *impl_;
  WhatIfView view;
  std::vector<ObjectKey> keys;
  {
    MutexLock lock(my.mutex);
    const StopAsked stop = my.within(my.times.what_if_s);
    const QueueSight sight = my.reader.read();
    SLACKLINE_TRY(cluster_is_read(*sight.snapshot));
    const auto written = my.books.get();
    SLACKLINE_ASSIGN(const ChangedQueue changed, changed_queue(asked, sight, *written->arrivals));
    const std::vector<Uid> names = names_of(sight.queue);
    const std::vector<Uid> names_after = names_of(changed.queue());
    const core::Expected expected = my.reader.expect(*written->arrivals, sight.queue);
    const core::Comparison comparison = core::compare(
        {sight.queue.state(), sight.policy, names, expected, sight.queue},
        {changed.state(), changed.policy, names_after, changed.expected, changed.queue()},
        sight.now_s, stop);
    if (!comparison.complete) return fail(out_of_time(my.times.what_if_s));
    view = what_if_view(comparison, sight.queue, sight.now_s, keys);
    add_ended(changed.ended, view, keys);
    view.question = changed.question;
  }
  name_rows(keys, viewer, view);
  return view;
}

Result<std::vector<AdviceView>> AnswerQuery::advice(const ObjectKey& key) {
  Impl& my = *impl_;
  MutexLock lock(my.mutex);
  const QueueSight sight = my.reader.read();
  SLACKLINE_TRY(cluster_is_read(*sight.snapshot));
  const Job* job = sight.snapshot->find_job(key.ns, key.name);
  if (job == nullptr)
    return fail(ErrorCode::kNotFound,
                format("no Job {} in the cluster", printable(key.str(), 128)));
  const core::ResizingPtr resizing = core::Resizer(*sight.snapshot, sight.options)
                                         .of(*job, job->intent ? *job->intent : TaskIntent());
  if (!resizing)
    return fail(ErrorCode::kNotFound,
                format("no advice for {}: no run of its family that is evidence was measured on a "
                       "GPU type that it may run on, or {} is off; GET /v1/portraits?job= shows "
                       "what is known",
                       printable(key.str(), 128), contract::kResize));
  std::vector<AdviceView> rows;
  for (const core::SizedType& sized : resizing->types)
    for (AdviceView& row : advice_views(sized.advice, sized.gpu_type))
      rows.push_back(std::move(row));
  return rows;
}

Result<std::vector<CalendarRow>> AnswerQuery::calendar(const CalendarQuestion& question) {
  Impl& my = *impl_;
  MutexLock lock(my.mutex);
  const QueueSight sight = my.reader.read();
  SLACKLINE_TRY(cluster_is_read(*sight.snapshot));
  core::CalendarOptions options;
  options.horizon_s = question.days * kCalendarDay_s;
  options.slot_s = std::max(3600.0, options.horizon_s / kSlots);
  options.expected = my.reader.expect(*my.books.get()->arrivals, sight.queue);
  options.stop = my.within(my.times.what_if_s);
  std::vector<CalendarRow> rows;
  const auto slots = core::make_calendar(sight.queue, sight.policy, sight.now_s, options);
  if (slots.empty() && !sight.queue.pools().empty()) return fail(out_of_time(my.times.what_if_s));
  const GpuType asked = question.gpu_type.empty()
                            ? GpuType()
                            : core::resolved_type(GpuType(question.gpu_type), *sight.catalog);
  for (const core::CalendarSlot& slot : slots) {
    const std::string type = type_text(slot.gpu_type);
    const bool whole = sight.catalog->is_whole(slot.resource);
    if (question.gpu_type.empty() || slot.gpu_type == asked ||
        to_lower(type) == to_lower(question.gpu_type))
      rows.push_back({whole ? type : format("{} ({})", type, slot.resource), slot.begins_s,
                      slot.ends_s, slot.gpus, slot.free_p50, slot.free_p90});
  }
  if (rows.empty() && !question.gpu_type.empty())
    return fail(ErrorCode::kNotFound,
                format("no usable node has GPUs of type {}; /v1/cluster lists the types",
                       printable(question.gpu_type, 64)));
  return rows;
}

}  // namespace slackline::control
