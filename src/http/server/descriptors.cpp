#include "http/server/descriptors.h"

#include <algorithm>

#include <sys/resource.h>

namespace slackline::http {
namespace {

constexpr std::size_t kOthers = 128;  // of the daemon, besides connections
constexpr std::size_t kOfLoop = 8;    // of a listener: its socket, its spare one, epoll, timers

std::size_t most_of(const Listener& listener) {
  return listener.limits.connections + listener.limits.refusing + kOfLoop;
}

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlimit raised = limit;
  raised.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

std::size_t wanted_descriptors(const std::vector<Listener>& listeners) {
  std::size_t wanted = kOthers;
  for (const Listener& listener : listeners)
    wanted += most_of(listener);
  return wanted;
}

void fit_descriptors(std::vector<Listener>& listeners, std::size_t limit) {
  if (limit >= wanted_descriptors(listeners)) return;
  const std::size_t others = std::min(kOthers, limit / 2);
  const std::size_t part = (limit - others) / listeners.size();
  for (Listener& listener : listeners) {
    if (most_of(listener) <= part) continue;
    const std::size_t clients = part > kOfLoop ? part - kOfLoop : 0;
    Limits& limits = listener.limits;
    limits.refusing = std::clamp<std::size_t>(clients / 4, 1, limits.refusing);
    limits.connections = std::clamp<std::size_t>(clients - std::min(clients, limits.refusing), 1,
                                                 limits.connections);
  }
}

}  // namespace slackline::http
