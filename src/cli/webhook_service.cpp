#include "cli/webhook_service.h"

#include <string>

#include "cli/object_name.h"
#include "http/webhook_routes.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cli {

Result<std::unique_ptr<WebhookService>> WebhookService::start(
    const config::Configuration& configuration, const control::SettingsBoard& settings,
    const control::DecisionOptions& decisions, const control::KnownBoard& board,
    const cluster::ClusterSource& source, const MessageAuthenticator* authenticator,
    obs::MetricsRegistry& metrics) {
  const config::ListenerSettings& listening = configuration.listeners.webhook;
  if (listening.address.empty()) return std::unique_ptr<WebhookService>();
  std::unique_ptr<WebhookService> service(new WebhookService());
  if (configuration.cluster.dump_file.empty()) {
    SLACKLINE_ASSIGN(service->reviewer_, cluster::make_access_reviewer(
                                             {.kubeconfig = configuration.cluster.kubeconfig}));
  }
  service->webhook_ = std::make_unique<control::Webhook>(settings, decisions, board, source,
                                                         service->reviewer_.get(), system_clock(),
                                                         authenticator);
  http::add_webhook_routes(service->router_, *service->webhook_, decisions.catalog, metrics);
  http::Listener& listener = service->listener_;
  listener.name = "webhook";
  listener.address = listening.address;
  listener.router = &service->router_;
  if (listening.tls) {
    listener.tls = http::TlsOptions{listening.tls->cert_file, listening.tls->key_file,
                                    listening.tls->client_ca_file};
  } else {
    SLACKLINE_ASSIGN(
        service->certificate_,
        OwnCertificate::start(
            "webhook", configuration, configuration.webhook.certificate,
            {.webhook_configuration = configuration.webhook.configuration, .config_map = {}}));
    listener.tls = service->certificate_->tls();
  }
  return service;
}

http::Listener WebhookService::listener() const {
  return listener_;
}

}  // namespace slackline::cli
