// A cluster as it is now, for commands that look at it once. Wiring only.
#pragma once

#include <string>

#include "cluster/api/api_client.h"
#include "config/configuration.h"
#include "slackline/base/result.h"
#include "slackline/model/snapshot.h"

namespace slackline::cli {

// What --cluster says, into the settings: "kube", or "file:DUMP"; empty changes nothing.
Status apply_cluster(const std::string& cluster, config::ClusterSettings& settings);

// The first full list of the API server. Waits for it for at most 30 s.
Result<SnapshotPtr> list_once(cluster::ApiClient& api, const GpuCatalog& gpus);

// The dump's, or that of the API server which the configuration names.
Result<SnapshotPtr> read_cluster_once(const config::Configuration& configuration);

}  // namespace slackline::cli
