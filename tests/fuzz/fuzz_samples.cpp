// Sample formats: every format takes a text or refuses it; samples have a batch for every replica
// of the model and a positive, finite throughput, and Slackline's own form gives them back.
#include <cmath>

#include "fuzz/fuzz.h"
#include "wire/samples/sample_import.h"
#include "wire/samples/samples_csv.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kSystem =
      R"({"number_of_nodes":2,"accelerators_per_node":8,"accelerator_model_name":"NVIDIA H100"})";
  const wire::SampleFile file{"folder/name_k80.csv", text_of(data, size), kSystem};
  for (const wire::SampleFormat& format : wire::sample_formats()) {
    const auto import = wire::import_samples(format.name, file);
    if (!import) {
      require(import.error().message.starts_with(file.path), "an error names the file");
      continue;
    }
    require(!import->samples.empty(), "an import has samples");
    for (const ThroughputSample& sample : import->samples) {
      require(sample.batch > 0, "a batch has samples");
      require(sample.model_parallel == 0 ||
                  sample.batch * sample.model_parallel >= sample.layout.spread().gpus,
              "every replica that is stated has a sample");
      require(sample.throughput_samples_per_s > 0 && std::isfinite(sample.throughput_samples_per_s),
              "a throughput is positive and finite");
      require(!sample.model.empty() && !sample.gpu_type.empty(), "a sample has its names");
    }
    if (format.name != "csv") continue;
    const auto again = wire::read_samples_csv(wire::write_samples_csv(import->samples), "again");
    require(again.has_value() && *again == import->samples, "our own form comes back");
  }
  return 0;
}
