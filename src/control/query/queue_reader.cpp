#include "control/query/queue_reader.h"

#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/cluster/not_in_queue.h"
#include "slackline/core/shadow/stock_queue.h"

namespace slackline::control {

std::vector<Uid> names_of(const core::Queue& queue) {
  std::vector<Uid> names;
  names.reserve(queue.size());
  for (core::TaskIndex task = 0; task < queue.size(); ++task)
    names.push_back(name_of(queue.task(task)));
  return names;
}

std::string why_missing(const PlannerOptions& options, const ClusterSnapshot& snapshot,
                        const ObjectKey& key) {
  if (auto found = core::why_not_in_queue(snapshot, key)) return *std::move(found);
  const std::string name = printable(key.str(), 128);
  if (options.has_ended && options.has_ended(key))
    return format("{} is not in the queue: it has ended: see slackline history {}", name, name);
  return format(
      "{} is not in the queue: there is no Job or pod of that name in the namespace {}: -n names "
      "another one, slackline tasks lists all",
      name, printable(key.ns, 64));
}

core::NodeNameOf node_names_of(const QueueSight& sight) {
  return [&sight](core::PoolIndex pool, core::PoolNode node) {
    return sight.snapshot->node(sight.queue.pools()[pool].nodes[node]).node->name;
  };
}

std::shared_ptr<const core::ForecastBook> QueueReader::book_for(const QueueSight& sight,
                                                                const WrittenBook& written) {
  const core::PlanState& state = sight.queue.state();
  const bool holds = sight.now_s < written.book->holds_until_s();
  if ((written.snapshot_version == sight.snapshot->version && holds) ||
      state.waiting().size() > kMostForecast ||
      state.running().size() + written.arrivals->tasks.size() > kMostPlayed)
    return written.book;
  return std::make_shared<const core::ForecastBook>(
      state, names_of(sight.queue), sight.now_s, sight.policy, StopAsked{},
      expect(*written.arrivals, sight.queue), node_names_of(sight));
}

QueueSight QueueReader::read(StopAsked stop, const Change& change) {
  SnapshotPtr snapshot = source_.snapshot();
  const SettingsPtr settings = options_.settings->get();
  core::QueueOptions asked = options_.queue_options(*settings, *known_.get(), source_, clock_);
  std::shared_ptr<const PlannerView> planner = planner_.get();
  asked.stop_book = planner->stop_book.get();
  asked.refused = &planner->refused;
  asked.foresee = true;
  asked.foresee_always = always_;
  asked.stop = std::move(stop);
  if (options_.stock_waits)
    snapshot = std::make_shared<const ClusterSnapshot>(
        core::with_stock_queue(*snapshot, *options_.stock_waits));
  if (change) snapshot = std::make_shared<const ClusterSnapshot>(change(*snapshot, asked));
  core::Queue queue = core::make_queue(*snapshot, asked, menus_);
  QueueSight sight{std::move(snapshot), std::move(queue),   settings->policy,
                   asked.now_wall_s,    asked.now_steady_s, asked.catalog};
  sight.settings = settings;
  sight.planner = std::move(planner);
  sight.options = std::move(asked);
  return sight;
}

}  // namespace slackline::control
