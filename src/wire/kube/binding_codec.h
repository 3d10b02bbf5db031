// A Binding as the cluster writer sends it, and a pod as it is read back.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "message/pod_binding.h"
#include "slackline/base/result.h"
#include "slackline/model/ids.h"

namespace slackline::wire {

// v1 Binding. metadata.uid is the precondition (409 where another pod has the name now); the
// annotations are merged into the pod by the API server, atomically with the binding.
std::string encode_binding(const ObjectKey& pod, const Uid& uid, const NodeName& node,
                           const std::vector<std::pair<std::string, std::string>>& annotations);

// The answer of an API server that has bound the pod: v1 Status, status Success.
bool says_success(std::string_view json);

// Reads a Pod as the API server answers it, without its constraints; anything else is
// kInvalidArgument.
Result<PodBinding> decode_pod_binding(std::string_view json);

}  // namespace slackline::wire
