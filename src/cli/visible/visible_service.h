// VisibleService: REST for the API server's aggregation layer (listeners.visibility), put together:
// the webhook's certificate, the front proxy's authority, the paths. Everything it refers to
// outlives it.
#pragma once

#include <functional>
#include <memory>

#include "cluster/api/api_client.h"
#include "config/configuration.h"
#include "control/trust/front_proxy_keeper.h"
#include "http/crypto/openssl_certificates.h"
#include "http/server/server.h"
#include "message/front_proxy.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"

namespace slackline::cli {

class VisibleService {
 public:
  // Null where the configuration names no listener for it. `own` is the webhook's certificate.
  // `lay_routes` adds the routes of REST and their guard. kInvalidArgument: `api` is null, there is
  // no API server to be asked by.
  static Result<std::unique_ptr<VisibleService>> start(
      const config::Configuration& configuration, cluster::ApiClient* api, http::TlsOptions own,
      const std::function<Status(http::Router&)>& lay_routes);

  http::Listener listener() const { return listener_; }

 private:
  VisibleService() = default;

  http::Listener listener_;
  http::Router rest_;
  http::Router router_;
  http::OpenSslCertificates maker_;
  Published<FrontProxy> proxy_;
  std::unique_ptr<control::FrontProxyKeeper> keeper_;  // last: its thread ends first
};

}  // namespace slackline::cli
