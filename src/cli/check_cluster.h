// The part of `slackline check --cluster kube` that reads the cluster: tasks that are held back
// while nobody leads, Jobs that the webhook has not seen, and kube-schedulers that compete. Wiring
// only.
#pragma once

#include "config/configuration.h"

namespace slackline::cli {

// Prints its findings; false if something is wrong, or could not be checked. Writes nothing. Takes
// as long as the Lease may go without a renewal (15 s) if tasks wait and nobody renews it.
bool check_cluster(const config::Configuration& configuration);

}  // namespace slackline::cli
