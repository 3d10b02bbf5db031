// WebhookService: the admission webhook of a daemon, put together: its decisions, its routes and
// its certificate. Everything it refers to outlives it.
#pragma once

#include <memory>

#include "cli/own_certificate.h"
#include "cluster/api/reviewer.h"
#include "cluster/watch/source.h"
#include "config/configuration.h"
#include "control/serve/extender.h"
#include "control/serve/webhook.h"
#include "http/server/server.h"
#include "obs/metrics.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"
#include "slackline/model/mac.h"

namespace slackline::cli {

class WebhookService {
 public:
  // Null where the configuration names no listener for it. The certificate's file is there when it
  // returns. `api` is null where the cluster is a file. `authenticator` signs what is admitted;
  // null: nothing is.
  // `door` is where pods reach REST.
  static Result<std::unique_ptr<WebhookService>> start(
      const config::Configuration& configuration, const Published<control::Settings>& settings,
      const control::DecisionOptions& decisions, const Published<control::Known>& known,
      const cluster::ClusterSource& source, cluster::ApiClient* api,
      const MessageAuthenticator* authenticator, control::WorkloadDoor door,
      obs::MetricsRegistry& metrics);

  http::Listener listener() const;

 private:
  WebhookService() = default;

  http::Listener listener_;
  std::unique_ptr<cluster::Reviewer> reviewer_;
  std::unique_ptr<control::Webhook> webhook_;
  http::Router router_;
  std::unique_ptr<OwnCertificate> certificate_;  // null: one was given
};

}  // namespace slackline::cli
