#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"
#include "slackline/base/text.h"
#include "wire/rest/report_page.h"

namespace slackline::http {
namespace {

constexpr double kDefaultWindow_s = 7 * 86400.0;
// Inline styles alone: a page from the data of many people must not run anything.
constexpr std::string_view kPagePolicy = "default-src 'none'; style-src 'unsafe-inline'";

Result<ReportBy> by_of(const std::string& text) {
  if (text.empty()) return ReportBy::kNamespace;
  const auto at = std::find(kReportByNames.begin(), kReportByNames.end(), text);
  if (at != kReportByNames.end()) return static_cast<ReportBy>(at - kReportByNames.begin());
  return fail(ErrorCode::kInvalidArgument,
              format("by=\"{}\": expected namespace, family or gpu-type", printable(text, 64)));
}

Result<control::ReportQuestion> report_asked(const Request& request, double now_s) {
  control::ReportQuestion question;
  SLACKLINE_ASSIGN(question.by, by_of(given(request, "by")));
  question.ns = given(request, "namespace");
  question.to_s = now_s;
  question.from_s = now_s - kDefaultWindow_s;
  SLACKLINE_ASSIGN(question.compare_s, moment(request, "compareSince", now_s));
  SLACKLINE_ASSIGN(const std::optional<double> since_s, moment(request, "since", now_s));
  if (question.compare_s && *question.compare_s >= now_s)
    return fail(ErrorCode::kInvalidArgument, "compareSince: expected a time in the past");
  // As long before as after.
  if (question.compare_s) question.from_s = 2 * *question.compare_s - now_s;
  if (since_s) question.from_s = *since_s;
  if (question.compare_s && *question.compare_s <= question.from_s)
    return fail(ErrorCode::kInvalidArgument,
                "compareSince: expected a time after `since`, so that there is a time before it");
  return question;
}

Response as_page(std::string type, std::string body) {
  Response response;
  response.content_type = std::move(type);
  response.body = std::move(body);
  response.headers.emplace_back("Content-Security-Policy", kPagePolicy);
  return response;
}

Response get_report(const control::Reports& reports, Pages& pages, double now_s,
                    const Request& request) {
  const auto question = report_asked(request, now_s);
  if (!question) return failure(question.error());
  const std::string output = given(request, "output");
  if (output == "html" || output == "md") {
    const auto report = reports.make(*question);
    if (!report) return failure(report.error());
    return output == "md" ? as_page("text/markdown; charset=utf-8", wire::report_markdown(*report))
                          : as_page("text/html; charset=utf-8", wire::report_html(*report));
  }
  return show_page(request, pages, [&]() -> Result<Listing<ReportRow>> {
    SLACKLINE_ASSIGN(ReportView report, reports.make(*question));
    Listing<ReportRow> listing;
    listing.facts = wire::encode_one(report);
    listing.preface = wire::preface_of(report);
    listing.rows = std::move(report.rows);
    return listing;
  });
}

Response get_shadow_report(const control::Reports& reports, Pages& pages, double now_s,
                           const Request& request) {
  const auto since_s = moment(request, "since", now_s);
  if (!since_s) return failure(since_s.error());
  const control::ShadowQuestion question{.ns = given(request, "namespace"),
                                         .from_s = since_s->value_or(now_s - kDefaultWindow_s),
                                         .to_s = now_s};
  return show_page(request, pages, [&]() -> Result<Listing<ShadowRow>> {
    SLACKLINE_ASSIGN(ShadowReportView report, reports.make(question));
    Listing<ShadowRow> listing;
    listing.facts = wire::encode_one(report);
    listing.preface = wire::preface_of(report);
    listing.rows = std::move(report.rows);
    return listing;
  });
}

std::vector<Parameter> report_parameters() {
  std::vector<Parameter> all = list_parameters(
      {namespace_parameter(),
       {.name = "by",
        .about = "What the rows are of",
        .schema =
            R"({"type":"string","enum":["namespace","family","gpu-type"],"default":"namespace"})",
        .example = "family"},
       {.name = "since",
        .about = "Runs that ended since then: a duration (7d), a date (2026-11-21) or a time (RFC "
                 "3339); by default 7d"},
       {.name = "compareSince",
        .about = "Every row twice, before and after then; without `since` the time before is as "
                 "long as the one after"}});
  for (Parameter& parameter : all)
    if (parameter.name == "output")
      parameter = {.name = "output",
                   .about = "html and md are one page",
                   .schema = R"({"type":"string",)"
                             R"("enum":["table","wide","json","yaml","csv","cells","html","md"]})"};
  return all;
}

}  // namespace

void add_report_routes(Router& router, const control::Reports& reports, Pages& pages,
                       const Clock& clock, std::function<void()> before) {
  Operation operation = answers_list<ReportRow>(
      "getReport", "What runs asked for, held and used, over a window of time",
      "Groups of runs, those that held most GPU-hours first", {{400}, {503}, list_is_gone()},
      wire::members_of<ReportView>());
  operation.further_media = {"text/html", "text/markdown"};
  router.add({.method = "GET",
              .pattern = "/v1/reports",
              .handler =
                  [&reports, &pages, &clock, before](const Request& request) {
                    before();
                    return get_report(reports, pages, clock.wall_s(), request);
                  },
              .parameters = report_parameters(),
              .namespace_parameter = "namespace",
              .operation = std::move(operation)});
  router.add({.method = "GET",
              .pattern = "/v1/reports/shadow",
              .handler =
                  [&reports, &pages, &clock, before = std::move(before)](const Request& request) {
                    before();
                    return get_shadow_report(reports, pages, clock.wall_s(), request);
                  },
              .parameters = list_parameters(
                  {namespace_parameter(),
                   {.name = "since",
                    .about = "Runs that ended since then: a duration (7d), a date (2026-11-21) or "
                             "a time (RFC 3339); by default 7d"}}),
              .namespace_parameter = "namespace",
              .operation = answers_list<ShadowRow>(
                  "getShadowReport",
                  "What happened beside what the planner would have done (shadow and advise mode)",
                  "Runs by namespace", {{400}, {503}, list_is_gone()},
                  wire::members_of<ShadowReportView>())});
}

}  // namespace slackline::http
