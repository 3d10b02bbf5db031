#include "cli/webhook_service.h"

#include <filesystem>
#include <string>
#include <utility>

#include "http/webhook_routes.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

// "namespace/name", as the configuration was checked to be.
ObjectKey key_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  return {text.substr(0, slash), text.substr(slash + 1)};
}

}  // namespace

Result<std::unique_ptr<WebhookService>> WebhookService::start(
    const config::Configuration& configuration, const control::SettingsBoard& settings,
    const control::DecisionOptions& decisions, const control::KnownBoard& board,
    const cluster::ClusterSource& source, obs::MetricsRegistry& metrics) {
  const config::ListenerSettings& listening = configuration.listeners.webhook;
  if (listening.address.empty()) return std::unique_ptr<WebhookService>();
  std::unique_ptr<WebhookService> service(new WebhookService());
  const bool live = configuration.cluster.dump_file.empty();
  cluster::KubeAccess access;
  access.kubeconfig = configuration.cluster.kubeconfig;
  if (live) {
    SLACKLINE_ASSIGN(service->reviewer_, cluster::make_access_reviewer(access));
  }
  service->webhook_ = std::make_unique<control::Webhook>(settings, decisions, board, source,
                                                         service->reviewer_.get(), system_clock());
  http::add_webhook_routes(service->router_, *service->webhook_, decisions.catalog, metrics);
  http::Listener& listener = service->listener_;
  listener.name = "webhook";
  listener.address = listening.address;
  listener.router = &service->router_;
  if (listening.tls) {
    listener.tls = http::TlsOptions{listening.tls->cert_file, listening.tls->key_file,
                                    listening.tls->client_ca_file};
  } else if (live) {
    SLACKLINE_TRY(service->keep_certificate(configuration, access));
  } else {
    return fail(ErrorCode::kInvalidArgument,
                "listeners.webhook: without an API server to share a certificate through it needs "
                "tls with certFile and keyFile");
  }
  return service;
}

Status WebhookService::keep_certificate(const config::Configuration& configuration,
                                        const cluster::KubeAccess& access) {
  const config::WebhookSettings& settings = configuration.webhook;
  SLACKLINE_ASSIGN(store_, cluster::make_certificate_store(
                               access, {.secret = key_of(settings.certificate_secret),
                                        .configuration = settings.configuration}));
  control::CertificateOptions options;
  options.names = settings.certificate_names;
  options.life_s = settings.certificate_life_s;
  options.file = std::filesystem::path(configuration.store.path).replace_filename("webhook.pem");
  listener_.tls = http::TlsOptions{options.file, options.file, {}};
  keeper_ = std::make_unique<control::CertificateKeeper>(std::move(options), *store_, maker_,
                                                         system_clock());
  return keeper_->start();
}

http::Listener WebhookService::listener() const {
  return listener_;
}

}  // namespace slackline::cli
