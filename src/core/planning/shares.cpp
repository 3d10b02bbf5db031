#include "slackline/core/planning/shares.h"

#include <algorithm>
#include <utility>

namespace slackline::core {

namespace {

std::int64_t beyond(std::int64_t used, std::int64_t bound) {
  return std::max<std::int64_t>(0, used - bound);
}

// Whether a start takes of the quota. What no end gives back is taken once.
bool takes(const QuotaNeed& need, const SharedUse& use) {
  return need.kept ? !need.held && !use.anew : !need.held || use.anew;
}

}  // namespace

ShareUse::ShareUse(std::shared_ptr<const Shares> shares) : shares_(std::move(shares)) {
  if (shares_ == nullptr) return;
  const std::size_t rows = shares_->of_queue.size() + 1;
  const std::size_t types = shares_->types.size();
  all_ = {std::vector<std::int64_t>(rows * types), std::vector<std::int64_t>(types)};
  staying_ = all_;
  groups_.assign(shares_->groups.size(), std::vector<GroupUse>(types));
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

bool ShareUse::is_full(QueueNumber queue) const {
  if (shares_ == nullptr) return false;
  const std::size_t row = row_of(queue);
  if (row >= shares_->of_queue.size()) return false;
  const std::int64_t most = shares_->of_queue[row].max_running;
  return most > 0 && running_[row] >= most;
}

bool ShareUse::has_room(const SharedUse& use) const {
  if (is_full(use.queue)) return false;
  const std::size_t row = row_of(use.queue);
  const std::uint32_t type = shares_->type_of_pool[use.pool];
  // What nobody owns any of is bounded by room alone.
  if (type == Shares::kNoType || shares_->owned[type] == 0) return true;
  if (is_own(use)) return true;
  if (asked_back_[type]) return false;
  if (const std::int64_t more = growth(row, type, use.gpus);
      more > 0 && all_.of_pool[type] + more > shares_->pool(type))
    return false;
  if (!use.stays) return true;
  const std::int64_t own = shares_->share(row, type).own;
  const std::int64_t used = staying_.used[place_of(row, type)];
  const std::int64_t more = beyond(used + use.gpus, own) - beyond(used, own);
  return more == 0 || staying_.of_pool[type] + more <= shares_->pool(type);
}

bool ShareUse::is_within_quotas(const SharedUse& use) const {
  return std::all_of(use.quotas.begin(), use.quotas.end(), [&](const QuotaNeed& need) {
    return !takes(need, use) || need.amount <= 0 || use.of(need) <= quota_left_[need.limit];
  });
}

std::int64_t ShareUse::growth(std::size_t row, std::uint32_t type, std::int64_t gpus) const {
  const GpuShare share = shares_->share(row, type);
  const std::int64_t used = all_.used[place_of(row, type)];
  const std::int64_t bound = share.own + share.borrow;
  const std::int64_t more = beyond(used + gpus, bound) - beyond(used, bound);
  const std::uint32_t group = shares_->group(row);
  if (group == QueueShare::kNoGroup) return more;
  const GroupUse& now = groups_[group][type];
  const std::int64_t most = shares_->groups[group][type];
  return std::max(now.beyond + more, beyond(now.used + gpus, most)) -
         std::max(now.beyond, beyond(now.used, most));
}

void ShareUse::count(const SharedUse& use, int sign) {
  if (!quota_left_.empty())
    for (const QuotaNeed& need : use.quotas)
      if (sign < 0 ? !need.kept : takes(need, use)) quota_left_[need.limit] -= sign * use.of(need);
  if (shares_ == nullptr) return;
  const std::size_t row = row_of(use.queue);
  running_[row] += sign;
  const std::uint32_t type = shares_->type_of_pool[use.pool];
  if (type == Shares::kNoType) return;
  const std::int64_t gpus = std::int64_t{sign} * use.gpus;
  all_.of_pool[type] += growth(row, type, gpus);
  const GpuShare share = shares_->share(row, type);
  const auto add = [&](Use& in_use, std::int64_t bound) {
    std::int64_t& used = in_use.used[place_of(row, type)];
    const std::int64_t before = beyond(used, bound);
    used += gpus;
    return beyond(used, bound) - before;
  };
  const std::int64_t more = add(all_, share.own + share.borrow);
  if (const std::uint32_t group = shares_->group(row); group != QueueShare::kNoGroup) {
    groups_[group][type].used += gpus;
    groups_[group][type].beyond += more;
  }
  if (use.stays) staying_.of_pool[type] += add(staying_, share.own);
}

}  // namespace slackline::core
