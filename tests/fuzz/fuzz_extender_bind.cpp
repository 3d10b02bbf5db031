// ExtenderBindingArgs: what is accepted names pod, uid and node, and becomes a valid Binding.
#include "fuzz/fuzz.h"
#include "wire/extender/extender_codec.h"
#include "wire/kube/binding_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::ExtenderCodec codec(default_gpu_catalog());
  const std::string_view text = text_of(data, size);
  if (const auto truth = wire::decode_pod_binding(text))
    require(!truth->uid.empty(), "a pod's truth has a uid");
  const auto decoded = codec.decode_bind(text);
  if (!decoded || !decoded->refusal.empty()) return 0;
  const BindRequest& bind = decoded->request;
  require(!bind.uid.empty() && !bind.node.empty() && !bind.pod.name.empty(), "nothing is missing");
  require_json(wire::encode_binding(bind.pod, bind.uid, bind.node, {{"a", bind.pod.name}}), "JSON");
  return 0;
}
