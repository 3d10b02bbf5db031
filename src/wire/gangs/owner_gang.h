// Which controllers make their pods as a gang, and how pods and Jobs say to which one they belong
// (docs/GANGS.md). A kind that is not in the table makes none.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "slackline/model/pod.h"
#include "wire/format/json_view.h"

namespace slackline::wire {

// Annotations of a JobSet, of its Jobs and their pods. The first pod of each Job gets a node, then
// the others come, to the same rack or other value of a label; unless somebody labels the nodes for
// it.
inline constexpr std::string_view kLeadersFirst = "alpha.jobset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kByNodeLabels = "alpha.jobset.sigs.k8s.io/node-selector";

// Of such a Job, of a JobSet's `role`: the first pod, or the others.
std::string role_in_job(std::string_view role, bool is_first);

// "ray.io" of "ray.io/v1"; empty of what has no group.
std::string_view api_group(std::string_view api_version);

// `metadata` is that of a pod or a Job. Null: it is in no gang of its controller's.
std::shared_ptr<const OwnerGang> read_owner_gang(JsonView metadata);

}  // namespace slackline::wire
