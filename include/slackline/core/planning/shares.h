// ShareUse: the GPUs that queues use, against their shares of each GPU type (002, "private" and
// "public" quota).
//
// Of a type a queue owns some GPUs, and may borrow some of those that others own and leave idle.
// What nobody owns is the pool. What a queue uses beyond own + borrow is of the pool, and all
// queues together never use more of the pool than it has: O(1) to ask, in any order of starts.
// Whoever has no share, and what nobody planned, uses the pool.
//
// Who borrowed gives back when the owner asks (policy/ask_back.h). So that there always is enough
// that can be given back, the runs that are never stopped for that borrow nothing: by themselves
// they fit into what their queues own, and into the pool.
//
// Beside shares, the ResourceQuotas of a namespace bound what its tasks use together: nobody gives
// that back before he ends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "slackline/base/saturating.h"
#include "slackline/core/planning/loss_accounts.h"
#include "slackline/core/planning/node_set.h"
#include "slackline/model/placement.h"
#include "slackline/model/queue_rules.h"

namespace slackline::core {

struct QueueShare {
  static constexpr std::uint32_t kNoGroup = 0xffffffff;

  std::uint32_t group = kNoGroup;  // a parent and its children: into Shares::groups
  std::int64_t max_running = 0;    // tasks; 0: any number
  // That its tasks wait, at most, for others to give back.
  double give_back_within_s = kDefaultGiveBack_s;
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
  // By group and type: what a parent and its children use together beyond that is of the pool.
  std::vector<std::vector<std::int64_t>> groups{};

  // What nobody owns.
  std::int64_t pool(std::uint32_t type) const {
    return gpus[type] > owned[type] ? gpus[type] - owned[type] : 0;
  }
  // QueueShare::kNoGroup: of none.
  std::uint32_t group(std::size_t queue) const {
    return queue < of_queue.size() ? of_queue[queue].group : QueueShare::kNoGroup;
  }
  GpuShare share(std::size_t queue, std::uint32_t type) const {
    return queue < of_queue.size() && type < of_queue[queue].of_types.size()
               ? of_queue[queue].of_types[type]
               : GpuShare{};
  }
};

// What a task takes of a limit of a ResourceQuota.
struct QuotaNeed {
  std::size_t limit = 0;    // into what the quotas leave
  std::int64_t amount = 0;  // of each of these, in the limit's unit
  enum class Each : std::uint8_t { kTask, kNode, kGpu };
  Each each = Each::kTask;
  bool held = false;  // its pods are there: its start takes no more, its end gives back
  bool kept = false;  // it counts ended pods too: an end gives nothing back
};

// What a run uses, or would.
struct SharedUse {
  QueueNumber queue = 0;
  PoolIndex pool = 0;
  int gpus = 0;
  int nodes = 0;
  bool stays = false;  // it is not stopped to give back
  bool anew = false;   // what is held has been given back: its start takes that again
  std::span<const QuotaNeed> quotas{};

  std::int64_t of(const QuotaNeed& need) const {
    if (need.each == QuotaNeed::Each::kTask) return need.amount;
    return saturating_mul(need.amount, need.each == QuotaNeed::Each::kGpu ? gpus : nodes);
  }
};

class ShareUse {
 public:
  ShareUse() = default;  // admits everything
  explicit ShareUse(std::shared_ptr<const Shares> shares);

  const Shares* shares() const { return shares_.get(); }  // null: there are none
  bool admits(const SharedUse& use) const {
    return (quota_left_.empty() || is_within_quotas(use)) && (shares_ == nullptr || has_room(use));
  }
  // From now on, what quotas leave, by QuotaNeed::limit: without what is held.
  void keep_quotas(std::vector<std::int64_t> left) { quota_left_ = std::move(left); }
  // The same rules but for quotas, and nothing in use.
  ShareUse unused() const { return shares_ == nullptr ? ShareUse() : ShareUse(shares_); }
  void begin(const SharedUse& use) { count(use, 1); }
  // A run of the queue on nodes that are in no pool begins or, with -1, ends.
  void count_elsewhere(QueueNumber queue, int runs) {
    if (shares_ != nullptr) running_[row_of(queue)] += runs;
  }
  void end(const SharedUse& use) { count(use, -1); }
  // Its queue owns them, and does not use them. False of a type that nobody has a share of.
  bool is_own(const SharedUse& use) const;
  bool owns(QueueNumber queue, PoolIndex pool) const { return own_of(queue, pool) > 0; }
  // The queue uses more than it owns there. The same.
  bool is_beyond_own(QueueNumber queue, PoolIndex pool) const;
  // An owner waits for what was borrowed of the type: until forget_asks() nobody gets more there
  // than he owns.
  void ask_back(PoolIndex pool) { asked_back_[shares_->type_of_pool[pool]] = true; }
  void forget_asks() { asked_back_.assign(asked_back_.size(), false); }
  // Of everybody: what is used beyond shares. O(1).
  std::int64_t of_pool(std::uint32_t type) const { return all_.of_pool[type]; }
  // By runs that stay: what is used beyond what their queues own.
  std::int64_t staying_of_pool(std::uint32_t type) const { return staying_.of_pool[type]; }
  std::int64_t running(QueueNumber queue) const { return running_[row_of(queue)]; }
  // As many of its tasks run as may at a time (max_running). False without shares.
  bool is_full(QueueNumber queue) const;

 private:
  // GPUs in use, by row and type; and of each type what is of the pool.
  struct Use {
    std::vector<std::int64_t> used;
    std::vector<std::int64_t> of_pool;
  };
  // Of a group, by type.
  struct GroupUse {
    std::int64_t used = 0;
    std::int64_t beyond = 0;  // its queues: each what it uses beyond its share
  };

  std::int64_t own_of(QueueNumber queue, PoolIndex pool) const;
  bool has_room(const SharedUse& use) const;
  bool is_within_quotas(const SharedUse& use) const;
  // By how much what is of the pool grows with so many GPUs more, or less, of a row.
  std::int64_t growth(std::size_t row, std::uint32_t type, std::int64_t gpus) const;
  void count(const SharedUse& use, int sign);
  // All that have no share are the last row.
  std::size_t row_of(QueueNumber queue) const;
  std::size_t place_of(std::size_t row, std::uint32_t type) const {
    return row * shares_->types.size() + type;
  }

  std::shared_ptr<const Shares> shares_;
  Use all_;
  Use staying_;  // of the runs that stay, as if nobody might borrow
  std::vector<std::vector<GroupUse>> groups_;
  std::vector<std::int64_t> running_;  // tasks by row
  std::vector<bool> asked_back_;       // by type
  std::vector<std::int64_t> quota_left_;
};

}  // namespace slackline::core
