// Measured pairs: a text is refused with the name of its file, or becomes speeds that are positive
// and finite, every kind of prediction that is fast stays within its limits. And the file of a
// trained network: refused with its name, or it can be written again and answers within limits.
#include <cmath>
#include <vector>

#include "fuzz/fuzz.h"
#include "sim/presets/network_file.h"
#include "sim/presets/pair_world.h"
#include "wire/samples/pair_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

namespace {

void read_as_network(std::string_view text) {
  const auto trained = sim::read_network(text, "p.json");
  if (!trained) {
    require(trained.error().message.starts_with("p.json: "), "an error names the file");
    return;
  }
  require(sim::read_network(sim::write_network(*trained), "").has_value(), "it can be kept");
  const auto& seen = trained->net.features();
  std::vector<double> features;
  for (const auto& feature : seen)
    features.push_back((feature.least + feature.most) / 2);
  const auto factor = trained->net.log_factor(features);
  require(!factor || std::abs(*factor) <= std::log(core::CorrectionTable::kMostFactor) * 1.001,
          "a correction is within its limits");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_as_network(text_of(data, size));
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
