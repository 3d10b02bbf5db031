// `slackline try`: manifests become extender requests that are JSON; answers of any daemon are read
// or refused.
#include "fuzz/fuzz.h"
#include "wire/extender_args.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  if (const auto args = wire::encode_extender_args(text, {"gpu-1"}))
    require_json(*args, "an extender request is JSON");
  (void)wire::decode_filter_answer(text).has_value();
  (void)wire::decode_scores(text).has_value();
  (void)wire::decode_named_nodes(text).has_value();
  return 0;
}
