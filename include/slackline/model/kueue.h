// KueueSetup: what Kueue promises: its quotas of whole GPUs, who may draw on them, and, where that
// is known, the GPUs there are. It is read to be compared with Slackline's own shares.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

// Of one flavor.
struct KueueQuota {
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  std::string flavor;
  GpuType gpu_type;                         // empty: the flavor names none
  std::int64_t nominal = 0;                 // GPUs
  std::int64_t borrowing_limit = kNoLimit;  // of others of the cohort
  std::int64_t lending_limit = kNoLimit;    // to others of the cohort
};

// A ClusterQueue, or a Cohort, whose quota is the ClusterQueues' below it.
struct KueueQueue {
  std::string name;
  std::string cohort{};  // of a Cohort: its parent; empty: none
  std::vector<KueueQuota> quotas{};
};

struct KueueLocalQueue {
  ObjectKey key;
  std::string cluster_queue;
};

struct KueueSetup {
  std::vector<KueueQueue> cluster_queues;
  std::vector<KueueQueue> cohorts;
  std::vector<KueueLocalQueue> local_queues;
  std::optional<std::map<GpuType, std::int64_t>> gpus;  // of all nodes; absent: not known
};

}  // namespace slackline
