// FIFO: by submit time.
#include "by_request.h"
#include "policies.h"

namespace slackline::core {

namespace {

void serve_fifo(Planning& planning, const RequestOptions& options) {
  serve_in_order(planning, options, [&](TaskIndex index) { return planning.task(index).submit_s; });
}

}  // namespace

PolicyKind fifo_kind() {
  return kind_of<RequestOptions>({"fifo", "fifo", serve_fifo, kCountings});
}

}  // namespace slackline::core
