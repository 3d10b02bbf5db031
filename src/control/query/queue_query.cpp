#include "control/query/queue_query.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/watch/source.h"
#include "control/query/queue_reader.h"
#include "control/query/queue_rows.h"
#include "control/query/written_book.h"
#include "control/state/present_situation.h"
#include "slackline/base/mutex.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/queue_shares.h"
#include "slackline/core/shadow/stock_queue.h"
#include "slackline/model/task.h"

namespace slackline::control {

namespace {

constexpr double kFresh_s = 2;
constexpr double kFreshUnchanged_s = 30;

// What rows are made of, besides the time.
struct QueueSources {
  std::uint64_t snapshot_version = 0;
  std::shared_ptr<const WrittenBook> books;
  std::shared_ptr<const PlannerView> planner;

  friend bool operator==(const QueueSources&, const QueueSources&) = default;
};

// The rows of everybody, as they were.
struct KeptQueue {
  QueueView view;
  QueueSources made_of;
  double at_s = 0;  // steady

  bool serves(const QueueSources& now, double now_s) const {
    const double age_s = now_s - at_s;
    return age_s < kFresh_s || (age_s < kFreshUnchanged_s && now == made_of);
  }
};

}  // namespace

struct QueueQuery::Impl {
  Impl(const PlannerOptions& planning, const Published<Known>& known,
       const cluster::ClusterSource& source, const Published<PlannerView>& planner_view,
       const Published<WrittenBook>& written_books, const Clock& time)
      : options(planning),
        cluster(source),
        planner(planner_view),
        books(written_books),
        clock(time),
        reader(options, known, source, planner, time) {}

  QueueView whole() SLACKLINE_REQUIRES(mutex);
  void add_the_rest(QueueView& view) SLACKLINE_REQUIRES(mutex);

  const PlannerOptions options;
  const cluster::ClusterSource& cluster;
  const Published<PlannerView>& planner;
  const Published<WrittenBook>& books;
  const Clock& clock;
  Mutex mutex;
  QueueReader reader SLACKLINE_GUARDED_BY(mutex);
  std::optional<KeptQueue> kept SLACKLINE_GUARDED_BY(mutex);  // of a long queue
};

namespace {

std::vector<std::pair<std::string, std::int64_t>> counts_of(const std::vector<QueueRow>& rows) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const TaskStateFact& fact : kTaskStates)
    counts.emplace_back(
        fact.name, std::count_if(rows.begin(), rows.end(),
                                 [&](const QueueRow& row) { return row.state == fact.state; }));
  counts.emplace_back("late", std::count_if(rows.begin(), rows.end(), [](const QueueRow& row) {
                        return row.predicted_late();
                      }));
  counts.emplace_back("blocked", std::count_if(rows.begin(), rows.end(),
                                               [](const QueueRow& row) { return row.blocked; }));
  return counts;
}

std::int64_t unannotated_tasks(const QueueSight& sight) {
  std::int64_t tasks = 0;
  for (core::TaskIndex index = 0; index < sight.queue.size(); ++index) {
    const core::QueueTask& task = sight.queue.task(index);
    if (task.plan) continue;
    const Job* job = task.job ? task.job.get() : owning_job(*sight.snapshot, *task.member);
    if (!(job != nullptr && job->intent) && !task.member->intent) ++tasks;
  }
  return tasks;
}

std::int64_t left_to_devices(const ClusterSnapshot& snapshot) {
  const ServedByDevices& served = snapshot.served_by_devices;
  if (served.empty()) return 0;
  const auto jobs = std::ranges::count_if(snapshot.jobs, [&](const JobPtr& job) {
    return !job->finished && job->topmost() && device_class_of(served, job->pod_requests);
  });
  return jobs + std::ranges::count_if(snapshot.unbound, [&](const PodPtr& pod) {
           return !pod->owner && device_class_of(served, pod->requests);
         });
}

// Who waits for schedulers that do not ask Slackline: no forecast knows when.
void count_those_of_others(const ClusterSnapshot& snapshot, const std::string& ns,
                           QueueView& view) {
  for (const PodPtr& pod : snapshot.unbound) {
    if (pod->deleting || !pod->requests.wants_gpus() || snapshot.plans_for(pod->scheduler_name) ||
        (!ns.empty() && pod->key.ns != ns))
      continue;
    ++view.for_others;
    view.other_schedulers.insert(printable(pod->scheduler_name, 64));
  }
}

// As if their other controllers, Kueue among them, left the Jobs to Slackline.
ClusterSnapshot taken_over(ClusterSnapshot snapshot) {
  for (JobPtr& job : snapshot.jobs) {
    if (!job->kueue) continue;
    auto ours = std::make_shared<Job>(*job);
    ours->kueue = false;
    job = std::move(ours);
  }
  return snapshot;
}

}  // namespace

void hide_from(Viewer viewer, QueueView& view) {
  for (QueueRow& row : view.rows) {
    row.waits_for_hidden += static_cast<std::int64_t>(
        std::erase_if(row.waits_for, [&](const ObjectKey& task) { return !viewer.sees(task.ns); }));
    if (row.move)
      std::erase_if(row.move->moves,
                    [&](const MovedRun& moved) { return !viewer.sees(moved.task.ns); });
  }
}

QueueQuery::QueueQuery(const PlannerOptions& options, const Published<Known>& known,
                       const cluster::ClusterSource& source, const Published<PlannerView>& planner,
                       const Published<WrittenBook>& books, const Clock& clock)
    : impl_(new Impl(options, known, source, planner, books, clock)) {}

QueueQuery::~QueueQuery() = default;

QueueView QueueQuery::Impl::whole() {
  const QueueSources sources{cluster.snapshot()->version, books.get(), planner.get()};
  const double now_s = clock.steady_s();
  if (kept && kept->serves(sources, now_s)) return kept->view;
  kept.reset();
  const QueueSight sight = reader.read();
  const auto book = reader.book_for(sight, *sources.books);
  QueueView view;
  view.rows = queue_rows(sight, *sources.planner, *book);
  view.now_s = sight.now_s;
  view.forecast_s = book->made_s();
  view.unknown_runs = static_cast<std::int64_t>(sight.queue.runs_of_unknown_length());
  view.unannotated = unannotated_tasks(sight);
  view.left_alone = left_to_devices(*sight.snapshot);
  view.active = sources.planner->active;
  view.leads = sources.planner->leads;
  view.leader = sources.planner->leader;
  if (view.rows.size() > kLongQueue) kept = KeptQueue{view, sources, now_s};
  return view;
}

void QueueQuery::Impl::add_the_rest(QueueView& view) {
  const auto as_if_all_waited = [](const ClusterSnapshot& snapshot, const core::QueueOptions&) {
    return core::with_stock_queue(taken_over(snapshot), core::StockScope::kAll);
  };
  add_not_managed(reader.read({}, as_if_all_waited), view.rows);
}

Result<QueueView> QueueQuery::ask(const std::string& ns, bool all) {
  Impl& my = *impl_;
  SLACKLINE_TRY(cluster_is_read(*my.cluster.snapshot()));
  MutexLock lock(my.mutex);
  QueueView view = my.whole();
  count_those_of_others(*my.cluster.snapshot(), ns, view);
  if (all) my.add_the_rest(view);
  if (!ns.empty()) std::erase_if(view.rows, [&](const QueueRow& row) { return row.key.ns != ns; });
  view.counts = counts_of(view.rows);
  const auto snapshot = my.cluster.snapshot();
  const bool lists_namespaces = snapshot->namespaces && !snapshot->namespaces->empty();
  if (!ns.empty() && view.rows.empty() && lists_namespaces && !snapshot->find_namespace(ns))
    view.unknown_namespace = ns;
  return view;
}

Result<ShareLedger> QueueQuery::shares() {
  Impl& my = *impl_;
  SLACKLINE_TRY(cluster_is_read(*my.cluster.snapshot()));
  MutexLock lock(my.mutex);
  const QueueSight sight = my.reader.read();
  return core::share_ledger(sight.queue, sight.settings->queues, *sight.catalog);
}

Error QueueQuery::missing(const ObjectKey& key) const {
  return {ErrorCode::kNotFound, why_missing(impl_->options, *impl_->cluster.snapshot(), key)};
}

}  // namespace slackline::control
