// What `slackline check --cluster kube` looks for in the cluster itself: tasks that are held back
// while nobody leads. Wiring only.
#pragma once

#include "config/configuration.h"

namespace slackline::cli {

// Prints what it finds; false where something is wrong, or could not be seen. Writes nothing. Takes
// as long as the Lease may go without a renewal (15 s) where tasks wait and nobody renews it.
bool check_cluster(const config::Configuration& configuration);

}  // namespace slackline::cli
