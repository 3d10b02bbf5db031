// Kueue's ClusterQueues, Cohorts, ResourceFlavors and LocalQueues (kueue.x-k8s.io/v1beta1 and
// v1beta2), and the Nodes beside them, as far as they say who is promised which GPUs.
#pragma once

#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/kueue.h"

namespace slackline::wire {

// What `kubectl get clusterqueues,resourceflavors,localqueues -A -o yaml` prints, or manifests, as
// YAML or JSON; other kinds are left out. Quotas of whole GPUs only. The error names the object and
// the field, and says what to write.
Result<KueueSetup> decode_kueue(std::string_view text, const GpuCatalog& catalog);

}  // namespace slackline::wire
