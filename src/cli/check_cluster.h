// The part of `slackline check --cluster kube` that reads the cluster: tasks that are held back
// while nobody leads, Jobs that the webhook has not seen, and kube-schedulers that compete. Wiring
// only. And what `serve` asks of a cluster before any of its parts writes there.
#pragma once

#include "cluster/api/api_client.h"
#include "config/configuration.h"

namespace slackline::cli {

// What a part of `slackline check` came to; of several the greatest counts.
enum class CheckOutcome {
  kGood,
  kWrong,   // something is wrong with what was looked at
  kFailed,  // it could not be looked at
};

// Prints its findings. Writes nothing. Takes as long as the Lease may go without a renewal (15 s)
// if tasks wait and nobody renews it.
CheckOutcome check_cluster(const config::Configuration& configuration);

// An error says what the cluster lacks and what to do. An API server that does not answer is no
// error: the daemon starts without it, and the log says that nothing was checked.
Status check_before_start(const config::Configuration& configuration, cluster::ApiClient& api);

}  // namespace slackline::cli
