#include "sim/pair_fit.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "sim/presets/each_seed.h"
#include "sim/presets/pair_world.h"
#include "slackline/base/text.h"
#include "wire/format/json_writer.h"
#include "wire/format/text_table.h"

namespace slackline::sim {
namespace {

// Mean error of one draw: the pairs before `known` are in the table, the others held out. NaN: they
// are too few for this kind.
double error_of_draw(const PairWorld& world, std::string_view kind,
                     const std::vector<PairWorld::Pair>& pairs, std::size_t known) {
  const std::span<const PairWorld::Pair> all(pairs);
  const auto model = core::PairModel::fit(world.table(all.first(known)), {kind, false, false});
  if (model.kind() != kind) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  std::size_t cells = 0;
  for (const PairWorld::Pair& pair : all.subspan(known)) {
    const core::PairSpeeds truth = world.speeds(pair.a, pair.b);
    const auto predicted = model.predict(world.task(pair.a), world.task(pair.b));
    sum += std::abs(predicted->speeds.first / truth.first - 1);
    ++cells;
    if (pair.a == pair.b) continue;  // one cell, not two
    sum += std::abs(predicted->speeds.second / truth.second - 1);
    ++cells;
  }
  return 100 * sum / static_cast<double>(cells);
}

}  // namespace

Result<std::vector<PairFitRow>> fit_pair_kinds(const PairMeasurements& measured,
                                               const PairFitOptions& options) {
  const PairWorld world(measured);
  const std::size_t pairs = world.feasible().size();
  const auto known =
      static_cast<std::size_t>(std::lround(options.known * static_cast<double>(pairs)));
  if (known == 0 || known >= pairs)
    return fail(ErrorCode::kNotFound,
                format("{} pairs run together: {:g} of them leaves nothing to {}; choose another "
                       "--known",
                       pairs, options.known, known == 0 ? "learn from" : "hold out"));
  std::vector<std::uint64_t> seeds(static_cast<std::size_t>(options.draws));
  std::iota(seeds.begin(), seeds.end(), std::uint64_t{0});
  std::vector<PairFitRow> rows;
  for (const std::string_view kind : core::pair_kind_names()) {
    const auto errors = each_seed(seeds, [&](std::uint64_t seed) {
      return error_of_draw(world, kind, world.shuffled(seed), known);
    });
    rows.push_back(
        {std::string(kind), options.known,
         std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size())});
  }
  return rows;
}

std::string format_pair_fit_json(const std::vector<PairFitRow>& rows) {
  wire::JsonWriter out;
  out.begin_object().key("predictors").begin_array();
  for (const PairFitRow& row : rows)
    out.begin_object()
        .field("name", row.name)
        .field("known", row.known)
        .field("mean_ape", row.mean_ape)
        .end_object();
  out.end_array().end_object();
  return out.take() + "\n";
}

std::string format_pair_fit_table(const std::vector<PairFitRow>& rows) {
  wire::TextTable table({"PREDICTOR", ">KNOWN %", ">MEAN APE %"});
  std::vector<std::string> needs;
  for (const PairFitRow& row : rows) {
    const bool fitted = std::isfinite(row.mean_ape);
    table.add(
        {row.name, format("{:g}", 100 * row.known), fitted ? format("{:.1f}", row.mean_ape) : "-"});
    if (!fitted) needs.push_back(format("{} needs {}", row.name, core::least_pair_cells(row.name)));
  }
  if (needs.empty()) return table.str();
  return table.str() +
         format("-: too few cells r(A|B) are known; {}. A larger --known gives more.\n",
                join(needs, ", "));
}

}  // namespace slackline::sim
