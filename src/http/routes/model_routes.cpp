#include <string>
#include <string_view>
#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"
#include "slackline/base/text.h"
#include "wire/rest/model_codec.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

constexpr const char* kModel = "/v1/models/{model}";
constexpr const char* kSamplesBody =
    R"({"application/json":{"schema":{"$ref":"#/components/schemas/Samples"}},"text/csv":{)"
    R"("schema":{"type":"string"},"example":"model,gpu_type,batch,placement,)"
    R"(throughput_samples_per_s\nresnet50,A100,256,2x4,5120.5\n"}})";

template <class T>
Response answer(const Request& request, const Result<T>& value) {
  if (!value) return failure(value.error());
  return one(request, wire::encode_one(*value), wire::text_of(*value));
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

void add_sample_routes(Router& router, control::Models& models, Pages& pages,
                       std::size_t max_samples) {
  const std::string samples_path = std::string(kModel) + "/samples";
  router.add({.method = "GET",
              .pattern = samples_path,
              .handler =
                  [&models, &pages](const Request& request) {
                    return show_page(request, pages, [&]() -> Result<Listing<ThroughputSample>> {
                      SLACKLINE_ASSIGN(auto samples, models.samples(request.params.at("model")));
                      return Listing<ThroughputSample>{std::move(samples)};
                    });
                  },
              .parameters = list_parameters(),
              .operation = answers_list<ThroughputSample>(
                  "listSamples", "What was learnt of the speed of a model, to keep or to move it",
                  "Samples by GPU type, the oldest first", {{404}, {503}, list_is_gone()}),
              .takes_slashes = true});
  Operation teach = answers_one<SamplesAccepted>(
      "addSamples",
      "Teach throughput samples: all are stored, or none; runs that are known are left out",
      "How many were stored, and the fit of each GPU type or why it was refused",
      {{400}, {413}, {415}, {503}});
  teach.body = kSamplesBody;
  router.add(
      {.method = "POST",
       .pattern = samples_path,
       .handler = [&models](const Request& request) { return post_samples(models, request); },
       .max_body = max_samples,
       .operation = std::move(teach),
       .takes_slashes = true});
}

}  // namespace

void add_model_routes(Router& router, const control::Queries& queries, control::Models& models,
                      Pages& pages, std::size_t max_samples) {
  router.add({.method = "GET",
              .pattern = "/v1/models",
              .handler =
                  [&queries, &pages](const Request& request) {
                    return list(request, pages, [&] { return queries.models(); });
                  },
              .parameters = list_parameters(),
              .operation = answers_list<ModelView>(
                  "listModels", "What is known about the speed of models, and where it comes from",
                  "Models by name", {list_is_gone()})});
  router.add({.method = "GET",
              .pattern = kModel,
              .handler =
                  [&queries](const Request& request) {
                    return answer(request, queries.model(request.params.at("model")));
                  },
              .parameters = std::vector{output_parameter()},
              .operation = answers_one<ModelView>("getModel",
                                                  "One model: its description, and per GPU type "
                                                  "kind, points, error, version and samples",
                                                  "The model", {{404}}),
              .takes_slashes = true});
  Operation describe =
      answers_one<ModelView>("describeModel", "Describe a model; what is left out is forgotten",
                             "The model", {{400}, {503}});
  describe.body =
      R"({"application/json":{"schema":{"$ref":"#/components/schemas/ModelDescription"}}})";
  router.add({.method = "PUT",
              .pattern = kModel,
              .handler = [&models](const Request& request) { return put_model(models, request); },
              .max_body = kMaxDescriptorBody,
              .operation = std::move(describe),
              .takes_slashes = true});
  router.add(
      {.method = "DELETE",
       .pattern = kModel,
       .handler = [&models](const Request& request) { return delete_model(models, request); },
       .operation =
           {.id = "forgetModel",
            .summary =
                "Delete the learned data of a model: samples, fits, description; profiles stay",
            .answer = "A Kubernetes Status: Success",
            .form = Operation::Form::kJson,
            .schema = R"({"$ref":"#/components/schemas/Status"})",
            .failures = {{404}, {503}}},
       .takes_slashes = true});
  add_sample_routes(router, models, pages, max_samples);
}

}  // namespace slackline::http
