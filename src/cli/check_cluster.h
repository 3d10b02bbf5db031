// The part of `slackline check --cluster kube` that reads the cluster: tasks that are held back
// while nobody leads, Jobs that the webhook has not seen, and kube-schedulers that compete. Wiring
// only. And what `serve` asks of a cluster before any of its parts writes there.
#pragma once

#include "cluster/api/api_client.h"
#include "config/configuration.h"

namespace slackline::cli {

// Prints its findings; false if something is wrong, or could not be checked. Writes nothing. Takes
// as long as the Lease may go without a renewal (15 s) if tasks wait and nobody renews it.
bool check_cluster(const config::Configuration& configuration);

// An error says what the cluster lacks and what to do. An API server that does not answer is no
// error: the daemon starts without it, and the log says that nothing was checked.
Status check_before_start(const config::Configuration& configuration, cluster::ApiClient& api);

}  // namespace slackline::cli
