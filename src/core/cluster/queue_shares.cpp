#include "slackline/core/cluster/queue_shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

// What a name in a configuration means.
struct NamedType {
  AcceptedTypes accepts;
  std::uint32_t type = 0;  // into Shares::types
};

AcceptedTypes accepted(const std::string& name, const GpuCatalog& catalog) {
  TaskIntent intent;
  intent.gpu_types = {GpuType(name)};
  return {intent, catalog};
}

// By name as written; two spellings of a type are one.
class NamedTypes {
 public:
  NamedTypes(const QueueRulebook& rulebook, const GpuCatalog& catalog) {
    for (const auto& [queue, rules] : rulebook.named)
      for (const auto& [name, share] : rules.shares)
        if (!named_.contains(name)) add(name, accepted(name, catalog));
  }

  const std::vector<std::string>& types() const { return types_; }
  std::uint32_t of(const std::string& name) const { return named_.at(name).type; }

  // The type that a pool is of: its own name goes before one that only accepts it.
  std::uint32_t of_pool(const GpuType& type) const {
    const auto own = std::find(types_.begin(), types_.end(), type.str());
    if (own != types_.end()) return static_cast<std::uint32_t>(own - types_.begin());
    for (const auto& [name, named] : named_)
      if (named.accepts.preference(type)) return named.type;
    return Shares::kNoType;
  }

 private:
  void add(const std::string& name, AcceptedTypes accepts) {
    const std::string alias = accepts.types().front().str();
    auto at = std::find(types_.begin(), types_.end(), alias);
    if (at == types_.end()) at = types_.insert(at, alias);
    const auto type = static_cast<std::uint32_t>(at - types_.begin());
    named_.emplace(name, NamedType{std::move(accepts), type});
  }

  std::map<std::string, NamedType, std::less<>> named_;
  std::vector<std::string> types_;
};

QueueShare share_of(const QueueRules& rules, const NamedTypes& names) {
  QueueShare share{rules.max_running, std::vector<GpuShare>(names.types().size())};
  for (const auto& [name, of_type] : rules.shares) {
    GpuShare& sum = share.of_types[names.of(name)];
    sum.own += of_type.own;
    sum.borrow += of_type.borrow;
  }
  return share;
}

std::int64_t owned(const QueueRulebook& rulebook, const NamedTypes& names, std::uint32_t type) {
  std::int64_t gpus = 0;
  for (const auto& [queue, rules] : rulebook.named)
    gpus += share_of(rules, names).of_types[type].own;
  return gpus;
}

// Labels runs in the order of their starts.
class LedgerMaker {
 public:
  LedgerMaker(const Queue& queue, const Shares& shares) : queue_(queue), shares_(shares) {
    for (const TaskIndex task : queue_.state().running())
      count(task);
  }

  const std::vector<std::string_view>& kinds() const { return kinds_; }

  ShareLedger make(const QueueRulebook& rulebook, const NamedTypes& names) {
    ShareLedger ledger;
    for (std::uint32_t type = 0; type < shares_.types.size(); ++type)
      ledger.types.push_back({shares_.types[type], shares_.gpus[type], shares_.owned[type],
                              shares_.pool(type), of_pool_[type]});
    add_idle_shares(rulebook, names);
    for (auto& [key, line] : lines_)
      ledger.lines.push_back(std::move(line));
    return ledger;
  }

 private:
  ShareLine& line_of(const std::string& queue, std::uint32_t type, const GpuShare& share) {
    const auto [at, first] = lines_.try_emplace({queue, type});
    if (first) at->second = {queue, shares_.types[type], share};
    return at->second;
  }

  void count(TaskIndex task) {
    const Choice& choice = queue_.state().running_choice(task);
    const std::uint32_t type = shares_.type_of_pool[choice.pool];
    if (type == Shares::kNoType) return;
    const QueueNumber queue = queue_.state().tasks()[task].queue;
    ShareLine& line = line_of(queue_.queue_names()[queue], type, shares_.share(queue, type));
    const auto part = [](std::int64_t wanted, std::int64_t left) {
      return std::clamp<std::int64_t>(left, 0, wanted);
    };
    const std::int64_t own = part(choice.gpus, line.share.own - line.own);
    own_[type] += own;
    const std::int64_t idle = shares_.owned[type] - own_[type] - borrowed_[type];
    const std::int64_t borrowed =
        part(choice.gpus - own, std::min(idle, line.share.borrow - line.borrowed));
    borrowed_[type] += borrowed;
    of_pool_[type] += choice.gpus - own - borrowed;
    line.own += own;
    line.borrowed += borrowed;
    line.of_pool += choice.gpus - own - borrowed;
    kinds_[task] = own == choice.gpus              ? "private"
                   : own + borrowed == choice.gpus ? "borrowed"
                                                   : "pool";
  }

  void add_idle_shares(const QueueRulebook& rulebook, const NamedTypes& names) {
    for (const auto& [queue, rules] : rulebook.named) {
      const QueueShare share = share_of(rules, names);
      for (std::uint32_t type = 0; type < share.of_types.size(); ++type)
        if (share.of_types[type] != GpuShare{}) line_of(queue, type, share.of_types[type]);
    }
  }

  const Queue& queue_;
  const Shares& shares_;
  std::vector<std::int64_t> own_ = std::vector<std::int64_t>(shares_.types.size());  // in use
  std::vector<std::int64_t> borrowed_ = own_;
  std::vector<std::int64_t> of_pool_ = own_;
  std::map<std::pair<std::string, std::uint32_t>, ShareLine> lines_;
  std::vector<std::string_view> kinds_ =
      std::vector<std::string_view>(queue_.state().tasks().size());
};

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
  const NamedTypes names(rulebook, catalog);
  if (names.types().empty() && !limits_running(rulebook)) return nullptr;
  auto shares = std::make_shared<Shares>();
  shares->types = names.types();
  shares->gpus.resize(names.types().size());
  for (PoolIndex pool = 0; pool < pools.size(); ++pool) {
    const Pool& of = pools[pool].pool;
    const std::uint32_t type =
        catalog.is_whole(of.resource) ? names.of_pool(of.type) : Shares::kNoType;
    shares->type_of_pool.push_back(type);
    if (type != Shares::kNoType) shares->gpus[type] += free.total(pool);
  }
  for (std::uint32_t type = 0; type < names.types().size(); ++type)
    shares->owned.push_back(owned(rulebook, names, type));
  for (const std::string& account : accounts)
    shares->of_queue.push_back(share_of(rulebook.of(account), names));
  return shares;
}

ShareLedger share_ledger(const Queue& queue, const QueueRulebook& rulebook,
                         const GpuCatalog& catalog) {
  const Shares* shares = queue.state().shares().shares();
  if (shares == nullptr || shares->types.empty()) return {};
  return LedgerMaker(queue, *shares).make(rulebook, NamedTypes(rulebook, catalog));
}

std::vector<std::string_view> share_kinds(const Queue& queue) {
  const Shares* shares = queue.state().shares().shares();
  if (shares == nullptr) return std::vector<std::string_view>(queue.state().tasks().size());
  return LedgerMaker(queue, *shares).kinds();
}

}  // namespace slackline::core
