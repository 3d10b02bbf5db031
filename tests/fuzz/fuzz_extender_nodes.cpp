// ExtenderArgs: whatever decodes is answered with valid JSON that names every node exactly once.
#include "fuzz/fuzz.h"
#include "wire/extender_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::ExtenderCodec codec(default_gpu_catalog());
  const auto decoded = codec.decode_nodes(text_of(data, size));
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
