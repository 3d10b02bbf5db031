// Placements for a task with a requested number of GPUs, as FIFO, Min-Min, Weighted Fair and
// Capacity give them; and service in an order in which the first task without a placement blocks
// the rest.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "policy_kind.h"

namespace slackline::core {

// How many GPUs a baseline gives to a task that names a number.
enum class Counting { kAsAsked, kShrink, kIdle };

struct RequestOptions {
  Counting counting = Counting::kAsAsked;
  bool skip = false;  // a task without a placement does not block the rest
};

inline constexpr PolicyVariant<RequestOptions> kCountings[] = {
    {"shrink", [](RequestOptions& options) { options.counting = Counting::kShrink; }},
    {"idle", [](RequestOptions& options) { options.counting = Counting::kIdle; }},
};

inline constexpr int kAnyGpus = std::numeric_limits<int>::max();

// The placement with exactly min(most, asked_gpus) GPUs that fits now, on the fewest nodes; with
// kShrink of fewer GPUs where none fits; with kIdle the fastest that fits.
std::optional<ChoiceIndex> by_request(const Planning& planning, TaskIndex task, int most,
                                      Counting counting);

// Serves the waiting tasks by `key(task)` ascending, then arrival; the first that gets no
// placement, though the share of its queue leaves it one, ends the call, unless tasks are skipped.
template <class Key>
void serve_in_order(Planning& planning, const RequestOptions& options, const Key& key) {
  if (planning.idle() == 0) return;
  std::vector<TaskIndex> queue(planning.state().waiting().begin(),
                               planning.state().waiting().end());
  std::stable_sort(queue.begin(), queue.end(),
                   [&](TaskIndex a, TaskIndex b) { return key(a) < key(b); });
  for (const TaskIndex task : queue) {
    const auto choice = by_request(planning, task, kAnyGpus, options.counting);
    if (!choice && (options.skip || !planning.state().may_use_any(task))) continue;
    if (!choice) return;
    planning.start(task, *choice);
  }
}

}  // namespace slackline::core
