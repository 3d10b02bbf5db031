// Dumps and kubeconfigs: YAML becomes valid JSON, which the decoder takes or refuses; a bundle of
// what it takes is taken, too. Kueue's objects are read or refused.
#include "fuzz/fuzz.h"
#include "wire/format/yaml.h"
#include "wire/kube/kube_decode.h"
#include "wire/kube/redact.h"
#include "wire/kueue/kueue_decode.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::KubeDecoder decoder(default_gpu_catalog());
  const auto json = wire::yaml_to_json(text_of(data, size));
  if (!json) return 0;
  require_json(*json, "YAML becomes JSON");
  (void)decoder.dump(*json);
  const GpuCatalog catalog = default_gpu_catalog();
  (void)wire::decode_kueue(*json, catalog).has_value();
  const auto bundle = wire::redact_dump(
      *json, {.catalog = catalog,
              .is_public_model = [](std::string_view model) { return model.size() % 2 == 0; },
              .stem = [](std::string_view name) { return std::string(name.substr(0, 1)); }});
  if (bundle) require(decoder.dump(bundle->json).has_value(), "a bundle is a dump");
  return 0;
}
