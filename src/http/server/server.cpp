#include "http/server/server.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "http/server/descriptors.h"
#include "http/server/listener_loop.h"
#include "obs/log.h"

namespace slackline::http {

struct Server::Impl {
  obs::MetricsRegistry& metrics;
  std::vector<std::unique_ptr<ListenerLoop>> loops{};
};

namespace {

std::vector<Listener> within_descriptors(std::vector<Listener> listeners) {
  const std::size_t limit = raise_descriptor_limit();
  const std::size_t wanted = wanted_descriptors(listeners);
  if (limit >= wanted || listeners.empty()) return listeners;
  fit_descriptors(listeners, limit);
  std::size_t least = listeners.front().limits.connections;
  for (const Listener& listener : listeners)
    least = std::min(least, listener.limits.connections);
  obs::log_warning("file_descriptors_low",
                   {{"limit", static_cast<std::int64_t>(limit)},
                    {"wanted", static_cast<std::int64_t>(wanted)},
                    {"connections_of_a_listener", static_cast<std::int64_t>(least)},
                    {"remedy",
                     "raise the hard limit (ulimit -Hn, LimitNOFILE= of systemd), or "
                     "lower limits.connections of the listeners"}});
  return listeners;
}

}  // namespace

Server::Server(obs::MetricsRegistry& metrics) : impl_(new Impl{metrics}) {}

Server::~Server() {
  stop(milliseconds{0}, milliseconds{0});
  join();
}

Status Server::start(const std::vector<Listener>& listeners) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  for (const Listener& listener : within_descriptors(listeners)) {
    auto loop = ListenerLoop::open(listener, impl_->metrics);
    if (!loop) {
      impl_->loops.clear();
      return fail(loop.error());
    }
    impl_->loops.push_back(std::move(*loop));
  }
  for (const auto& loop : impl_->loops)
    loop->start();
  return {};
}

std::uint16_t Server::port(std::string_view name) const {
  for (const auto& loop : impl_->loops)
    if (loop->name() == name) return loop->port();
  return 0;
}

void Server::stop(milliseconds grace, milliseconds hard) {
  for (const auto& loop : impl_->loops)
    loop->stop(grace, hard);
}

void Server::join() {
  for (const auto& loop : impl_->loops)
    loop->join();
}

}  // namespace slackline::http
