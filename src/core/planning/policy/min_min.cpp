// Min-Min: earliest deadline first (000 section 5).
#include <utility>

#include "by_request.h"
#include "policies.h"

namespace slackline::core {

namespace {

void serve_min_min(Planning& planning, const RequestOptions& options) {
  serve_in_order(planning, options, [&](TaskIndex index) {
    return std::pair(planning.task(index).deadline_s, planning.task(index).submit_s);
  });
}

}  // namespace

PolicyKind min_min_kind() {
  return kind_of<RequestOptions>({"min-min", "min-min", serve_min_min, kCountings});
}

}  // namespace slackline::core
