// RemoteApiService: REST for people of the cluster (listeners.remoteApi), put together: TLS with a
// certificate that we make ourselves or were given, and the guard that asks for a token and the
// right to what is asked for. Everything it refers to outlives it.
#pragma once

#include <functional>
#include <memory>

#include "cli/own_certificate.h"
#include "cluster/api/api_reviewer.h"
#include "config/configuration.h"
#include "control/trust/api_rights.h"
#include "http/server/server.h"
#include "slackline/base/result.h"

namespace slackline::cli {

class RemoteApiService {
 public:
  // Null where the configuration names no listener for it. The certificate's file is there when it
  // returns. `lay_routes` adds the routes of REST.
  static Result<std::unique_ptr<RemoteApiService>> start(
      const config::Configuration& configuration,
      const std::function<void(http::Router&)>& lay_routes);

  http::Listener listener() const { return listener_; }

 private:
  RemoteApiService() = default;

  http::Listener listener_;
  std::unique_ptr<cluster::ApiReviewer> reviewer_;  // both null where clients show certificates
  std::unique_ptr<control::ApiRights> rights_;
  http::Router router_;
  std::unique_ptr<OwnCertificate> certificate_;  // null: one was given
};

}  // namespace slackline::cli
