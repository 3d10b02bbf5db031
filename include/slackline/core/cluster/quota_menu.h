// The part of a menu that the quotas of its task's namespace admit now.
#pragma once

#include <memory>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/quotas.h"

namespace slackline::core {

// The same menu if everything is admitted; without choices if nothing is. The norms of the whole
// menu stay.
std::shared_ptr<const PlacementMenu> admitted_menu(const QuotaBook& quotas, const QueueTask& task,
                                                   const std::shared_ptr<const PlacementMenu>& menu,
                                                   const std::vector<Pool>& pools, double theta);

// All that the task asks of its namespace's quotas in this shape: one of its pods, and how many.
struct QuotaDemand {
  Resources pod;
  std::int64_t pods = 0;  // that do not exist yet
};
QuotaDemand demand_of(const QueueTask& task, const Placement& shape);

}  // namespace slackline::core
