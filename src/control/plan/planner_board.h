// PlannerBoard: where the planner hangs out what it alone knows, for those who answer questions.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "slackline/base/mutex.h"
#include "slackline/model/ids.h"

namespace slackline::control {

// Immutable once it hangs there.
struct PlannerView {
  struct Backoff {
    double until_s = 0;  // steady
    std::string reason;  // a code of model/reason.h
    friend bool operator==(const Backoff&, const Backoff&) = default;
  };

  bool active = false;  // a planner runs here at all
  bool leads = false;
  std::string leader;                         // who holds the Lease; empty: nobody
  std::unordered_map<Uid, Backoff> backoffs;  // by Job; of a leader

  friend bool operator==(const PlannerView&, const PlannerView&) = default;
};

class PlannerBoard {
 public:
  std::shared_ptr<const PlannerView> view() const {
    MutexLock lock(mutex_);
    return view_;
  }

  void publish(PlannerView view) {
    auto next = std::make_shared<const PlannerView>(std::move(view));
    MutexLock lock(mutex_);
    view_.swap(next);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const PlannerView> view_ SLACKLINE_GUARDED_BY(mutex_) =
      std::make_shared<const PlannerView>();
};

}  // namespace slackline::control
