// Weighted Fair: submit time and deadline count half each (000 section 5).
#include <utility>

#include "by_request.h"
#include "policies.h"

namespace slackline::core {

namespace {

void serve_weighted_fair(Planning& planning, const RequestOptions& options) {
  serve_in_order(planning, options, [&](TaskIndex index) {
    const PlanTask& task = planning.task(index);
    return std::pair(0.5 * task.submit_s + 0.5 * task.deadline_s, task.id);
  });
}

}  // namespace

PolicyKind weighted_fair_kind() {
  return kind_of<RequestOptions>(
      {"weighted-fair", "weighted-fair", serve_weighted_fair, kCountings});
}

}  // namespace slackline::core
