// PlannerView: what only the planner knows, published for queries.
#pragma once

#include <string>
#include <unordered_map>

#include "slackline/model/ids.h"

namespace slackline::control {

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

}  // namespace slackline::control
