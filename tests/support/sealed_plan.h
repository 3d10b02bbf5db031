// Plans as they come from an API server: with Slackline's code, or somebody else's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "slackline/model/mac.h"
#include "slackline/model/pod.h"
#include "wire/kube/annotations.h"
#include "wire/kube/own_write_codec.h"
#include "wire/kube/sealed_text.h"

namespace slackline::test {

// The annotation of a plan that was written to this object; of a Job at this generation.
inline std::string sealed_plan(const MessageAuthenticator& mac, const ObjectKey& carrier,
                               const Uid& uid, PlanNote plan,
                               std::optional<std::int64_t> generation = std::nullopt) {
  plan.generation = generation;
  return wire::seal_plan(mac, {carrier, uid}, wire::encode_plan(plan));
}

inline Job with_plan(Job job, const std::string& annotation) {
  job.plan = std::make_shared<const PlanNote>(*wire::read_plan(annotation));
  return job;
}

// The object with its plan as the API server has it after Slackline's write.
inline Job sealed(const MessageAuthenticator& mac, const Job& job) {
  return with_plan(job, sealed_plan(mac, job.key, job.uid, *job.plan, job.generation));
}

inline Pod sealed(const MessageAuthenticator& mac, Pod pod) {
  pod.plan = std::make_shared<const PlanNote>(
      *wire::read_plan(sealed_plan(mac, pod.key, pod.uid, *pod.plan)));
  return pod;
}

}  // namespace slackline::test
