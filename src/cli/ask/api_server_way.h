// The way to a daemon through the API server: a kubeconfig is all it takes. The aggregated API
// visibility.slackline.dev/v1 where the cluster has it, else the API server's proxy of a Service,
// through which the daemon can only be read.
#pragma once

#include <string>
#include <vector>

#include "client/client.h"
#include "cluster/api/kubeconfig.h"
#include "slackline/base/result.h"

namespace slackline::cli {

inline constexpr const char* kViewService = "slackline-system/slackline-view";  // of deploy/proxy

struct ApiServerWay {
  cluster::KubeAccess access;
  std::string service = kViewService;  // NAMESPACE/NAME
  // As whom the API server is asked; empty = as who we are.
  std::string as{};
  std::string as_uid{};
  std::vector<std::string> as_groups{};
  double timeout_s = 10;       // of a request, once a credential plug-in has answered
  bool in_a_hurry = false;     // that plug-in's time, too
  bool service_named = false;  // then that one is asked, whatever else there is
};

// Reads the kubeconfig; asks nothing yet.
Result<client::Way> way_through_api_server(const ApiServerWay& options);

}  // namespace slackline::cli
