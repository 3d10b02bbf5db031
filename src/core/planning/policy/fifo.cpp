// FIFO: by submit time.
#include "by_request.h"
#include "policies.h"

namespace slackline::core {

void serve_fifo(Planning& planning, const PolicyOptions& options) {
  serve_in_order(planning, options, [&](TaskIndex t) { return planning.task(t).submit_s; });
}

}  // namespace slackline::core
