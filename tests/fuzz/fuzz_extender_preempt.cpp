// ExtenderPreemptionArgs: echoed, what decodes is JSON.
#include "fuzz/fuzz.h"
#include "wire/extender/extender_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::ExtenderCodec codec(default_gpu_catalog());
  const auto decoded = codec.decode_preempt(text_of(data, size));
  if (!decoded) return 0;
  PreemptReply reply;
  reply.nodes = decoded->request.candidates;
  require_json(wire::encode_preempt(reply), "preempt answers JSON");
  for (const NodeVictims& node : reply.nodes)
    require(node.pdb_violations >= 0, "violations are never negative");
  return 0;
}
