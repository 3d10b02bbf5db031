// The `exec` part of a kubeconfig's user. Private to this layer.
#pragma once

#include <string_view>

#include "cluster/api/exec_plugin.h"
#include "cluster/api/kubeconfig.h"
#include "slackline/base/result.h"
#include "wire/format/json_view.h"

namespace slackline::cluster {

// `endpoint` has the cluster's part already: a plug-in may want to know it. A relative path of a
// command starts at `folder`.
Result<ExecSpec> read_exec(wire::JsonView exec, wire::JsonView cluster, std::string_view folder,
                           const KubeEndpoint& endpoint);

}  // namespace slackline::cluster
