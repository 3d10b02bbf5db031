#include "control/plan/return_all.h"

#include <chrono>
#include <set>
#include <thread>

#include "control/plan/actuator.h"
#include "slackline/base/text.h"
#include "slackline/core/handover/return_to_scheduler.h"

namespace slackline::control {
namespace {

constexpr auto kRound = std::chrono::milliseconds(50);

tl::unexpected<Error> not_listed(const cluster::ClusterSource& source, double timeout_s) {
  const std::string detail = source.health().detail;
  return fail(ErrorCode::kUnavailable,
              format("the API server did not answer with complete lists within {:.0f} s{}{}: "
                     "nothing was released; check the API server, and run this again",
                     timeout_s, detail.empty() ? "" : ": ", detail));
}

}  // namespace

Result<std::vector<OwnWrite>> find_held_back(const cluster::ClusterSource& source,
                                             const Clock& clock, double timeout_s) {
  const double until_s = clock.steady_s() + timeout_s;
  while (clock.steady_s() < until_s) {
    const SnapshotPtr snapshot = source.snapshot();
    if (snapshot->synced) return core::return_to_scheduler(*snapshot);
    std::this_thread::sleep_for(kRound);
  }
  return not_listed(source, timeout_s);
}

ReturnRound return_as_stock(const ClusterSnapshot& snapshot) {
  return {core::return_to_scheduler(snapshot)};
}

Result<Released> return_all(const cluster::ClusterSource& source, cluster::ClusterWriter& writer,
                            obs::MetricsRegistry& metrics, const Clock& clock, double timeout_s,
                            const DecideReturn& decide) {
  Actuator actuator(writer, metrics, [] {}, clock);
  actuator.start();
  std::set<ObjectKey> jobs;
  std::set<ObjectKey> pods;
  const double until_s = clock.steady_s() + timeout_s;
  double busy_s = clock.steady_s();
  std::size_t left = 0;
  while (clock.steady_s() < until_s) {
    std::this_thread::sleep_for(kRound);
    const double now_s = clock.steady_s();
    const SnapshotPtr snapshot = source.snapshot();
    ReturnRound round;
    if (snapshot->synced) round = decide(*actuator.overlaid(snapshot).snapshot);
    left = round.writes.size() + round.under_way;
    if (left > 0 || !snapshot->synced)
      busy_s = now_s;
    else if (now_s >= busy_s + kQuiet_s)
      return Released{jobs.size(), pods.size()};
    for (const OwnWrite& write : round.writes)
      (write.of_job() ? jobs : pods).insert(write.target.key);
    actuator.perform(std::move(round.writes));
  }
  if (!source.snapshot()->synced) return not_listed(source, timeout_s);
  return fail(ErrorCode::kTimeout,
              format("after {:.0f} s {} objects still wait; run it again with a longer --timeout",
                     timeout_s, left));
}

}  // namespace slackline::control
