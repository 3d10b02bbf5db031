// BookBoard: where the present book of forecasts hangs, for whoever is asked for a start or finish.
//
// Thread-safe; reading it takes no longer than a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "slackline/base/mutex.h"
#include "slackline/core/cluster/arrivals.h"
#include "slackline/core/planning/forecast_book.h"

namespace slackline::control {

struct WrittenBook {
  std::shared_ptr<const core::ForecastBook> book;  // never null
  std::uint64_t snapshot_version = 0;              // which it was made from
  // Who is expected to come again, as the book was written; never null.
  std::shared_ptr<const core::ArrivalList> arrivals = std::make_shared<const core::ArrivalList>();
};

class BookBoard {
 public:
  WrittenBook book() const {
    MutexLock lock(mutex_);
    return written_;
  }

  void publish(WrittenBook written) {
    MutexLock lock(mutex_);
    std::swap(written_, written);
  }

 private:
  mutable Mutex mutex_;
  WrittenBook written_ SLACKLINE_GUARDED_BY(mutex_){
      .book = std::make_shared<const core::ForecastBook>()};
};

}  // namespace slackline::control
