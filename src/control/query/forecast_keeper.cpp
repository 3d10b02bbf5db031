#include "control/query/forecast_keeper.h"

#include <algorithm>
#include <utility>

#include "control/query/queue_rows.h"
#include "slackline/core/cluster/queue_shares.h"

namespace slackline::control {

ForecastKeeper::ForecastKeeper(const PlannerOptions& options, const Published<Known>& known,
                               const cluster::ClusterSource& source,
                               const Published<PlannerView>& planner, Published<WrittenBook>& books,
                               QueueEvents::Post post, obs::MetricsRegistry& metrics,
                               const Clock& clock)
    : options_(options),
      known_(known),
      source_(source),
      planner_(planner),
      books_(books),
      post_(std::move(post)),
      clock_(clock),
      age_(metrics.gauge("slackline_forecast_book_age_seconds")),
      size_(metrics.gauge("slackline_forecast_book_tasks")),
      duration_(
          metrics.histogram("slackline_forecast_book_duration_seconds", obs::latency_bounds_s())),
      reader_(options_, known, source, planner_, clock),
      overload_(metrics),
      meters_(metrics),
      scores_(metrics),
      holds_(metrics) {}

void ForecastKeeper::start() {
  worker_.start([this] {
    const StopAsked stop = [this] { return worker_.is_stopping(); };
    while (worker_.wait(look(stop))) {
    }
  });
}

void ForecastKeeper::refresh_metrics() const {
  holds_.show(*source_.snapshot(), clock_.steady_s());
  const auto written = books_.get();
  age_.set(written->snapshot_version == 0 ? 0 : clock_.wall_s() - written->book->made_s());
}

double ForecastKeeper::look(const StopAsked& stop) {
  if (!due()) return kLook_s;
  const double began_s = clock_.steady_s();
  renew(stop);
  const double took_s = clock_.steady_s() - began_s;
  duration_.observe(took_s);
  return std::max(kLook_s, kRestRatio * took_s);
}

bool ForecastKeeper::due() const {
  const SnapshotPtr snapshot = source_.snapshot();
  if (!snapshot->synced) return false;
  const auto written = books_.get();
  if (snapshot->version != written->snapshot_version) return true;
  if (known_.get()->version != known_version_ || options_.settings->get() != settings_) return true;
  if (!somebody_waits_) return false;
  const double now_s = clock_.wall_s();
  const double age_s = now_s - written->book->made_s();
  return age_s > kStale_s || (age_s >= kSoonAgain_s && now_s >= written->book->holds_until_s());
}

void ForecastKeeper::renew(const StopAsked& stop) {
  known_version_ = known_.get()->version;
  settings_ = options_.settings->get();
  const QueueSight sight = reader_.read(stop);
  const std::vector<Uid> names = names_of(sight.queue);
  arrivals_.note(sight.queue, names, sight.now_s);
  const auto book = std::make_shared<const core::ForecastBook>(
      sight.queue.state(), names, sight.now_s, sight.policy, stop,
      reader_.expect(*arrivals_.list(), sight.queue), node_names_of(sight));
  if (is_asked(stop)) return;  // queue and book may be empty
  scores_.score(sight, *book);
  books_.set({book, sight.snapshot->version, arrivals_.list(), scores_.coverage(),
              core::share_ledger(sight.queue, sight.settings->queues, *sight.catalog),
              core::full_queues(sight.queue)});
  size_.set(static_cast<double>(book->size()));
  const auto planner = planner_.get();
  const std::vector<QueueRow> rows = queue_rows(sight, *planner, *book);
  somebody_waits_ = std::any_of(rows.begin(), rows.end(), [](const QueueRow& row) {
    return row.state == TaskState::kWaiting;
  });
  meters_.show(rows, book->made_s());
  overload_.look(queue_loads(rows, load_of(sight)), sight.now_s, planner->leads ? &post_ : nullptr);
  if (planner->leads)
    queue_events_.post(rows, sight.now_s, {.notes = settings_->note_forecasts}, post_);
  else if (!planner->active && settings_->shadow_events)
    queue_events_.post(rows, sight.now_s, {.shadow = true}, post_);
  else
    queue_events_.forget();
}

}  // namespace slackline::control
