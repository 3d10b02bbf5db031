// The paths of the aggregated API visibility.slackline.dev/v1, and those of REST behind them:
//
//   .../namespaces/{ns}/tasks/{name}/explain   /v1/tasks/{ns}/{name}/explain
//   .../namespaces/{ns}/queue                  /v1/queue?namespace={ns}
//   .../namespaces/{ns}/scores/{pod}           /v1/scores?pod={ns}/{pod}
//   .../nodes                                  /v1/nodes
//
// The API server judges the left side by RBAC, so the namespace in the path is the only one that
// the right side gets. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::http {

inline constexpr std::string_view kVisibilityGroup = "visibility.slackline.dev";
inline constexpr std::string_view kVisibilityRoot = "/apis/visibility.slackline.dev/v1";

// What can be asked for; also the resources of RBAC.
struct VisibleResource {
  std::string_view name;
  bool namespaced = false;
  bool takes_manifests = false;   // POST
  std::string_view path = "/v1";  // of REST; without the name where it is not /v1
};
const std::vector<VisibleResource>& visible_resources();

// Path and query of REST for those of the aggregated API; nullopt: there is nothing.
std::optional<std::string> rest_target(std::string_view method, std::string_view target);
// The other way round; nullopt: it cannot be asked there.
std::optional<std::string> visible_target(std::string_view method, std::string_view rest);

}  // namespace slackline::http
