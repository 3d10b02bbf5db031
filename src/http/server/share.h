// How much of a scarce resource one peer may take.
#pragma once

#include <algorithm>
#include <cstddef>

namespace slackline::http {

// No peer is limited while there is room: the API server, kube-scheduler and everybody behind one
// NAT are one peer each. The last quarter of the capacity is for peers that would hold no more than
// a quarter with it, so that one peer cannot take everything.
constexpr bool may_take(std::size_t capacity, std::size_t taken_by_all, std::size_t held_by_peer,
                        std::size_t wanted) {
  const std::size_t after = taken_by_all + wanted;
  const std::size_t share = std::max<std::size_t>(1, capacity / 4);
  return after <= capacity && (after <= capacity - capacity / 4 || held_by_peer + wanted <= share);
}

}  // namespace slackline::http
