// Min-Min: earliest deadline first (000 section 5).
#include <utility>

#include "by_request.h"
#include "policies.h"

namespace slackline::core {

void serve_min_min(Planning& planning, const PolicyOptions& options) {
  serve_in_order(planning, options, [&](TaskIndex t) {
    return std::pair(planning.task(t).deadline_s, planning.task(t).submit_s);
  });
}

}  // namespace slackline::core
