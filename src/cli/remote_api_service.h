// RemoteApiService: REST for people of the cluster (listeners.remoteApi), put together: TLS with a
// certificate that we make ourselves or were given. Everything it refers to outlives it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/own_certificate.h"
#include "config/configuration.h"
#include "http/server/server.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"

namespace slackline::cli {

class RemoteApiService {
 public:
  // Null where the configuration names no listener for it. The certificate's file is there when it
  // returns. `lay_routes` adds the routes of REST and their guard. `authorities` gets whom its
  // callers trust, where we make the certificate. `api` is null where the cluster is a file.
  static Result<std::unique_ptr<RemoteApiService>> start(
      const config::Configuration& configuration, cluster::ApiClient* api,
      Published<std::string>& authorities, const std::function<Status(http::Router&)>& lay_routes);

  http::Listener listener() const { return listener_; }

 private:
  RemoteApiService() = default;

  http::Listener listener_;
  http::Router router_;
  std::unique_ptr<OwnCertificate> certificate_;  // null: one was given
};

}  // namespace slackline::cli
