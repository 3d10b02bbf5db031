// check_kueue: where Kueue's quotas and the shares of Slackline's queues promise one GPU twice.
//
// Neither side knows of the other: Jobs with Kueue's label wait for Kueue's quotas, all others for
// Slackline. An error is more than the nodes have; a warning is what a team, or a borrower, may get
// from both sides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/finding.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/kueue.h"
#include "slackline/model/queue_rules.h"

namespace slackline::control {

struct KueuePromises {
  std::string gpu_type;                // empty: the quotas of flavors that name none
  std::int64_t quotas = 0;             // nominal, of all ClusterQueues and Cohorts
  std::int64_t own = 0;                // of all of Slackline's queues
  std::optional<std::int64_t> gpus{};  // of the nodes; absent: not known
};
// "A100: 16 GPUs by quotas of Kueue, 8 owned by queues of Slackline, 32 on nodes"
std::string to_string(const KueuePromises& promises);

struct KueueCheck {
  std::vector<KueuePromises> types;  // that somebody is promised, by name
  config::Findings findings;
};

// Pure.
KueueCheck check_kueue(const KueueSetup& kueue, const QueueRulebook& queues,
                       const GpuCatalog& catalog);

}  // namespace slackline::control
