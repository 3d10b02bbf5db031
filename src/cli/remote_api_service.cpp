#include "cli/remote_api_service.h"

#include "cli/listeners.h"

namespace slackline::cli {

Result<std::unique_ptr<RemoteApiService>> RemoteApiService::start(
    const config::Configuration& configuration, cluster::ApiClient* api,
    Published<std::string>& authorities, const std::function<Status(http::Router&)>& lay_routes) {
  const config::ListenerSettings& listening = configuration.listeners.remote_api;
  if (listening.address.empty()) return std::unique_ptr<RemoteApiService>();
  std::unique_ptr<RemoteApiService> service(new RemoteApiService());
  SLACKLINE_TRY(lay_routes(service->router_));
  service->listener_ = listener_of("remote-api", listening, service->router_);
  SLACKLINE_ASSIGN(service->certificate_,
                   serve_own_certificate(configuration, api,
                                         {.listener = "remoteApi",
                                          .settings = configuration.remote_api.certificate,
                                          .file = "remote-api.pem",
                                          .trust = configuration.remote_api.trust,
                                          .authorities = &authorities},
                                         service->listener_));
  service->listener_.known_peers_only = true;
  return service;
}

}  // namespace slackline::cli
