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
  router.add({"GET", "/livez", [](const Request&) { return text(200, "ok\n"); }, 0, Pool::kHot});
  router.add({"GET", "/readyz",
              [&health](const Request& request) { return readyz(health, request); }, 0,
              Pool::kHot});
  router.add({"GET", "/metrics",
              [&metrics, before_scrape = std::move(before_scrape)](const Request&) {
                before_scrape();
                Response response = text(200, metrics.expose());
                response.content_type = "text/plain; version=0.0.4; charset=utf-8";
                return response;
              },
              0, Pool::kThreads});
}

}  // namespace slackline::http
