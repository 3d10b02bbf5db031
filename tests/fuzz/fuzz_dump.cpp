// Dumps and kubeconfigs: YAML becomes valid JSON, which the decoder takes or refuses.
#include "fuzz/fuzz.h"
#include "wire/format/yaml.h"
#include "wire/kube/kube_decode.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::KubeDecoder decoder(default_gpu_catalog());
  const auto json = wire::yaml_to_json(text_of(data, size));
  if (!json) return 0;
  require_json(*json, "YAML becomes JSON");
  (void)decoder.dump(*json);
  return 0;
}
