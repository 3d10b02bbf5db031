#include "control/query/queue_reader.h"

#include <utility>

#include "slackline/core/shadow/stock_queue.h"

namespace slackline::control {

Uid name_of(const core::QueueTask& task) {
  return task.uid.empty() ? Uid(task.key.str()) : task.uid;
}

std::vector<Uid> names_of(const core::Queue& queue) {
  std::vector<Uid> names;
  names.reserve(queue.size());
  for (core::TaskIndex task = 0; task < queue.size(); ++task)
    names.push_back(name_of(queue.task(task)));
  return names;
}

QueueSight QueueReader::read(StopAsked stop) {
  SnapshotPtr snapshot = source_.snapshot();
  const SettingsPtr settings = options_.settings->get();
  core::QueueOptions asked = options_.queue_options(*settings, *known_.get(), source_, clock_);
  asked.foresee = true;
  asked.stop = std::move(stop);
  if (options_.stock_waits)
    snapshot = std::make_shared<const ClusterSnapshot>(core::with_stock_queue(*snapshot));
  core::Queue queue = core::make_queue(*snapshot, asked, menus_);
  return {std::move(snapshot), std::move(queue),   settings->policy,
          asked.now_wall_s,    asked.now_steady_s, asked.catalog};
}

}  // namespace slackline::control
