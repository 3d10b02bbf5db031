#include "http/server/eviction.h"

#include <tuple>

namespace slackline::http {
namespace {

// The best of those that may be closed, by `rank`; the least is first.
template <class MayGo, class Rank>
std::optional<std::size_t> least(const std::vector<Candidate>& candidates, const MayGo& may_go,
                                 const Rank& rank) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    if (one.stage == Stage::kUntouched || !may_go(one)) continue;
    if (!best || rank(one) < rank(candidates[*best])) best = i;
  }
  return best;
}

}  // namespace

std::optional<std::size_t> evict_for_connection(const std::vector<Candidate>& candidates,
                                                const Peer* newcomer) {
  const std::size_t held = newcomer == nullptr ? 0 : newcomer->connections;
  return least(
      candidates,
      [&](const Candidate& one) {
        if (one.stage == Stage::kUnproven)
          return one.peer == newcomer || one.peer->connections > held;
        const std::size_t enough = one.stage == Stage::kIdle ? 2 * (held + 1) : held + 1;
        return one.peer != newcomer && one.peer->connections > enough;
      },
      [](const Candidate& one) {
        return std::tuple(one.peer->known, -static_cast<double>(one.peer->connections), one.stage,
                          one.since);
      });
}

std::optional<std::size_t> evict_for_bytes(const std::vector<Candidate>& candidates,
                                           const Peer& asking, std::size_t bytes) {
  return least(
      candidates,
      [&](const Candidate& one) {
        return one.bytes > 0 && one.peer != &asking && one.peer->bytes > asking.bytes + bytes;
      },
      [](const Candidate& one) {
        return std::tuple(one.peer->known, -static_cast<double>(one.peer->bytes),
                          -static_cast<double>(one.bytes), one.since);
      });
}

}  // namespace slackline::http
