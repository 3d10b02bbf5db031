// The other side of the extender protocol: what kube-scheduler sends and how it reads the answers,
// for `slackline try`, which asks a running daemon about a manifest that is not in the cluster.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::wire {

// ExtenderArgs for a manifest (YAML or JSON): a Pod, or a Job, whose template becomes the pod and
// whose annotations of ours are inherited. Fields that the API server would fill in are made up
// plausibly.
Result<std::string> encode_extender_args(std::string_view manifest,
                                         const std::vector<std::string>& node_names);

// ExtenderFilterResult as kube-scheduler reads it.
struct FilterAnswer {
  std::vector<std::string> passed;
  std::map<std::string, std::string> failed;        // node -> message; preemption may help
  std::map<std::string, std::string> unresolvable;  // node -> message
  std::string error;
};
Result<FilterAnswer> decode_filter_answer(std::string_view json);

// HostPriorityList: node -> score.
Result<std::map<std::string, int>> decode_scores(std::string_view json);

struct NamedNode {
  std::string name;
  std::string gpu_type;
};
// The nodes of a GET /v1/nodes answer.
Result<std::vector<NamedNode>> decode_named_nodes(std::string_view json);

}  // namespace slackline::wire
