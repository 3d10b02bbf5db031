#include <string>
#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"
#include "slackline/base/text.h"
#include "wire/rest/portrait_codec.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

constexpr const char* kFamily = "/v1/portraits/{family}";

Result<control::PortraitQuestion> portraits_asked(const Request& request) {
  control::PortraitQuestion question;
  question.ns = given(request, "namespace");
  SLACKLINE_ASSIGN(question.packed, given_flag(request, "packed"));
  question.job = given(request, "job");
  if (!question.job.empty() && question.ns.empty())
    return fail(ErrorCode::kInvalidArgument, "job: say which namespace too: namespace=NAMESPACE");
  if (const auto family = request.params.find("family"); family != request.params.end())
    question.family = family->second;
  return question;
}

Response get_portraits(const control::PortraitQuery& portraits, Pages& pages,
                       const Request& request) {
  return show_page(request, pages, [&]() -> Result<Listing<PortraitView>> {
    SLACKLINE_ASSIGN(const control::PortraitQuestion question, portraits_asked(request));
    if (question.family.empty() && question.job.empty())
      return Listing<PortraitView>{portraits.list(question)};
    SLACKLINE_ASSIGN(std::vector<PortraitView> found, portraits.find(question));
    return Listing<PortraitView>{std::move(found)};
  });
}

Response post_portraits(control::PortraitQuery& portraits, const Request& request) {
  if (!is_json(request)) return unsupported("application/json");
  const auto packed = wire::read_posted_portraits(request.body);
  if (!packed) return failure(packed.error());
  if (const Status done = portraits.take(*packed); !done) return failure(done.error());
  return json(wire::encode_status_success(format("stored {} portraits", packed->size())));
}

Response delete_portraits(control::PortraitQuery& portraits, const Request& request) {
  const auto question = portraits_asked(request);
  if (!question) return failure(question.error());
  if (question->ns.empty())
    return failure({ErrorCode::kInvalidArgument, "namespace: is missing; name that of the family"});
  const auto gone = portraits.forget(*question);
  if (!gone) return failure(gone.error());
  return json(wire::encode_status_success(format("removed {} portraits", *gone)));
}

Operation succeeds(std::string id, std::string summary, std::vector<Operation::Failure> failures) {
  return {.id = std::move(id),
          .summary = std::move(summary),
          .answer = "A Kubernetes Status: Success",
          .form = Operation::Form::kJson,
          .schema = R"({"$ref":"#/components/schemas/Status"})",
          .failures = std::move(failures)};
}

}  // namespace

void add_portrait_routes(Router& router, control::PortraitQuery& portraits, Pages& pages) {
  const auto get = [&portraits, &pages](const Request& request) {
    return get_portraits(portraits, pages, request);
  };
  const std::vector<Parameter> parameters = list_parameters(
      {namespace_parameter(),
       {.name = "packed", .about = "true: with all that is known of each, for POST"},
       {.name = "job",
        .about = "Only the portrait of this Job's family; where it has none, the nearest one"}});
  router.add({.method = "GET",
              .pattern = "/v1/portraits",
              .handler = get,
              .parameters = parameters,
              .namespace_parameter = "namespace",
              .operation = answers_list<PortraitView>(
                  "listPortraits", "What families of tasks use, ask for, and how their runs end",
                  "Portraits by key", {{400}, {404}, list_is_gone()})});
  router.add({.method = "GET",
              .pattern = kFamily,
              .handler = get,
              .parameters = parameters,
              .namespace_parameter = "namespace",
              .operation = answers_list<PortraitView>(
                  "getPortraits", "Those of one family, as declared, or of one owner of Jobs",
                  "Portraits by key", {{400}, {404}, list_is_gone()}),
              .takes_slashes = true});
  Operation take = succeeds("putPortraits",
                            "Store portraits that another daemon answered with packed=true, in "
                            "place of what is known of their families: all or none",
                            {{400}, {413}, {415}, {503}});
  take.body = R"({"application/json":{"schema":{"$ref":"#/components/schemas/PackedPortraits"}}})";
  router.add({.method = "POST",
              .pattern = "/v1/portraits",
              .handler = [&portraits](
                             const Request& request) { return post_portraits(portraits, request); },
              .max_body = kMaxPortraitsBody,
              .operation = std::move(take)});
  router.add(
      {.method = "DELETE",
       .pattern = kFamily,
       .handler =
           [&portraits](const Request& request) { return delete_portraits(portraits, request); },
       .parameters = std::vector{namespace_parameter("Required")},
       .namespace_parameter = "namespace",
       .operation = succeeds("forgetPortraits", "Delete what is known of a family of a namespace",
                             {{400}, {404}, {503}}),
       .takes_slashes = true});
}

}  // namespace slackline::http
