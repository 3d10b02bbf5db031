#include "slackline/core/cluster/queue_shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "slackline/core/planning/share_parts.h"
#include "slackline/core/planning/share_types.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

// A parent and its children, each named; a group for each parent, in the order of names.
class Families {
 public:
  explicit Families(const QueueRulebook& rulebook) : rulebook_(rulebook) {
    for (const auto& [queue, rules] : rulebook.named)
      if (!rules.parent.empty()) groups_.emplace(rules.parent, 0);
    std::uint32_t next = 0;
    for (auto& [parent, group] : groups_)
      group = next++;
  }

  const std::map<std::string, std::uint32_t>& groups() const { return groups_; }
  // Of both, the parent's name; empty: neither.
  std::string parent_of(const std::string& queue) const {
    const std::string& parent = rulebook_.of(queue).parent;
    if (!parent.empty()) return parent;
    return groups_.contains(queue) ? queue : std::string();
  }
  bool is_child(const std::string& queue, const std::string& parent) const {
    return rulebook_.of(queue).parent == parent;
  }

 private:
  const QueueRulebook& rulebook_;
  std::map<std::string, std::uint32_t> groups_;
};

std::vector<GpuShare> written_share(const QueueRules& rules, const ShareTypes& names) {
  std::vector<GpuShare> share(names.types().size());
  for (const auto& [name, of_type] : rules.shares) {
    share[names.of(name)].own += of_type.own;
    share[names.of(name)].borrow += of_type.borrow;
  }
  return share;
}

// Of a parent's own tasks: what its children do not own.
QueueShare share_of(const std::string& queue, const QueueRulebook& rulebook,
                    const Families& families, const ShareTypes& names) {
  const QueueRules& rules = rulebook.of(queue);
  QueueShare share{.max_running = rules.max_running,
                   .give_back_within_s = rules.give_back_within_s,
                   .of_types = written_share(rules, names)};
  const std::string parent = families.parent_of(queue);
  if (!parent.empty()) share.group = families.groups().at(parent);
  if (parent != queue) return share;
  for (const auto& [child, of_child] : rulebook.named) {
    if (!families.is_child(child, queue)) continue;
    const std::vector<GpuShare> theirs = written_share(of_child, names);
    for (std::uint32_t type = 0; type < theirs.size(); ++type)
      share.of_types[type].own =
          std::max<std::int64_t>(0, share.of_types[type].own - theirs[type].own);
  }
  return share;
}

std::int64_t owned(const QueueRulebook& rulebook, const ShareTypes& names, std::uint32_t type) {
  std::int64_t gpus = 0;
  for (const auto& [queue, rules] : rulebook.named)
    if (rules.parent.empty()) gpus += written_share(rules, names)[type].own;
  return gpus;
}

using Lines = std::map<std::pair<std::string, std::uint32_t>, ShareLine>;

ShareLine& line_of(Lines& lines, const Shares& shares, const std::string& queue, std::uint32_t type,
                   const GpuShare& share) {
  const auto [at, first] = lines.try_emplace({queue, type});
  if (first) at->second = {.queue = queue, .gpu_type = shares.types[type], .share = share};
  return at->second;
}

// That this GPU type is of; null: nobody has a share of it.
const SharedType* shared_type(const ShareLedger& ledger, const GpuType& type,
                              const GpuCatalog& catalog) {
  const SharedType* accepts = nullptr;
  for (const SharedType& each : ledger.types) {
    if (each.gpu_type == type.str()) return &each;
    if (accepts == nullptr && AcceptedTypes(GpuType(each.gpu_type), catalog).preference(type))
      accepts = &each;
  }
  return accepts;
}

ShareLine line_of(const ShareLedger& ledger, const std::string& account, const std::string& type) {
  for (const ShareLine& line : ledger.lines)
    if (line.queue == account && line.gpu_type == type) return line;
  return {};
}

std::int64_t over(std::int64_t in_use, std::int64_t most) {
  return std::max<std::int64_t>(0, in_use - most);
}

// What of so many more GPUs would be of the pool, as ShareUse counts it.
std::int64_t more_of_pool(const ShareLedger& ledger, const ShareLine& used, std::int64_t gpus) {
  const std::int64_t bound = used.share.own + used.share.borrow;
  const std::int64_t more = over(used.in_use() + gpus, bound) - over(used.in_use(), bound);
  if (used.parent.empty()) return more;
  std::int64_t in_use = 0;
  std::int64_t most = 0;
  std::int64_t beyond = 0;
  for (const ShareLine& line : ledger.lines) {
    if (line.parent != used.parent || line.gpu_type != used.gpu_type) continue;
    in_use += line.in_use();
    most += line.share.own + (line.queue == line.parent ? line.share.borrow : 0);
    beyond += over(line.in_use(), line.share.own + line.share.borrow);
  }
  return std::max(beyond + more, over(in_use + gpus, most)) - std::max(beyond, over(in_use, most));
}

ShareOutlook outlook_on(const ShareLedger& ledger, const SharedType& type, const ShareLine& used,
                        std::int64_t gpus) {
  const std::int64_t own = over(used.share.own, used.in_use());
  const std::int64_t of_pool = more_of_pool(ledger, used, gpus);
  ShareOutlook outlook{ShareOutlook::kOwn, type.gpu_type, std::max<std::int64_t>(0, gpus - own)};
  if (outlook.borrowed > 0) outlook.kind = ShareOutlook::kBorrowed;
  if (of_pool > 0) outlook.kind = ShareOutlook::kPool;
  if (of_pool > type.pool - type.pool_in_use) outlook.kind = ShareOutlook::kNone;
  outlook.has_share = used.share != GpuShare{};
  return outlook;
}

bool limits_running(const QueueRulebook& rulebook) {
  return rulebook.defaults.max_running > 0 ||
         std::any_of(rulebook.named.begin(), rulebook.named.end(),
                     [](const auto& named) { return named.second.max_running > 0; });
}

}  // namespace

std::shared_ptr<const Shares> make_shares(const QueueRulebook& rulebook,
                                          const std::vector<std::string>& accounts,
                                          const std::vector<QueuePool>& pools, const FreeGpus& free,
                                          const GpuCatalog& catalog) {
  const ShareTypes names(rulebook, catalog);
  if (names.types().empty() && !limits_running(rulebook)) return nullptr;
  auto shares = std::make_shared<Shares>();
  shares->types = names.types();
  shares->gpus.resize(names.types().size());
  for (PoolIndex pool = 0; pool < pools.size(); ++pool) {
    const Pool& of = pools[pool].pool;
    const std::uint32_t type =
        catalog.is_whole(of.resource) ? names.of_gpus(of.type) : Shares::kNoType;
    shares->type_of_pool.push_back(type);
    if (type != Shares::kNoType) shares->gpus[type] += free.total(pool);
  }
  for (std::uint32_t type = 0; type < names.types().size(); ++type)
    shares->owned.push_back(owned(rulebook, names, type));
  const Families families(rulebook);
  for (const auto& [parent, group] : families.groups()) {
    std::vector<std::int64_t>& most = shares->groups.emplace_back();
    for (const GpuShare& share : written_share(rulebook.of(parent), names))
      most.push_back(share.own + share.borrow);
  }
  for (const std::string& account : accounts)
    shares->of_queue.push_back(share_of(account, rulebook, families, names));
  return shares;
}

ShareLedger share_ledger(const Queue& queue, const QueueRulebook& rulebook,
                         const GpuCatalog& catalog) {
  const PlanState& state = queue.state();
  const Shares* shares = state.shares().shares();
  if (shares == nullptr || shares->types.empty()) return {};
  ShareLedger ledger;
  for (std::uint32_t type = 0; type < shares->types.size(); ++type)
    ledger.types.push_back(
        {shares->types[type], shares->gpus[type], shares->owned[type], shares->pool(type), 0});
  Lines lines;
  const std::vector<ShareParts> parts = share_parts(state);
  for (const TaskIndex task : state.running()) {
    const std::uint32_t type = shares->type_of_pool[state.running_choice(task).pool];
    if (type == Shares::kNoType) continue;
    const QueueNumber number = state.tasks()[task].queue;
    ShareLine& line =
        line_of(lines, *shares, queue.queue_names()[number], type, shares->share(number, type));
    line.own += parts[task].own;
    line.borrowed += parts[task].borrowed;
    line.of_pool += parts[task].of_pool;
    ledger.types[type].pool_in_use += parts[task].of_pool;
  }
  const ShareTypes names(rulebook, catalog);
  const Families families(rulebook);
  for (const auto& [name, rules] : rulebook.named) {
    const QueueShare share = share_of(name, rulebook, families, names);
    for (std::uint32_t type = 0; type < share.of_types.size(); ++type)
      if (share.of_types[type] != GpuShare{})
        line_of(lines, *shares, name, type, share.of_types[type]);
  }
  for (auto& [key, line] : lines) {
    line.parent = families.parent_of(line.queue);
    ledger.lines.push_back(std::move(line));
  }
  return ledger;
}

std::optional<ShareOutlook> share_outlook(const ShareLedger& ledger, const std::string& account,
                                          const AcceptedTypes& accepted,
                                          const std::vector<GpuType>& present,
                                          const GpuCatalog& catalog, std::int64_t gpus) {
  std::optional<std::pair<int, ShareOutlook>> best;
  for (const GpuType& type : present) {
    const auto preference = accepted.preference(type);
    if (!preference) continue;
    const SharedType* shared = shared_type(ledger, type, catalog);
    if (shared == nullptr) return std::nullopt;
    ShareOutlook outlook =
        outlook_on(ledger, *shared, line_of(ledger, account, shared->gpu_type), gpus);
    if (!best || std::pair(outlook.kind, *preference) < std::pair(best->second.kind, best->first))
      best = {*preference, std::move(outlook)};
  }
  return best ? std::optional(std::move(best->second)) : std::nullopt;
}

std::set<std::string> full_queues(const Queue& queue) {
  std::set<std::string> full;
  const std::vector<std::string>& names = queue.queue_names();
  for (QueueNumber number = 0; number < names.size(); ++number)
    if (queue.state().shares().is_full(number)) full.insert(names[number]);
  return full;
}

std::string_view reason_of_shares(const PlanState& state, TaskIndex task) {
  const PlanTask& of = state.tasks()[task];
  if (of.menu->empty() || state.may_use_any(task)) return {};
  const Shares& shares = *state.shares().shares();
  if (state.shares().is_full(of.queue)) return reason::kShareExceeded;
  const bool has_share =
      std::any_of(of.menu->all.begin(), of.menu->all.end(), [&](const Choice& choice) {
        const std::uint32_t type = shares.type_of_pool[choice.pool];
        return type != Shares::kNoType && shares.share(of.queue, type) != GpuShare{};
      });
  return has_share ? reason::kShareExceeded : reason::kPoolBusy;
}

std::vector<std::string_view> share_kinds(const Queue& queue) {
  std::vector<std::string_view> kinds;
  for (const ShareParts& parts : share_parts(queue.state())) {
    std::string_view kind;
    if (parts.own > 0) kind = "private";
    if (parts.borrowed > 0) kind = "borrowed";
    if (parts.of_pool > 0) kind = "pool";
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace slackline::core
