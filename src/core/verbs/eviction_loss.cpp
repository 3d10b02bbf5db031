#include "eviction_loss.h"

#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/lost_work.h"

namespace slackline::core {

std::string EvictionLoss::gang_of(const Pod& pod) const {
  const Job* job = owning_job(snapshot_, pod);
  if (const std::string* gang = gang_label_of(pod, job)) return "gang " + pod.key.ns + "/" + *gang;
  return job != nullptr && starts_as_whole(*job) ? "job " + job->uid.str() : std::string{};
}

double EvictionLoss::of_pod(const Pod& pod) const {
  if (!pod.started_s) return 0;
  const Job* job = owning_job(snapshot_, pod);
  if (job != nullptr && job->is_calibration()) return 0;  // nobody's work
  const TaskIntent intent = effective_intent(snapshot_, pod);
  SavedWork saved;
  saved.worked_s = now_wall_s_ - *pod.started_s;
  if (intent.last_checkpoint_s) saved.since_checkpoint_s = now_wall_s_ - *intent.last_checkpoint_s;
  saved.checkpoint_interval_s = checkpoint_interval_s(effective_plan(snapshot_, pod), intent);
  if (job != nullptr && job->progress) saved.since_progress_s = now_wall_s_ - job->progress->at_s;
  saved.restart_s = restart_s(pod, intent);
  return lost_gpu_s(saved, static_cast<double>(pod.requests.gpu_total()));
}

// As it was measured where the pod runs; 0 where nothing is known.
double EvictionLoss::restart_s(const Pod& pod, const TaskIntent& intent) const {
  const auto workload = intent.workload();
  const auto node = snapshot_.find_node(pod.node.str());
  if (profiles_ == nullptr || !workload || !node) return 0;
  const ProfileEntry* entry = profiles_->find(*workload, snapshot_.node(*node).node->gpu_type);
  return entry == nullptr ? 0 : entry->startup_s;
}

double EvictionLoss::of_gang(const std::string& gang) {
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
