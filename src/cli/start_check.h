// What `serve` asks of the cluster before any of its parts writes there.
#pragma once

#include "cluster/api/api_client.h"
#include "config/configuration.h"

namespace slackline::cli {

// An error says what the cluster lacks and what to do. An API server that does not answer is no
// error: the daemon starts without it, and the log says that nothing was checked.
Status check_before_start(const config::Configuration& configuration, cluster::ApiClient& api);

}  // namespace slackline::cli
