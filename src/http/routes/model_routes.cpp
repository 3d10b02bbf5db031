#include "http/routes/model_routes.h"

#include <string>
#include <string_view>
#include <utility>

#include "http/routes/answers.h"
#include "slackline/base/text.h"
#include "wire/rest/model_codec.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

template <class T>
Response answer(const Request& request, const Result<T>& value) {
  if (!value) return failure(value.error());
  return one(request, wire::encode_one(*value), wire::text_of(*value));
}

// "text/csv; charset=utf-8" is "text/csv".
std::string media_type(const Request& request) {
  return to_lower(trim(request.content_type.substr(0, request.content_type.find(';'))));
}

// A form, or no type at all, is what a page of any site may send without asking first.
bool is_json(const Request& request) {
  return media_type(request) == "application/json";
}

Response unsupported(std::string_view wanted) {
  Response response = json(wire::encode_status_error(
      415, "UnsupportedMediaType",
      format("the body's Content-Type must be {}; with curl: -H 'Content-Type: ...'", wanted)));
  response.status = 415;
  return response;
}

Response post_samples(control::Models& models, const Request& request) {
  const std::string& model = request.params.at("model");
  const bool csv = media_type(request) == "text/csv";
  if (!csv && !is_json(request)) return unsupported("application/json or text/csv");
  auto samples = csv ? wire::read_posted_csv(request.body, model)
                     : wire::read_posted_samples(request.body, model);
  if (!samples) return failure(samples.error());
  return answer(request, models.add_samples(std::move(*samples)));
}

Response put_model(control::Models& models, const Request& request) {
  if (!is_json(request)) return unsupported("application/json");
  auto descriptor = wire::read_posted_descriptor(request.body, request.params.at("model"));
  if (!descriptor) return failure(descriptor.error());
  return answer(request, models.describe(std::move(*descriptor)));
}

Response delete_model(control::Models& models, const Request& request) {
  const std::string& model = request.params.at("model");
  if (const Status done = models.forget(model); !done) return failure(done.error());
  return json(wire::encode_status_success(format("removed the learned data of {}", model)));
}

}  // namespace

void add_model_routes(Router& router, const control::Queries& queries, control::Models& models,
                      Pages& pages, std::size_t max_samples) {
  Route all{"GET", "/v1/models", [&queries, &pages](const Request& request) {
              return list(request, pages, [&] { return queries.models(); });
            }};
  all.parameters = {"output", "limit", "continue"};
  router.add(std::move(all));
  Route one{"GET", "/v1/models/{model}", [&queries](const Request& request) {
              return answer(request, queries.model(request.params.at("model")));
            }};
  one.parameters = {"output"};
  router.add(std::move(one));
  router.add({"PUT", "/v1/models/{model}",
              [&models](const Request& request) { return put_model(models, request); },
              kMaxDescriptorBody, Pool::kThreads});
  router.add({"DELETE", "/v1/models/{model}",
              [&models](const Request& request) { return delete_model(models, request); }, 0,
              Pool::kThreads});
  router.add({"POST", "/v1/models/{model}/samples",
              [&models](const Request& request) { return post_samples(models, request); },
              max_samples, Pool::kThreads});
}

}  // namespace slackline::http
