// What Slackline needs of a cluster: asked when the daemon starts, before it writes anything.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"

namespace slackline::cluster {

class ApiClient;

inline constexpr int kOldestMinor = 34;  // of Kubernetes 1

// What active mode writes, without which tasks that it queued would stay where they are.
struct ActiveNeeds {
  ObjectKey lease;       // the planner's
  ObjectKey key_secret;  // of the key that signs plans
};

// kInvalidArgument: it is older than 1.34, and the message says so. Else the failure of asking.
Status require_version(ApiClient& client);

// What our own account lacks, each with its remedy; empty: nothing. The policies that hold its
// writes are demanded of a ServiceAccount: they bind nobody else.
Result<std::vector<std::string>> find_lacking(ApiClient& client, const ActiveNeeds& needs);

}  // namespace slackline::cluster
