// The shares that an administrator gives to queues (`queues[].shares`), in terms of the planner's
// queue; and the ledger: what is used of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/free_gpus.h"
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

// By task: "private" where all GPUs of a run are its queue's own, "pool" where any is of the pool,
// else "borrowed"; empty where it does not run, or on GPUs that nobody has a share of.
std::vector<std::string_view> share_kinds(const Queue& queue);

}  // namespace slackline::core
