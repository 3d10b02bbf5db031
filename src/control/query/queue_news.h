// QueueNews: what is to be told of tasks that wait, as Events on their Job or pod:
//
//   Queued          Normal    once for each coming into the queue: position, predicted times
//   DeadlineAtRisk  Warning   predicted to end after its deadline; again only after it was in time
//
// A gang that is only a label has no object to tell it on. Not thread-safe.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "cluster/watch/source.h"
#include "message/queue_view.h"

namespace slackline::control {

class QueueNews {
 public:
  // False where the Event cannot be taken now: it is offered again with the next rows.
  using Tell = std::function<bool(TaskEvent)>;

  // `rows` is the whole queue.
  void tell(const std::vector<QueueRow>& rows, const Tell& tell);
  // Somebody else tells from now on.
  void forget() { told_.clear(); }

 private:
  struct Told {
    bool queued = false;
    bool at_risk = false;
  };
  std::unordered_map<Uid, Told> told_;  // of those that wait
};

}  // namespace slackline::control
