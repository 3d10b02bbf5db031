// ShareUse: the GPUs that queues use, against their shares of each GPU type (002, "private" and
// "public" quota).
//
// Of a type a queue owns some GPUs, and may borrow some of those that others own and leave idle.
// What nobody owns is the pool. What a queue uses beyond own + borrow is of the pool, and all
// queues together never use more of the pool than it has: O(1) to ask, in any order of starts.
// Whoever has no share, and what nobody planned, uses the pool.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "slackline/core/planning/loss_accounts.h"
#include "slackline/core/planning/node_set.h"
#include "slackline/model/placement.h"
#include "slackline/model/queue_rules.h"

namespace slackline::core {

struct QueueShare {
  std::int64_t max_running = 0;      // tasks; 0: any number
  std::vector<GpuShare> of_types{};  // by type of Shares::types; of one that is not there: none
};

// The rules. A type here is one that somebody has a share of.
struct Shares {
  static constexpr std::uint32_t kNoType = 0xffffffff;  // of a pool that nobody has a share of

  std::vector<std::string> types{};
  std::vector<std::uint32_t> type_of_pool{};  // by PoolIndex: into `types`
  std::vector<std::int64_t> gpus{};           // by type: that planned tasks may use
  std::vector<std::int64_t> owned{};          // by type: by all queues; may be more than there are
  std::vector<QueueShare> of_queue{};         // by QueueNumber; those behind have none

  // What nobody owns.
  std::int64_t pool(std::uint32_t type) const {
    return gpus[type] > owned[type] ? gpus[type] - owned[type] : 0;
  }
  GpuShare share(std::size_t queue, std::uint32_t type) const {
    return queue < of_queue.size() && type < of_queue[queue].of_types.size()
               ? of_queue[queue].of_types[type]
               : GpuShare{};
  }
};

class ShareUse {
 public:
  ShareUse() = default;  // admits everything
  explicit ShareUse(std::shared_ptr<const Shares> shares);

  const Shares* shares() const { return shares_.get(); }  // null: there are none
  bool admits(QueueNumber queue, PoolIndex pool, int gpus) const {
    return shares_ == nullptr || has_room(queue, pool, gpus);
  }
  // A task of the queue begins or ends to use so many.
  void begin(QueueNumber queue, PoolIndex pool, int gpus) { count(queue, pool, gpus, 1); }
  void end(QueueNumber queue, PoolIndex pool, int gpus) { count(queue, pool, -gpus, -1); }
  // Of everybody: what is used beyond shares. O(1).
  std::int64_t of_pool(std::uint32_t type) const { return of_pool_[type]; }
  std::int64_t running(QueueNumber queue) const { return running_[row_of(queue)]; }

 private:
  bool has_room(QueueNumber queue, PoolIndex pool, int gpus) const;
  void count(QueueNumber queue, PoolIndex pool, int gpus, int tasks);
  // All that have no share are the last row.
  std::size_t row_of(QueueNumber queue) const;
  std::int64_t beyond_share(std::size_t row, std::uint32_t type, std::int64_t used) const;

  std::shared_ptr<const Shares> shares_;
  std::vector<std::int64_t> used_;     // by row and type
  std::vector<std::int64_t> of_pool_;  // by type
  std::vector<std::int64_t> running_;  // tasks by row
};

}  // namespace slackline::core
