// Reads how the API server's front proxy shows that it is itself.
#pragma once

#include "message/front_proxy.h"
#include "slackline/base/result.h"

namespace slackline::cluster {

class ApiClient;

// The APIService of our aggregated API.
inline constexpr const char* kVisibilityService = "v1.visibility.slackline.dev";

// Of ConfigMap kube-system/extension-apiserver-authentication. Waits for the API server.
Result<FrontProxy> read_front_proxy(ApiClient& client);

}  // namespace slackline::cluster
