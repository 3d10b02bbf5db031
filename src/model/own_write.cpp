#include "slackline/model/own_write.h"

#include <utility>

namespace slackline {
namespace {

template <class Object, class Change>
OwnWrite write_to(const Object& object, Change change, Decision decision) {
  if (decision.plan_id.empty() && object.plan) decision.plan_id = object.plan->id;
  return {{.key = object.key, .uid = object.uid}, std::move(change), std::move(decision)};
}

}  // namespace

std::string_view OwnWrite::word() const {
  const auto of_kind = [](const auto& kind) { return kind.kWord; };
  return std::visit([&](const auto& group) { return std::visit(of_kind, group); }, change);
}

const PlanNote* OwnWrite::plan() const {
  if (const auto* release = as<ReleaseJob>()) return release->plan.get();
  const auto* pod = as<PlanPod>();
  return pod != nullptr ? pod->plan.get() : nullptr;
}

OwnWrite job_write(const Job& job, JobChange change, Decision decision) {
  // `suspend` is part of the spec; what else a release changes, it changes in the same write.
  if (auto* release = std::get_if<ReleaseJob>(&change)) {
    release->generation = job.generation + (job.suspended ? 1 : 0);
    release->of_rest = job.preemptions != nullptr;
  }
  OwnWrite write = write_to(job, std::move(change), std::move(decision));
  write.target.resource_version = job.resource_version;
  return write;
}

OwnWrite pod_write(const Pod& pod, PodChange change, Decision decision) {
  OwnWrite write = write_to(pod, std::move(change), std::move(decision));
  write.target.node = pod.node;
  return write;
}

}  // namespace slackline
