#include "lost_work.h"

#include <algorithm>
#include <cmath>

#include "slackline/core/cluster/holds.h"

namespace slackline::core {

std::string LostWork::gang_of(const Pod& pod) const {
  const Job* job = owning_job(snapshot_, pod);
  const HoldIdentity identity = hold_identity(snapshot_, pod);
  if (!identity.gang.empty()) return "gang " + identity.gang;
  return job != nullptr && job->is_gang() ? "job " + job->uid.str() : std::string{};
}

double LostWork::of_pod(const Pod& pod) const {
  if (!pod.started_s) return 0;
  const double ran_s = std::max(0.0, now_wall_s_ - *pod.started_s);
  double lost_s = ran_s;
  const TaskIntent intent = effective_intent(snapshot_, pod);
  if (intent.last_checkpoint_s && *intent.last_checkpoint_s <= now_wall_s_) {
    // A checkpoint of an earlier run saves nothing of this one.
    lost_s = std::min(ran_s, now_wall_s_ - *intent.last_checkpoint_s);
  } else if (intent.checkpoint_interval_s && *intent.checkpoint_interval_s > 0) {
    lost_s = std::fmod(ran_s, *intent.checkpoint_interval_s);
  }
  const double lost = lost_s * static_cast<double>(pod.requests.gpu_total());
  return std::isfinite(lost) ? std::max(0.0, lost) : 0.0;
}

double LostWork::of_gang(const std::string& gang) {
  if (!gangs_read_) {
    gangs_read_ = true;
    for (const NodeStatePtr& state : snapshot_.nodes) {
      for (const PodPtr& pod : state->pods) {
        const std::string name = gang_of(*pod);
        if (!name.empty()) gangs_[name] += of_pod(*pod);
      }
    }
  }
  const auto at = gangs_.find(gang);
  return at == gangs_.end() ? 0.0 : at->second;
}

}  // namespace slackline::core
