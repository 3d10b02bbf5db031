#include "cli/webhook_service.h"

#include <string>

#include "cli/object_name.h"
#include "http/webhook_routes.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

control::WebhookOptions options_of(const config::Configuration& configuration) {
  const ObjectKey account = key_of(configuration.webhook.service_account);
  control::WebhookOptions options;
  options.scheduler_name = configuration.webhook.scheduler_name;
  options.own_user = format("system:serviceaccount:{}:{}", account.ns, account.name);
  options.max_pending = configuration.queue.max_pending;
  return options;
}

}  // namespace

Result<std::unique_ptr<WebhookService>> WebhookService::start(
    const config::Configuration& configuration, const control::DecisionOptions& decisions,
    const control::KnownBoard& board, const cluster::ClusterSource& source,
    obs::MetricsRegistry& metrics) {
  const config::ListenerSettings& settings = configuration.listeners.webhook;
  if (settings.address.empty()) return std::unique_ptr<WebhookService>();
  std::unique_ptr<WebhookService> service(new WebhookService());
  if (configuration.cluster.dump_file.empty()) {
    SLACKLINE_ASSIGN(service->reviewer_, cluster::make_access_reviewer(
                                             {.kubeconfig = configuration.cluster.kubeconfig}));
  }
  service->webhook_ =
      std::make_unique<control::Webhook>(options_of(configuration), decisions, board, source,
                                         service->reviewer_.get(), system_clock());
  http::add_webhook_routes(service->router_, *service->webhook_, decisions.catalog, metrics);
  http::Listener& listener = service->listener_;
  listener.name = "webhook";
  listener.address = settings.address;
  listener.router = &service->router_;
  if (settings.tls) {
    listener.tls = http::TlsOptions{settings.tls->cert_file, settings.tls->key_file,
                                    settings.tls->client_ca_file};
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
