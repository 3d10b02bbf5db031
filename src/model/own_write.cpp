#include "slackline/model/own_write.h"

#include <array>

namespace slackline {
namespace {

constexpr std::array<std::string_view, kOwnWriteKindCount> kWords = {
    "release",          "open",   "suspend", "clear_plan", "plan", "nominate",
    "clear_nomination", "narrow", "lift"};

}  // namespace

std::string_view to_string(OwnWriteKind kind) {
  return kWords[static_cast<std::size_t>(kind)];
}

bool writes_job(OwnWriteKind kind) {
  return kind == OwnWriteKind::kReleaseJob || kind == OwnWriteKind::kOpenJob ||
         kind == OwnWriteKind::kSuspendJob || kind == OwnWriteKind::kClearPlan;
}

OwnWrite job_write(OwnWriteKind kind, const Job& job) {
  OwnWrite write;
  write.kind = kind;
  write.key = job.key;
  write.uid = job.uid;
  write.resource_version = job.resource_version;
  // Whether it is suspended is part of its spec; what a release changes besides, it changes at
  // once.
  const bool resumes = kind == OwnWriteKind::kReleaseJob && job.suspended;
  write.generation = job.generation + (resumes ? 1 : 0);
  if (job.plan) write.plan_id = job.plan->id;
  return write;
}

OwnWrite pod_write(OwnWriteKind kind, const Pod& pod) {
  OwnWrite write;
  write.kind = kind;
  write.key = pod.key;
  write.uid = pod.uid;
  if (pod.plan) write.plan_id = pod.plan->id;
  return write;
}

}  // namespace slackline
