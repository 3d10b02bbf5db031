// What-if questions, read and carried out: the queue as it would be. Pure; private to answers/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/answers/answer_query.h"
#include "control/query/queue_reader.h"
#include "slackline/base/result.h"
#include "slackline/core/answers/what_if.h"

namespace slackline::control {

// "4xA100x8": nodes, GPU type, GPUs of each. kInvalidArgument says what is wrong.
Result<core::AddedNodes> parse_added(const std::string& text);

struct ChangedQueue {
  std::string question;  // for people
  core::Policy policy;
  core::Expected expected;
  const core::Queue* same = nullptr;         // the queue as it was read, where that is unchanged
  std::optional<core::Queue> other{};        // else
  std::optional<core::PlanState> drained{};  // in place of the queue's
  std::vector<ObjectKey> ended{};            // runs without a plan that the drain ends; each once

  const core::Queue& queue() const { return other ? *other : *same; }
  const core::PlanState& state() const { return drained ? *drained : queue().state(); }
};

// `sight` outlives it.
Result<ChangedQueue> changed_queue(const WhatIfQuestion& question, const QueueSight& sight,
                                   const core::ArrivalList& arrivals);

}  // namespace slackline::control
