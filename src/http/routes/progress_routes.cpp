#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"
#include "slackline/base/text.h"
#include "wire/rest/progress_codec.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

Response over_rate(const Error& error) {
  Response response;
  response.status = 429;
  response.body = wire::encode_status_error(429, "TooManyRequests", error.message);
  response.headers.emplace_back("Retry-After",
                                format("{:.0f}", control::ProgressReports::kReportEvery_s));
  return response;
}

Response post_progress(control::ProgressReports& progress, const Request& request) {
  if (!is_json(request)) return unsupported("application/json");
  const auto report = wire::read_posted_progress(request.body);
  if (!report) return failure(report.error());
  const auto noted = progress.take({request.params.at("ns"), request.params.at("name")}, *report);
  if (noted) return one(request, wire::encode_one(*noted), wire::text_of(*noted));
  const bool over = noted.error().code == ErrorCode::kResourceExhausted;
  return over ? over_rate(noted.error()) : failure(noted.error());
}

}  // namespace

void add_progress_routes(Router& router, control::ProgressReports& progress) {
  Operation tell = answers_one<ProgressNote>(
      "reportProgress", "Tell how far a training Job is; for ServiceAccounts of its namespace",
      "What counts of all reports of the Job",
      {{400}, {404}, {415}, {429, "Over the rate of the task; Retry-After says when"}, {503}});
  tell.body = R"({"application/json":{"schema":{"$ref":"#/components/schemas/ProgressReport"}}})";
  router.add(
      {.method = "POST",
       .pattern = "/v1/tasks/{ns}/{name}/progress",
       .handler = [&progress](const Request& request) { return post_progress(progress, request); },
       .max_body = wire::kMaxProgressBody,
       .for_workloads = true,
       .operation = std::move(tell)});
}

}  // namespace slackline::http
