#include "slackline/core/planning/shares.h"

#include <algorithm>
#include <utility>

namespace slackline::core {

ShareUse::ShareUse(std::shared_ptr<const Shares> shares) : shares_(std::move(shares)) {
  if (shares_ == nullptr) return;
  const std::size_t rows = shares_->of_queue.size() + 1;
  used_.resize(rows * shares_->types.size());
  of_pool_.resize(shares_->types.size());
  running_.resize(rows);
}

std::size_t ShareUse::row_of(QueueNumber queue) const {
  return std::min<std::size_t>(queue, shares_->of_queue.size());
}

std::int64_t ShareUse::beyond_share(std::size_t row, std::uint32_t type, std::int64_t used) const {
  const GpuShare share = shares_->share(row, type);
  return std::max<std::int64_t>(0, used - share.own - share.borrow);
}

bool ShareUse::has_room(QueueNumber queue, PoolIndex pool, int gpus) const {
  const std::size_t row = row_of(queue);
  if (row < shares_->of_queue.size()) {
    const std::int64_t most = shares_->of_queue[row].max_running;
    if (most > 0 && running_[row] >= most) return false;
  }
  const std::uint32_t type = shares_->type_of_pool[pool];
  // What nobody owns any of is bounded by room alone.
  if (type == Shares::kNoType || shares_->owned[type] == 0) return true;
  const std::int64_t used = used_[row * shares_->types.size() + type];
  const std::int64_t more = beyond_share(row, type, used + gpus) - beyond_share(row, type, used);
  return more == 0 || of_pool_[type] + more <= shares_->pool(type);
}

void ShareUse::count(QueueNumber queue, PoolIndex pool, int gpus, int tasks) {
  if (shares_ == nullptr) return;
  const std::size_t row = row_of(queue);
  running_[row] += tasks;
  const std::uint32_t type = shares_->type_of_pool[pool];
  if (type == Shares::kNoType) return;
  std::int64_t& used = used_[row * shares_->types.size() + type];
  of_pool_[type] -= beyond_share(row, type, used);
  used += gpus;
  of_pool_[type] += beyond_share(row, type, used);
}

}  // namespace slackline::core
