// Which Kubernetes the API server is.
#pragma once

#include "cluster/watch/kube_source.h"
#include "slackline/base/result.h"

namespace slackline::cluster {

// The minor version ("1.36" is 36). Blocks for at most three seconds.
Result<int> server_minor(const KubeAccess& access);

}  // namespace slackline::cluster
