// FIFO: by submit time. /skip: what does not fit lets others pass, as kube-scheduler does.
#include "by_request.h"
#include "policies.h"

namespace slackline::core {

namespace {

constexpr PolicyVariant<RequestOptions> kFifoVariants[] = {
    kCountings[0],
    kCountings[1],
    {"skip", [](RequestOptions& options) { options.skip = true; }},
};

void serve_fifo(Planning& planning, const RequestOptions& options) {
  serve_in_order(planning, options, [&](TaskIndex index) { return planning.task(index).submit_s; });
}

}  // namespace

PolicyKind fifo_kind() {
  return kind_of<RequestOptions>({"fifo", "fifo", serve_fifo, kFifoVariants});
}

}  // namespace slackline::core
