#include "http/routes/webhook_routes.h"

#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "http/routes/answers.h"
#include "obs/log.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"
#include "wire/admission/admission_codec.h"

namespace slackline::http {
namespace {

std::string_view name_of(AdmissionStage stage) {
  return stage == AdmissionStage::kMutate ? "mutate" : "validate";
}

// The metrics of one stage. Results: changed, warned, unchanged, bad_request, failed, or the reason
// of a refusal.
class StageMetrics {
 public:
  StageMetrics(obs::MetricsRegistry& metrics, AdmissionStage stage)
      : metrics_(metrics),
        stage_(name_of(stage)),
        duration_(metrics.histogram("slackline_webhook_request_duration_seconds",
                                    obs::latency_bounds_s(), {{"stage", stage_}})) {}

  void count(std::string_view result) const {
    metrics_.counter("slackline_webhook_requests_total", {{"stage", stage_}, {"result", result}})
        .add();
  }
  void time(double seconds) const { duration_.observe(seconds); }

 private:
  obs::MetricsRegistry& metrics_;
  std::string_view stage_;
  obs::Histogram duration_;
};

std::string_view result_of(const AdmissionDecision& decision) {
  if (decision.refusal) return decision.refusal->reason.str();
  if (decision.changes != AdmissionChanges()) return "changed";
  return decision.warnings.empty() ? "unchanged" : "warned";
}

// On failure, admit the object unchanged.
AdmissionDecision decide(control::Webhook& webhook, const AdmissionReview& review,
                         AdmissionStage stage, const StageMetrics& metrics) {
  try {
    AdmissionDecision decision = webhook.answer(review, stage);
    metrics.count(result_of(decision));
    return decision;
  } catch (const std::exception& error) {
    metrics.count("failed");
    obs::log_error("webhook_failed", {{"stage", name_of(stage)}, {"error", error.what()}});
    AdmissionDecision unchanged;
    unchanged.warnings.emplace_back(
        "Slackline could not check this object; it was admitted unchanged");
    return unchanged;
  }
}

Handler handler_of(AdmissionStage stage, control::Webhook& webhook, const GpuCatalog& catalog,
                   obs::MetricsRegistry& registry) {
  const auto metrics = std::make_shared<StageMetrics>(registry, stage);
  return [stage, &webhook, &catalog, metrics](const Request& request) {
    const double started_s = system_clock().steady_s();
    Response response;
    if (const auto review = wire::decode_admission(request.body, catalog)) {
      response.body = wire::encode_admission(*review, decide(webhook, *review, stage, *metrics));
    } else {
      metrics->count("bad_request");
      obs::log_warning("webhook_bad_request",
                       {{"stage", name_of(stage)}, {"error", review.error().message}});
      response = failure(review.error());
    }
    metrics->time(system_clock().steady_s() - started_s);
    return response;
  };
}

}  // namespace

void add_webhook_routes(Router& router, control::Webhook& webhook, const GpuCatalog& catalog,
                        obs::MetricsRegistry& metrics, std::size_t max_body) {
  for (const AdmissionStage stage : {AdmissionStage::kMutate, AdmissionStage::kValidate}) {
    Route route;
    route.method = "POST";
    route.pattern = format("/v1/webhook/{}", name_of(stage));
    route.max_body = max_body;
    route.pool = Pool::kThreads;  // may ask the API server
    route.handler = handler_of(stage, webhook, catalog, metrics);
    router.add(std::move(route));
  }
}

}  // namespace slackline::http
