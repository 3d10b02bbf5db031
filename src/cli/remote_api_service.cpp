#include "cli/remote_api_service.h"

#include "cli/listeners.h"
#include "http/routes/api_guard.h"
#include "slackline/base/clock.h"

namespace slackline::cli {

Result<std::unique_ptr<RemoteApiService>> RemoteApiService::start(
    const config::Configuration& configuration,
    const std::function<void(http::Router&)>& lay_routes) {
  const config::ListenerSettings& listening = configuration.listeners.remote_api;
  if (listening.address.empty()) return std::unique_ptr<RemoteApiService>();
  std::unique_ptr<RemoteApiService> service(new RemoteApiService());
  lay_routes(service->router_);
  if (!listening.tls || listening.tls->client_ca_file.empty()) {
    SLACKLINE_ASSIGN(service->reviewer_,
                     cluster::make_api_reviewer({.kubeconfig = configuration.cluster.kubeconfig}));
    service->rights_ = std::make_unique<control::ApiRights>(*service->reviewer_, system_clock());
    service->router_.set_guard(http::make_api_guard(*service->rights_));
  }
  service->listener_ = listener_of("remote-api", listening, service->router_);
  SLACKLINE_ASSIGN(service->certificate_,
                   serve_own_certificate(configuration,
                                         {.listener = "remoteApi",
                                          .settings = configuration.remote_api.certificate,
                                          .file = "remote-api.pem",
                                          .trust = configuration.remote_api.trust},
                                         service->listener_));
  service->listener_.known_peers_only = true;
  return service;
}

}  // namespace slackline::cli
