// Weighted Fair: submit time and deadline count half each (000 section 5).
#include <utility>

#include "by_request.h"
#include "policies.h"

namespace slackline::core {

void serve_weighted_fair(Planning& planning, const PolicyOptions& options) {
  serve_in_order(planning, options, [&](TaskIndex t) {
    const PlanTask& task = planning.task(t);
    return std::pair(0.5 * task.submit_s + 0.5 * task.deadline_s, task.id);
  });
}

}  // namespace slackline::core
