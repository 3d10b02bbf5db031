// Measured pairs: a text is refused with the name of its file, or becomes speeds that are positive
// and finite, every kind of prediction that is fast stays within its limits.
#include <cmath>

#include "fuzz/fuzz.h"
#include "sim/presets/pair_world.h"
#include "wire/samples/pair_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto pairs = wire::read_pairs(text_of(data, size), "p.json", "");
  if (!pairs) {
    require(pairs.error().message.starts_with("p.json: "), "an error names the file");
    return 0;
  }
  for (const MeasuredPair& pair : pairs->pairs)
    require(!pair.ran() || (std::isfinite(pair.first_per_s) && std::isfinite(pair.second_per_s)),
            "a speed is finite");
  if (pairs->tasks.size() > 12) return 0;
  const sim::PairWorld world(*pairs);
  const auto table = world.table(world.feasible());
  for (const std::string_view kind : {"cold", "log-additive", "als"}) {
    const auto model = core::PairModel::fit(table, {kind});
    const auto predicted = model.predict(world.task(0), {"new", ""});
    require(predicted && predicted->speeds.least() >= core::kLeastPredictedSpeed * 0.999 &&
                predicted->speeds.sum() <= 2 * core::kMostPredictedSpeed * 1.001,
            "a prediction is within its limits");
  }
  return 0;
}
