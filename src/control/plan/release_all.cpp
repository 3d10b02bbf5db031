#include "control/plan/release_all.h"

#include <chrono>
#include <set>
#include <thread>

#include "control/plan/actuator.h"
#include "slackline/base/text.h"
#include "slackline/core/let_go.h"

namespace slackline::control {
namespace {

constexpr auto kRound = std::chrono::milliseconds(50);

}  // namespace

Result<Released> release_all(const cluster::ClusterSource& source, cluster::ClusterWriter& writer,
                             obs::MetricsRegistry& metrics, const Clock& clock, double timeout_s) {
  Actuator actuator(writer, metrics, [] {}, clock);
  actuator.start();
  std::set<ObjectKey> jobs;
  std::set<ObjectKey> pods;
  const double until_s = clock.steady_s() + timeout_s;
  double busy_s = clock.steady_s();
  std::size_t left = 0;
  for (double now_s = busy_s; now_s < until_s; now_s = clock.steady_s()) {
    std::this_thread::sleep_for(kRound);
    const SnapshotPtr snapshot = source.snapshot();
    if (!snapshot->synced) {
      busy_s = now_s;
      continue;
    }
    std::vector<OwnWrite> writes = core::let_go(*actuator.overlaid(snapshot));
    left = writes.size();
    if (left == 0 && now_s >= busy_s + kQuiet_s) return Released{jobs.size(), pods.size()};
    if (left > 0) busy_s = now_s;
    for (const OwnWrite& write : writes)
      (writes_job(write.kind) ? jobs : pods).insert(write.key);
    actuator.perform(std::move(writes));
  }
  return fail(
      ErrorCode::kTimeout,
      format("after {:.0f} s {} objects are still held back{}; run it "
             "again with a longer --timeout",
             timeout_s, left, source.snapshot()->synced ? "" : ", the first list is not in"));
}

}  // namespace slackline::control
