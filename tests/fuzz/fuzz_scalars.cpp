// Quantities, durations, times, placements, plans and the annotations that carry them.
#include <cmath>

#include "fuzz/fuzz.h"
#include "slackline/base/duration.h"
#include "slackline/base/quantity.h"
#include "slackline/base/text.h"
#include "wire/kube/annotations.h"
#include "wire/kube/own_write_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  const auto whole = parse_quantity(text);
  const auto milli = parse_quantity_milli(text);
  if (whole) require(*whole >= 0, "quantities are never negative");
  if (whole && milli) require(*milli / 1000 <= *whole, "both units agree");
  if (const auto duration = parse_duration_s(text)) {
    require(*duration >= 0 && std::isfinite(*duration), "durations are finite");
    (void)format_duration(*duration);
  }
  if (const auto time = parse_rfc3339_s(text)) {
    require(parse_rfc3339_s(format_rfc3339(*time)).has_value(), "a time is written as it is read");
  }
  for (const char* key : {"model", "batch-size", "expected-duration", "deadline", "gpu-types",
                          "placements", "qos-class", "plan", "nonsense"})
    (void)wire::read_intent({{std::string("slackline.dev/") + key, text}}, {});
  if (const auto note = wire::read_preemptions(text)) {
    require(wire::read_preemptions(wire::encode_preemptions(*note)).has_value(),
            "preemptions are written as they are read");
  }
  return 0;
}
