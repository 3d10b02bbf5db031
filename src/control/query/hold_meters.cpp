#include "control/query/hold_meters.h"

namespace slackline::control {
namespace {

constexpr const char* kHolds = "slackline_holds";

}  // namespace

HoldMeters::HoldMeters(obs::MetricsRegistry& metrics)
    : active_(metrics.gauge(kHolds, {{"state", "active"}})),
      expired_(metrics.gauge(kHolds, {{"state", "expired"}})),
      gpus_(metrics.gauge("slackline_held_gpus")) {}

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
