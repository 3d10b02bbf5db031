// QueueEvents: the Events of tasks that wait, on their Job or pod:
//
//   Queued          Normal    once for each coming into the queue: position, predicted times
//   DeadlineAtRisk  Warning   predicted to end after its deadline; again only after it was in time
//
// A gang that is only a label has no object to carry an Event. Not thread-safe.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "cluster/watch/source.h"
#include "message/queue_view.h"

namespace slackline::control {

class QueueEvents {
 public:
  // False where the Event cannot be taken now: it is offered again with the next rows.
  using Post = std::function<bool(TaskEvent)>;

  // `rows` is the whole queue.
  void post(const std::vector<QueueRow>& rows, const Post& post);
  // Another replica posts from now on.
  void forget() { posted_.clear(); }

 private:
  struct Posted {
    bool queued = false;
    bool at_risk = false;
  };
  std::unordered_map<Uid, Posted> posted_;  // of those that wait
};

}  // namespace slackline::control
