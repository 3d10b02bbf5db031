// Actuator: performs our writes, a few at a time, and knows which of them the watch does not show
// yet.
//
// perform() registers each write before it is sent, so whoever plans next plans on it (hand-over
// rule 1). A write of an object that still waits for an answer is left out, and so is whatever the
// bounded queue has no room for: both are decided again. A write that names others
// (OwnWrite::after) waits until they are written, and is dropped with the first of them that fails.
// A conflict needs nothing: the watch will tell what is there. A write that may or may not have
// happened counts as done for a while. An object whose write failed rests, 0.2 s doubling to 30 s;
// what could not be stopped is no victim meanwhile. A Job whose release is refused for ten seconds
// is not tried for 30 s doubling to 10 min, and nobody is stopped for it for ten minutes doubling
// to a day. What was done is told in an Event and counted, by reason.
//
// Thread-safety: all methods; start() once, then stop() and join(). Writes are sent by kWriters
// threads, each object's in the order in which they were decided. Without start() nothing is sent
// but by send_next().
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster/watch/source.h"
#include "control/plan/event_post.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/mailbox.h"
#include "slackline/base/mutex.h"
#include "slackline/core/handover/own_writes.h"

namespace slackline::control {

class StopLedger;

// Of a Job, since none of its releases was taken. Times are steady.
struct RefusedRelease {
  ObjectKey job;
  double since_s = 0;
  int times = 0;            // once it is sure that it will be so again
  double until_s = 0;       // it is not tried
  double stops_from_s = 0;  // nobody is stopped for it before
};

class Actuator {
 public:
  // `answered` is told after each answer, on the writer's thread; it must not block.
  Actuator(cluster::ClusterWriter& writer, obs::MetricsRegistry& metrics,
           std::function<void()> answered, const Clock& clock);
  ~Actuator();
  Actuator(const Actuator&) = delete;
  Actuator& operator=(const Actuator&) = delete;

  // Told of every write that the API server has taken, on the writer's thread; must not block.
  // Before start().
  void on_written(std::function<void(const OwnWrite&)> callback) { written_ = std::move(callback); }

  // Every stop is booked there before it is sent; it outlives this. Before start().
  void book_stops_in(StopLedger& ledger) { ledger_ = &ledger; }

  void start();
  // What is under way is finished, what waits is given up.
  void stop();
  void join();

  // Sends the write that has waited longest, on the caller's thread; for tests that start none.
  // False: no write waits.
  bool send_next();

  // Returns how many were taken.
  std::size_t perform(std::vector<OwnWrite> writes);
  struct Overlay {
    SnapshotPtr snapshot;                // with what the watch does not show yet
    std::unordered_set<Uid> unanswered;  // whose writes, laid over it, may still fail
    bool gave_up = false;                // a write that was laid over the last one, in doubt
    std::unordered_set<Uid> refused{};   // Jobs and pods that could not be stopped a moment ago
    std::unordered_map<Uid, RefusedRelease>
        unreleased{};  // Jobs that the API server lets not start
  };
  // The snapshot is `snapshot` itself where there is nothing to lay over it.
  Overlay overlaid(const SnapshotPtr& snapshot);
  // An Event beside those of writes; false: refused (event_post.h).
  bool add_event(TaskEvent event) { return events_.add(std::move(event)); }
  // Nothing of an earlier term is under way any more: forgets it.
  void forget();

 private:
  struct Order {
    std::uint64_t number = 0;
    OwnWrite write;
  };

  // Not sent before the stops that make its room.
  struct Held {
    Order order;
    std::unordered_set<Uid> awaits;
  };

  struct Rest {
    double until_s = 0;  // steady
    double step_s = 0;
    bool spared = false;  // it could not be stopped, and is no victim meanwhile
  };

  void run();
  void carry_out(const Order& order);
  Result<std::string> send_out(const OwnWrite& write);
  // Whether the API server will not let the Job start.
  bool settle(const Order& order, Result<std::string> version) SLACKLINE_REQUIRES(mutex_);
  bool note_refused(const OwnWrite& write, double now_s) SLACKLINE_REQUIRES(mutex_);
  bool is_blocked(const Uid& uid, double now_s) const SLACKLINE_REQUIRES(mutex_);
  std::unordered_set<Uid> stops_in_vain(const std::vector<OwnWrite>& writes, double now_s) const
      SLACKLINE_REQUIRES(mutex_);
  bool send(Order order) SLACKLINE_REQUIRES(mutex_);  // false: there is no room
  void let_go(const Uid& stopped, bool written) SLACKLINE_REQUIRES(mutex_);
  void count(const OwnWrite& write, std::string_view result);
  void count_start(const PlanNote& plan) SLACKLINE_REQUIRES(mutex_);
  void tell_of(const OwnWrite& write);
  void count_stop(const OwnWrite& write);
  bool told_lately(const Uid& released);

  cluster::ClusterWriter& writer_;
  obs::MetricsRegistry& metrics_;
  obs::Counter starts_;
  const std::function<void()> answered_;
  StopLedger* ledger_ = nullptr;  // null: nothing is booked
  std::function<void(const OwnWrite&)> written_ = [](const OwnWrite&) {};
  const Clock& clock_;
  EventPost events_;
  Mailbox<Order> orders_;
  std::vector<std::thread> threads_;

  Mutex mutex_;
  core::OwnWrites writes_ SLACKLINE_GUARDED_BY(mutex_);
  std::vector<Held> held_ SLACKLINE_GUARDED_BY(mutex_);
  std::unordered_map<Uid, Rest> resting_ SLACKLINE_GUARDED_BY(mutex_);
  std::unordered_map<Uid, RefusedRelease> unreleased_ SLACKLINE_GUARDED_BY(mutex_);
  std::unordered_map<Uid, double> released_ SLACKLINE_GUARDED_BY(mutex_);  // when, steady
  std::unordered_set<std::string> begun_ SLACKLINE_GUARDED_BY(mutex_);     // plans, by id
};

}  // namespace slackline::control
