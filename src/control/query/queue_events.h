// QueueEvents: the Events of tasks that wait, on their Job, their pod or the object whose
// controller makes the gang:
//
//   Queued          Normal    once for each coming into the queue, and when its start has moved
//   DeadlineAtRisk  Warning   predicted to end after its deadline; again only after it was in time
//
// Queued tells predicted times, the chance to be in time, position and GPUs, and names nobody. It
// is the same Event each time, with a count (event_post.h).
//
// A Job's forecast costs two writes, the Event and the annotation. All of them together keep to
// kWrites_per_s after a burst of kWriteBurst; who was told longest ago, or never, comes first.
//
// A gang that is only a label has no object to carry an Event. Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cluster/watch/source.h"
#include "message/queue_view.h"
#include "slackline/base/token_bucket.h"

namespace slackline::control {

// On the object that its author knows. Not of a gang that is only a label: it has none.
TaskEvent event_on(const QueueRow& row, std::string_view why, std::string message, bool warning);

class QueueEvents {
 public:
  // False where the Event cannot be taken now: it is offered again with the next rows.
  using Post = std::function<bool(TaskEvent)>;

  // A start has moved by more than both: this, and this share of the wait as told before.
  static constexpr double kMoved_s = 300;
  static constexpr double kMovedShare = 0.1;
  static constexpr double kAgainAfter_s = 300;  // for one task
  static constexpr double kWrites_per_s = 5;
  static constexpr double kWriteBurst = 50;

  struct Manner {
    bool notes = false;   // what is told of a Job is kept in its annotation, too
    bool shadow = false;  // nobody plans: it is told what active mode would do
  };

  // `rows` is the whole queue, as it is at `now_s`, epoch seconds.
  void post(const std::vector<QueueRow>& rows, double now_s, const Manner& manner,
            const Post& post);
  // Another replica posts from now on.
  void forget() { posted_.clear(); }

 private:
  struct Told {
    double at_s = 0;
    std::optional<double> start_s;  // as predicted
  };
  struct Posted {
    std::optional<Told> queued;
    bool at_risk = false;
  };
  // Whether what was told is out of date, and may be told again.
  static bool is_news(const QueueRow& row, const Told& told, double now_s);

  std::unordered_map<Uid, Posted> posted_;  // of those that wait
  TokenBucket writes_;
};

}  // namespace slackline::control
