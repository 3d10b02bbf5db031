// What a task takes of the quotas of its namespace, and which of its placements they admit.
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

// They have room for the task in this shape now.
bool is_admitted(const QuotaBook& quotas, const QueueTask& task, const Placement& shape);

// No placement of the menu would be admitted if nothing were used.
bool is_never_admitted(const QuotaBook& quotas, const QueueTask& task, const PlacementMenu& menu);

// What the task takes of the quotas of its namespace by a placement of `menu`, and what its pods
// that are there hold of them.
std::vector<QuotaNeed> quota_needs(const QuotaBook& quotas, const QueueTask& task,
                                   const PlacementMenu& menu);

}  // namespace slackline::core
