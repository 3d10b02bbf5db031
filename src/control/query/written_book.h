// WrittenBook: the book of forecasts as it was last written, published for queries.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "message/answer_views.h"
#include "slackline/core/cluster/arrivals.h"
#include "slackline/core/planning/forecast_book.h"
#include "slackline/model/share_ledger.h"

namespace slackline::control {

// How many of the last intervals of forecasts held what happened (forecast_scores.h).
struct Coverage {
  CoverageView start;
  CoverageView finish;
};

struct WrittenBook {
  // Never null.
  std::shared_ptr<const core::ForecastBook> book = std::make_shared<const core::ForecastBook>();
  std::uint64_t snapshot_version = 0;  // which it was made from
  // Who is expected to come again, as the book was written; never null.
  std::shared_ptr<const core::ArrivalList> arrivals = std::make_shared<const core::ArrivalList>();
  Coverage coverage{};
  ShareLedger shares{};                 // as they were used then
  std::set<std::string> full_queues{};  // then (core/cluster/queue_shares.h)
};

}  // namespace slackline::control
