// Capacity: every workload type has an equal quota of the GPUs, in name order, and lends nothing.
//
// Within a type tasks start in order; the first that finds no place in its quota, or no placement,
// blocks its type for this call. A task that needs more than its quota is never served.
#include <algorithm>

#include "by_request.h"
#include "policies.h"
#include "slackline/base/saturating.h"

namespace slackline::core {
namespace {

std::int64_t quota_of(const Planning& planning, std::size_t type) {
  const auto types = static_cast<std::int64_t>(planning.state().tasks().types().size());
  const std::int64_t total = planning.total();
  return total / types + (static_cast<std::int64_t>(type) < total % types ? 1 : 0);
}

// By type: GPUs it may still take.
std::vector<std::int64_t> rooms(const Planning& planning) {
  const TaskTable& tasks = planning.state().tasks();
  std::vector<std::int64_t> room;
  for (std::size_t type = 0; type < tasks.types().size(); ++type)
    room.push_back(quota_of(planning, type));
  for (const TaskIndex task : planning.state().running())
    room[tasks.type_of(task)] -= planning.state().running_choice(task).gpus;
  return room;
}

void serve_capacity(Planning& planning, const RequestOptions& options) {
  if (planning.state().waiting().empty()) return;
  std::vector<std::int64_t> room = rooms(planning);
  std::vector<bool> blocked(room.size(), false);
  const std::vector<TaskIndex> queue(planning.state().waiting().begin(),
                                     planning.state().waiting().end());
  for (const TaskIndex task : queue) {
    const std::uint32_t type = planning.state().tasks().type_of(task);
    if (blocked[type]) continue;
    const std::int64_t most =
        options.counting == Counting::kShrink ? room[type] : quota_of(planning, type);
    const auto choice = room[type] > 0
                            ? by_request(planning, task, saturating_int(most), options.counting)
                            : std::nullopt;
    if (choice && planning.menu(task).all[*choice].gpus <= room[type]) {
      room[type] -= planning.menu(task).all[*choice].gpus;
      planning.start(task, *choice);
    } else if (planning.state().may_use_any(task)) {
      blocked[type] = true;
    }
  }
}

}  // namespace

PolicyKind capacity_kind() {
  return kind_of<RequestOptions>(
      {"capacity", "capacity", serve_capacity, std::span(kCountings).first(1)});
}

}  // namespace slackline::core
