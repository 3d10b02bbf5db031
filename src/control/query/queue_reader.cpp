#include "control/query/queue_reader.h"

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

QueueSight QueueReader::read() {
  SnapshotPtr snapshot = source_.snapshot();
  core::QueueOptions asked;
  asked.catalog = &options_.catalog;
  asked.predictor = board_.known()->predictor;
  asked.theta = options_.theta;
  asked.now_wall_s = clock_.wall_s();
  asked.now_steady_s = clock_.steady_s();
  core::Queue queue = core::make_queue(*snapshot, asked, menus_);
  return {std::move(snapshot), std::move(queue), options_.policy, asked.now_wall_s,
          asked.now_steady_s};
}

}  // namespace slackline::control
