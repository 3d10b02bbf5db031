// ShareLedger: what queues use of their shares of the GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/model/queue_rules.h"

namespace slackline {

// What a queue uses of one GPU type. Runs take what is left in the order of their starts: of the
// queue's own, then borrowed, as far as others leave theirs idle, then of the pool.
struct ShareLine {
  std::string queue;     // its account; empty: pods that Slackline did not plan
  std::string parent{};  // a queue with children: itself; empty: neither child nor parent
  std::string gpu_type;
  GpuShare share{};      // of a parent: `own` is what its children do not own
  std::int64_t own = 0;  // in use
  std::int64_t borrowed = 0;
  std::int64_t of_pool = 0;

  std::int64_t in_use() const { return own + borrowed + of_pool; }
};

struct SharedType {
  std::string gpu_type;
  std::int64_t gpus = 0;   // that planned tasks may use
  std::int64_t owned = 0;  // of all queues; may be more than there are
  std::int64_t pool = 0;
  std::int64_t pool_in_use = 0;
};

struct ShareLedger {
  std::vector<SharedType> types;
  std::vector<ShareLine> lines;  // by queue, then type: with a share, or in use
};

}  // namespace slackline
