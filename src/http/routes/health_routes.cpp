#include "http/routes/health_routes.h"

#include <string>
#include <utility>

#include "slackline/base/text.h"

namespace slackline::http {
namespace {

Response text(int status, std::string body) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

Response readyz(const control::Health& health, const Request& request) {
  bool ready = true;
  std::string lines;
  for (const control::HealthCheck& check : health.checks()) {
    ready = ready && check.ok;
    lines += format("{}{} {}", check.ok ? "[+]" : "[-]", check.name, check.ok ? "ok" : "failed");
    lines += check.detail.empty() ? "\n" : format(": {}\n", printable(check.detail, 1024));
  }
  const bool verbose = request.query.contains("verbose");
  if (ready && !verbose) return text(200, "ok\n");
  return text(ready ? 200 : 503,
              lines + (ready ? "readyz check passed\n" : "readyz check failed\n"));
}

}  // namespace

void add_health_routes(Router& router, const control::Health& health,
                       const obs::MetricsRegistry& metrics, std::function<void()> before_scrape) {
  router.add(
      {.method = "GET",
       .pattern = "/livez",
       .handler = [](const Request&) { return text(200, "ok\n"); },
       .pool = Pool::kHot,
       .operation = {
           .id = "livez", .summary = "Whether the process lives", .answer = "The process lives"}});
  router.add({.method = "GET",
              .pattern = "/readyz",
              .handler = [&health](const Request& request) { return readyz(health, request); },
              .pool = Pool::kHot,
              .operation = {
                  .id = "readyz",
                  .summary = "Whether the daemon is ready to be asked",
                  .answer = "Ready",
                  .failures = {{503, "Not ready, with the reasons"}},
                  .parameters = {{.name = "verbose", .about = "Whatever its value: each check"}}}});
  router.add({.method = "GET",
              .pattern = "/metrics",
              .handler =
                  [&metrics, before_scrape = std::move(before_scrape)](const Request&) {
                    before_scrape();
                    Response response = text(200, metrics.expose());
                    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
                    return response;
                  },
              .operation = {.id = "metrics",
                            .summary = "Metrics of the daemon",
                            .answer = "Prometheus text exposition"}});
}

}  // namespace slackline::http
