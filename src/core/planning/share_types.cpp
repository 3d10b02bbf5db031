#include "slackline/core/planning/share_types.h"

#include <algorithm>
#include <utility>

#include "slackline/core/planning/shares.h"

namespace slackline::core {

ShareTypes::ShareTypes(const QueueRulebook& rulebook, const GpuCatalog& catalog) {
  for (const auto& [queue, rules] : rulebook.named)
    for (const auto& [name, share] : rules.shares) {
      if (named_.contains(name)) continue;
      AcceptedTypes accepts(GpuType(name), catalog);
      const std::string alias = accepts.types().front().str();
      auto at = std::find(types_.begin(), types_.end(), alias);
      if (at == types_.end()) at = types_.insert(at, alias);
      const auto type = static_cast<std::uint32_t>(at - types_.begin());
      named_.emplace(name, Named{std::move(accepts), type});
    }
}

std::uint32_t ShareTypes::of_gpus(const GpuType& type) const {
  const auto own = std::find(types_.begin(), types_.end(), type.str());
  if (own != types_.end()) return static_cast<std::uint32_t>(own - types_.begin());
  for (const auto& [name, named] : named_)
    if (named.accepts.preference(type)) return named.type;
  return Shares::kNoType;
}

}  // namespace slackline::core
