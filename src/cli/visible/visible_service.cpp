#include "cli/visible/visible_service.h"

#include <string>
#include <utility>

#include "cli/listeners.h"
#include "cli/own_certificate.h"
#include "cluster/api/front_proxy.h"
#include "http/routes/visible_routes.h"
#include "slackline/base/clock.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kMaxFields = 1000;  // a header for each group of who asks

}  // namespace

Result<std::unique_ptr<VisibleService>> VisibleService::start(
    const config::Configuration& configuration, cluster::ApiClient* api, http::TlsOptions own,
    const std::function<Status(http::Router&)>& lay_routes) {
  const config::ListenerSettings& listening = configuration.listeners.visibility;
  if (listening.address.empty()) return std::unique_ptr<VisibleService>();
  if (api == nullptr)
    return fail(ErrorCode::kInvalidArgument,
                "listeners.visibility: a dump has no API server that could ask; leave it out");
  std::unique_ptr<VisibleService> service(new VisibleService());
  SLACKLINE_ASSIGN(std::string file, own_file(configuration, "visibility", "front-proxy.pem"));
  service->keeper_ = std::make_unique<control::FrontProxyKeeper>(
      [api] { return cluster::read_front_proxy(*api); }, file, service->proxy_);
  SLACKLINE_TRY(service->keeper_->start(service->maker_, system_clock()));
  SLACKLINE_TRY(lay_routes(service->rest_));
  http::add_visible_routes(service->router_, service->rest_, service->proxy_);
  service->listener_ = listener_of("visibility", listening, service->router_);
  own.client_ca_file = std::move(file);
  own.client_names.clear();  // the keeper knows which
  service->listener_.tls = std::move(own);
  service->listener_.limits.fields = kMaxFields;
  service->listener_.known_peers_only = true;
  return service;
}

}  // namespace slackline::cli
