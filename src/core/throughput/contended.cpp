// Kind "P2": as P, and GPUs of one node slow each other down by (1 + k (g - 1)), and two nodes have
// a factor f on their sync (one link, no ring); params a, c, s1, s2, s3, s4, p, k, f.
#include "additive_terms.h"
#include "kinds.h"

namespace slackline::core {
namespace {

constexpr std::size_t kP = kAdditiveParams;
constexpr std::size_t kContention = kP + 1;
constexpr std::size_t kTwoNodes = kP + 2;
constexpr double kMaxP = 10;

double iteration_s(std::span<const double> params, double local_batch, Spread spread) {
  const double computation =
      computation_s(params, local_batch) * (1 + params[kContention] * (spread.most_per_node - 1));
  const double sync = sync_s(params, spread) * (spread.nodes == 2 ? params[kTwoNodes] : 1);
  return overlapped(computation, sync, params[kP]);
}

bool takes(std::span<const double> params) {
  return takes_additive(params, kTwoNodes + 1) && params[kP] >= 1 && params[kP] <= kMaxP;
}

std::vector<double> fit(std::span<const Observation> observations) {
  TimeModel model{additive_coefficients(observations),
                  {{{kP, 1.2}}, {{kP, 4}}, {{kP, 1.5}, {4, 0.6}}, {{kP, 3}, {4, 0.6}}},
                  iteration_s};
  model.coefficients.push_back({Dimension::kRatio, 1, kMaxP, 2});
  model.coefficients.push_back({Dimension::kRatio, 0, 2, 0.05});
  model.coefficients.push_back({Dimension::kRatio, 0.1, 10, 1});
  return with_unseen_sync(fit_time(model, observations), observations);
}

}  // namespace

const ThroughputKind kContended{"P2", 6, takes,
                                [](std::span<const double> params, double batch, Spread spread) {
                                  return batch / iteration_s(params, batch / spread.gpus, spread);
                                },
                                fit};

}  // namespace slackline::core
