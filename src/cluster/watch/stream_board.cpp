#include "cluster/watch/stream_board.h"

#include <utility>

#include "slackline/base/text.h"

namespace slackline::cluster {

StreamBoard::StreamBoard(const Clock& clock, double stale_after_s, bool believes_all)
    : clock_(clock), stale_after_s_(stale_after_s), believes_all_(believes_all) {
  for (Entry& entry : entries_)
    entry.alive_s = clock.steady_s();
}

void StreamBoard::alive(wire::KubeKind kind) {
  MutexLock lock(mutex_);
  Entry& entry = entries_[index_of(kind)];
  entry.alive_s = clock_.steady_s();
  entry.reason.clear();
  entry.detail.clear();
}

bool StreamBoard::trouble(wire::KubeKind kind, std::string_view reason, std::string detail) {
  MutexLock lock(mutex_);
  Entry& entry = entries_[index_of(kind)];
  const bool news = entry.reason != reason;
  entry.reason = reason;
  entry.detail = std::move(detail);
  return news;
}

CacheHealth StreamBoard::health(bool synced) const {
  CacheHealth health;
  health.synced = synced;
  std::string troubles;
  std::string_view slowest;
  MutexLock lock(mutex_);
  for (const ResourceSpec& resource : kResources) {
    if (!resource.required || !is_asked_for(resource.kind, believes_all_)) continue;
    const Entry& entry = entries_[index_of(resource.kind)];
    const double age_s = clock_.steady_s() - entry.alive_s;
    if (slowest.empty() || age_s > health.age_s) {
      health.age_s = age_s;
      slowest = resource.name;
    }
    if (!entry.detail.empty())
      troubles += format("{}{}: {}", troubles.empty() ? "" : "; ", resource.name, entry.detail);
  }
  health.stale = health.age_s > stale_after_s_;
  health.detail = troubles;
  if (troubles.empty() && health.stale)
    health.detail = format("{}: watch silent for {:.0f}s", slowest, health.age_s);
  if (troubles.empty() && !synced) health.detail = "the first list is not complete yet";
  return health;
}

}  // namespace slackline::cluster
