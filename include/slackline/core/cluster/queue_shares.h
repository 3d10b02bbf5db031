// The shares that an administrator gives to queues (`queues[].shares`), in terms of the planner's
// queue; and the ledger: what is used of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/free_gpus.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/shares.h"
#include "slackline/model/share_ledger.h"

namespace slackline::core {

// Of whole GPUs. A name accepts the GPU types that gpu-types would (core/planning/gpu_types.h).
// `accounts` by QueueNumber; null: nobody has a share or a limit.
std::shared_ptr<const Shares> make_shares(const QueueRulebook& rulebook,
                                          const std::vector<std::string>& accounts,
                                          const std::vector<QueuePool>& pools, const FreeGpus& free,
                                          const GpuCatalog& catalog);

// Empty where nobody has a share. Pure: the same queue gives the same ledger.
ShareLedger share_ledger(const Queue& queue, const QueueRulebook& rulebook,
                         const GpuCatalog& catalog);

// What a task of this account and so many GPUs would use if it started now: on the best of the
// types that it accepts of those that are `present`, by kind, then by the order of preference.
struct ShareOutlook {
  enum Kind : std::uint8_t { kOwn, kBorrowed, kPool, kNone } kind = kOwn;  // kNone: it waits
  std::string gpu_type;
  std::int64_t borrowed = 0;  // of its GPUs; those of the pool as well
  bool has_share = false;     // its account, of that type
};
// nullopt: of one of them nobody has a share, or none is there.
std::optional<ShareOutlook> share_outlook(const ShareLedger& ledger, const std::string& account,
                                          const AcceptedTypes& accepted,
                                          const std::vector<GpuType>& present,
                                          const GpuCatalog& catalog, std::int64_t gpus);

// The accounts of which as many tasks run as may at a time (maxRunning).
std::set<std::string> full_queues(const Queue& queue);

// Why the shares let a task start nowhere, whether there is room or not: ShareExceeded, or PoolBusy
// where its queue has a share of no type that it accepts. Empty: they do let it.
std::string_view reason_of_shares(const PlanState& state, TaskIndex task);

// By task: "private" where all GPUs of a run are its queue's own, "pool" where any is of the pool,
// else "borrowed"; empty where it does not run, or on GPUs that nobody has a share of.
std::vector<std::string_view> share_kinds(const Queue& queue);

}  // namespace slackline::core
