#include "obs/clock_watch.h"

#include <cmath>

#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::obs {
namespace {

constexpr double kLook_s = 1;
constexpr double kJump_s = 1;  // NTP slews half a millisecond in a second

}  // namespace

ClockWatch::ClockWatch(MetricsRegistry& metrics, const Clock& clock)
    : clock_(clock),
      jumps_(metrics.counter("slackline_clock_jumps_total")),
      offset_s_(offset_s()) {}

void ClockWatch::start() {
  worker_.start([this] {
    while (worker_.wait(kLook_s))
      look();
  });
}

double ClockWatch::look() {
  const double now_s = offset_s();
  const double jumped_s = now_s - offset_s_;
  offset_s_ = now_s;
  if (std::abs(jumped_s) < kJump_s) return 0;
  jumps_.add();
  log_warning("clock_jumped", {{"by", format("{:+.1f} s", jumped_s)}});
  return jumped_s;
}

}  // namespace slackline::obs
