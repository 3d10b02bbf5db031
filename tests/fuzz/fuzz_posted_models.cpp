// Bodies of REST that teach models: what is taken has a sample for every replica that it
// states and a positive, finite throughput; what is shown of it is JSON.
#include <cmath>

#include "fuzz/fuzz.h"
#include "wire/rest/model_codec.h"
#include "wire/rest/rows.h"
#include "wire/samples/samples_csv.h"

using namespace slackline;
using namespace slackline::fuzz;

namespace {

void check(const Result<std::vector<ThroughputSample>>& samples) {
  if (!samples) return require(!samples.error().message.empty(), "a refusal has a reason");
  require(!samples->empty() && samples->size() <= wire::kMaxPostedSamples, "a body has samples");
  for (const ThroughputSample& sample : *samples) {
    require(sample.batch > 0 && !wire::has_too_many_replicas(sample), "every replica has a sample");
    require(sample.throughput_samples_per_s > 0 && std::isfinite(sample.throughput_samples_per_s),
            "a throughput is positive and finite");
    require(sample.model == "m" && !sample.gpu_type.empty(), "a sample has its names");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body = text_of(data, size);
  check(wire::read_posted_samples(body, "m"));
  check(wire::read_posted_csv(body, "m"));
  if (const auto listed = wire::read_listed_samples(body, "m"))
    require(!listed->empty(), "a list that is taken has samples");
  if (const auto models = wire::read_listed_models(body))
    for (const wire::ListedModel& model : *models)
      require(wire::check_model_name(model.descriptor.model).has_value(), "a model has a name");
  const auto descriptor = wire::read_posted_descriptor(body, "m");
  if (!descriptor) return 0;
  require_json(wire::encode_one(ModelView{*descriptor, {}}), "a model is JSON");
  require(!wire::text_of(ModelView{*descriptor, {}}).empty(), "a model has a text");
  return 0;
}
