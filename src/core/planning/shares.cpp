#include "slackline/core/planning/shares.h"

#include <algorithm>
#include <utility>

namespace slackline::core {

namespace {

std::int64_t beyond(std::int64_t used, std::int64_t bound) {
  return std::max<std::int64_t>(0, used - bound);
}

}  // namespace

ShareUse::ShareUse(std::shared_ptr<const Shares> shares) : shares_(std::move(shares)) {
  if (shares_ == nullptr) return;
  const std::size_t rows = shares_->of_queue.size() + 1;
  const std::size_t types = shares_->types.size();
  all_ = {std::vector<std::int64_t>(rows * types), std::vector<std::int64_t>(types)};
  staying_ = all_;
  running_.resize(rows);
  asked_back_.resize(types);
}

std::size_t ShareUse::row_of(QueueNumber queue) const {
  return std::min<std::size_t>(queue, shares_->of_queue.size());
}

std::int64_t ShareUse::own_of(QueueNumber queue, PoolIndex pool) const {
  if (shares_ == nullptr) return 0;
  const std::uint32_t type = shares_->type_of_pool[pool];
  return type == Shares::kNoType ? 0 : shares_->share(row_of(queue), type).own;
}

bool ShareUse::is_own(const SharedUse& use) const {
  if (shares_ == nullptr) return false;
  const std::uint32_t type = shares_->type_of_pool[use.pool];
  if (type == Shares::kNoType) return false;
  const std::size_t row = row_of(use.queue);
  return all_.used[place_of(row, type)] + use.gpus <= shares_->share(row, type).own;
}

bool ShareUse::is_beyond_own(QueueNumber queue, PoolIndex pool) const {
  if (shares_ == nullptr) return false;
  const std::uint32_t type = shares_->type_of_pool[pool];
  if (type == Shares::kNoType) return false;
  const std::size_t row = row_of(queue);
  return all_.used[place_of(row, type)] > shares_->share(row, type).own;
}

bool ShareUse::has_room(const SharedUse& use) const {
  const std::size_t row = row_of(use.queue);
  if (row < shares_->of_queue.size()) {
    const std::int64_t most = shares_->of_queue[row].max_running;
    if (most > 0 && running_[row] >= most) return false;
  }
  const std::uint32_t type = shares_->type_of_pool[use.pool];
  // What nobody owns any of is bounded by room alone.
  if (type == Shares::kNoType || shares_->owned[type] == 0) return true;
  if (is_own(use)) return true;
  if (asked_back_[type]) return false;
  const GpuShare share = shares_->share(row, type);
  const auto fits = [&](const Use& in_use, std::int64_t bound) {
    const std::int64_t used = in_use.used[place_of(row, type)];
    const std::int64_t more = beyond(used + use.gpus, bound) - beyond(used, bound);
    return more == 0 || in_use.of_pool[type] + more <= shares_->pool(type);
  };
  return fits(all_, share.own + share.borrow) && (!use.stays || fits(staying_, share.own));
}

void ShareUse::count(const SharedUse& use, int sign) {
  if (shares_ == nullptr) return;
  const std::size_t row = row_of(use.queue);
  running_[row] += sign;
  const std::uint32_t type = shares_->type_of_pool[use.pool];
  if (type == Shares::kNoType) return;
  const GpuShare share = shares_->share(row, type);
  const auto add = [&](Use& in_use, std::int64_t bound) {
    std::int64_t& used = in_use.used[place_of(row, type)];
    in_use.of_pool[type] -= beyond(used, bound);
    used += std::int64_t{sign} * use.gpus;
    in_use.of_pool[type] += beyond(used, bound);
  };
  add(all_, share.own + share.borrow);
  if (use.stays) add(staying_, share.own);
}

}  // namespace slackline::core
