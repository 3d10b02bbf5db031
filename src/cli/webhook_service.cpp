#include "cli/webhook_service.h"

#include <string>

#include "cli/listeners.h"
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
  service->webhook_ = std::make_unique<control::Webhook>(
      settings, decisions, board, source, service->reviewer_.get(), system_clock(), authenticator);
  http::add_webhook_routes(service->router_, *service->webhook_, decisions.catalog, metrics,
                           static_cast<std::size_t>(listening.limits.max_body_bytes));
  http::Listener& listener = service->listener_;
  listener = listener_of("webhook", listening, service->router_);
  if (!listener.tls || listener.tls->cert_file.empty()) {
    SLACKLINE_ASSIGN(service->certificate_, OwnCertificate::start(configuration));
    listener.tls = service->certificate_->tls();
    if (listening.tls) {
      listener.tls->client_ca_file = listening.tls->client_ca_file;
      listener.tls->client_names = listening.tls->client_names;
    }
  }
  return service;
}

http::Listener WebhookService::listener() const {
  return listener_;
}

}  // namespace slackline::cli
