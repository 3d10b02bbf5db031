#include "control/query/hold_meters.h"

namespace slackline::control {
namespace {

constexpr const char* kHolds = "slackline_holds";
constexpr const char* kHoldsHelp =
    "Capacity on nodes that is reserved for unbound pods: active, or expired and not removed yet.";

}  // namespace

HoldMeters::HoldMeters(obs::MetricsRegistry& metrics)
    : active_(metrics.gauge(kHolds, kHoldsHelp, {{"state", "active"}})),
      expired_(metrics.gauge(kHolds, kHoldsHelp, {{"state", "expired"}})),
      gpus_(metrics.gauge("slackline_held_gpus", "GPUs reserved by active holds.")) {}

void HoldMeters::show(const ClusterSnapshot& snapshot, double now_steady_s) const {
  double active = 0;
  double expired = 0;
  double gpus = 0;
  for (const Hold& hold : snapshot.holds.all()) {
    const bool live = hold.expires_s > now_steady_s;
    (live ? active : expired) += 1;
    if (live) gpus += static_cast<double>(hold.amount.gpu_total());
  }
  active_.set(active);
  expired_.set(expired);
  gpus_.set(gpus);
}

}  // namespace slackline::control
