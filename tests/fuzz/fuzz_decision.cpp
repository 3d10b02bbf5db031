// The journal's JSON columns: whatever lies on the disk is read or refused, and what was read can
// be written and read again.
#include "fuzz/fuzz.h"
#include "wire/rest/decision_codec.h"
#include "wire/rest/rows.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  if (const auto candidates = wire::decode_candidates(text))
    require(wire::decode_candidates(wire::encode_candidates(*candidates)).has_value(),
            "candidates that were read can be written and read");
  if (const auto reasons = wire::decode_reasons(text))
    require(wire::decode_reasons(wire::encode_reasons(*reasons)).has_value(),
            "reasons that were read can be written and read");
  if (const auto stop = wire::decode_stop(text))
    require(wire::decode_stop(wire::encode_stop(*stop)).has_value(),
            "a stop that was read can be written and read");
  if (const auto rows = wire::read_listed_decisions(text))
    for (const DecisionRow& row : *rows)
      require_json(wire::encode_one(row), "a decision that was read is JSON");
  return 0;
}
