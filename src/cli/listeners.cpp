#include "cli/listeners.h"

#include <utility>

namespace slackline::cli {

http::Listener listener_of(std::string name, const config::ListenerSettings& settings,
                           const http::Router& router) {
  http::Listener out;
  out.name = std::move(name);
  out.address = settings.address;
  out.router = &router;
  if (settings.tls)
    out.tls = http::TlsOptions{settings.tls->cert_file, settings.tls->key_file,
                               settings.tls->client_ca_file, settings.tls->client_names};
  out.limits.connections = static_cast<std::size_t>(settings.limits.connections);
  out.limits.memory = static_cast<std::size_t>(settings.limits.memory_bytes);
  out.limits.threads = static_cast<std::size_t>(settings.limits.threads);
  out.limits.handshakes_per_s = static_cast<double>(settings.limits.handshakes_per_s);
  return out;
}

}  // namespace slackline::cli
