#include "control/query/queue_query.h"

#include "control/query/queue_reader.h"
#include "control/query/queue_rows.h"
#include "control/query/written_book.h"
#include "slackline/base/mutex.h"

namespace slackline::control {

struct QueueQuery::Impl {
  Impl(const PlannerOptions& planning, const Published<Known>& known,
       const cluster::ClusterSource& source, const Published<PlannerView>& planner_view,
       const Published<WrittenBook>& written_books, const Clock& clock)
      : options(planning),
        planner(planner_view),
        books(written_books),
        reader(options, known, source, clock) {}

  const PlannerOptions options;
  const Published<PlannerView>& planner;
  const Published<WrittenBook>& books;
  Mutex mutex;
  QueueReader reader SLACKLINE_GUARDED_BY(mutex);

  // The last book, or a new one where that is quick.
  std::shared_ptr<const core::ForecastBook> book_for(const QueueSight& sight)
      SLACKLINE_REQUIRES(mutex) {
    const auto written = books.get();
    const core::PlanState& state = sight.queue.state();
    if (written->snapshot_version == sight.snapshot->version ||
        state.waiting().size() > kMostForecast ||
        state.running().size() + written->arrivals->tasks.size() > kMostPlayed)
      return written->book;
    return std::make_shared<const core::ForecastBook>(state, names_of(sight.queue), sight.now_s,
                                                      sight.policy, StopAsked{},
                                                      reader.expect(*written->arrivals));
  }
};

QueueQuery::QueueQuery(const PlannerOptions& options, const Published<Known>& known,
                       const cluster::ClusterSource& source, const Published<PlannerView>& planner,
                       const Published<WrittenBook>& books, const Clock& clock)
    : impl_(new Impl(options, known, source, planner, books, clock)) {}

QueueQuery::~QueueQuery() = default;

QueueView QueueQuery::ask(const std::string& ns) {
  Impl& my = *impl_;
  MutexLock lock(my.mutex);
  const QueueSight sight = my.reader.read();
  const auto book = my.book_for(sight);
  const auto planner = my.planner.get();
  QueueView view;
  view.rows = queue_rows(sight, *planner, *book);
  view.now_s = sight.now_s;
  view.forecast_s = book->made_s();
  view.unknown_runs = static_cast<std::int64_t>(sight.queue.runs_of_unknown_length());
  view.read = sight.snapshot->synced;
  view.active = planner->active;
  view.leads = planner->leads;
  view.leader = planner->leader;
  if (!ns.empty()) std::erase_if(view.rows, [&](const QueueRow& row) { return row.key.ns != ns; });
  return view;
}

}  // namespace slackline::control
