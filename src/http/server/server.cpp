#include "http/server/server.h"

#include <csignal>
#include <utility>

#include "http/server/listener_loop.h"

namespace slackline::http {

struct Server::Impl {
  obs::MetricsRegistry& metrics;
  std::vector<std::unique_ptr<ListenerLoop>> loops{};
};

Server::Server(obs::MetricsRegistry& metrics) : impl_(new Impl{metrics}) {}

Server::~Server() {
  stop(milliseconds{0}, milliseconds{0});
  join();
}

Status Server::start(const std::vector<Listener>& listeners) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  for (const Listener& listener : listeners) {
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
