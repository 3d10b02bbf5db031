// ExtenderArgs: whatever decodes is answered with valid JSON that names every node exactly once,
// and with known names the same is read.
#include "fuzz/fuzz.h"
#include "support/node_names.h"
#include "wire/extender/extender_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::ExtenderCodec codec(default_gpu_catalog());
  static wire::ExtenderCodec quick(default_gpu_catalog());
  static const auto known = test::node_names({"a", "b", "gpu-node-1"});
  const auto decoded = codec.decode_nodes(text_of(data, size));
  const auto again = quick.decode_nodes(text_of(data, size), known);
  require(again.has_value() == decoded.has_value(), "known names refuse and accept nothing else");
  if (decoded)
    require(again->refusal == decoded->refusal &&
                again->request.node_names == decoded->request.node_names,
            "known names are read as they are without");
  if (!decoded || !decoded->refusal.empty()) return 0;
  const NodesRequest& request = decoded->request;
  FilterReply reply;
  PrioritizeReply scores;
  for (std::uint32_t i = 0; i < request.node_names.size(); ++i) {
    reply.verdicts.push_back(static_cast<Verdict>(i % kVerdictCount));
    scores.scores.push_back({i, static_cast<int>(i % 11)});
  }
  require_json(codec.encode_prioritize(request, scores), "prioritize answers JSON");
  const std::string json = codec.encode_filter(request, reply);
  wire::JsonDocument document;
  const auto answer = document.parse(json);
  require(answer.has_value(), "filter answers JSON");
  if (!(*answer)["Error"].text().empty()) return 0;
  std::size_t named = request.full_objects ? (*answer)["Nodes"]["items"].items().count()
                                           : (*answer)["NodeNames"].items().count();
  for (const char* map : {"FailedNodes", "FailedAndUnresolvableNodes"})
    for ([[maybe_unused]] const auto field : (*answer)[map].fields())
      ++named;
  require(named == request.node_names.size(), "every node occurs exactly once");
  return 0;
}
