#include "cli/webhook_service.h"

#include <string>
#include <utility>

#include "cli/listeners.h"
#include "cli/object_name.h"
#include "cluster/api/front_proxy.h"
#include "http/routes/webhook_routes.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

constexpr double kWebhookReviewTimeout_s = 0.5;  // the whole webhook call has two seconds

}  // namespace

Result<std::unique_ptr<WebhookService>> WebhookService::start(
    const config::Configuration& configuration, const Published<control::Settings>& settings,
    const control::DecisionOptions& decisions, const Published<control::Known>& known,
    const cluster::ClusterSource& source, cluster::ApiClient* api,
    const MessageAuthenticator* authenticator, control::WorkloadDoor door,
    obs::MetricsRegistry& metrics) {
  const config::ListenerSettings& listening = configuration.listeners.webhook;
  if (listening.address.empty()) return std::unique_ptr<WebhookService>();
  std::unique_ptr<WebhookService> service(new WebhookService());
  if (api != nullptr) service->reviewer_ = cluster::make_reviewer(*api, kWebhookReviewTimeout_s);
  service->webhook_ = std::make_unique<control::Webhook>(settings, decisions, known, source,
                                                         service->reviewer_.get(), system_clock(),
                                                         authenticator, std::move(door));
  http::add_webhook_routes(service->router_, *service->webhook_, decisions.catalog, metrics,
                           static_cast<std::size_t>(listening.limits.max_body_bytes));
  service->listener_ = listener_of("webhook", listening, service->router_);
  const bool visible = !configuration.listeners.visibility.address.empty();
  SLACKLINE_ASSIGN(
      service->certificate_,
      serve_own_certificate(configuration, api,
                            {.listener = "webhook",
                             .settings = configuration.webhook.certificate,
                             .file = "webhook.pem",
                             .configuration = configuration.webhook.configuration,
                             .api_service = visible ? cluster::kVisibilityService : ""},
                            service->listener_));
  return service;
}

http::Listener WebhookService::listener() const {
  return listener_;
}

}  // namespace slackline::cli
