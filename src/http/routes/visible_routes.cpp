#include "http/routes/visible_routes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"
#include "http/routes/visible_paths.h"
#include "http/server/request_head.h"
#include "slackline/base/text.h"
#include "wire/aggregation/discovery_codec.h"

namespace slackline::http {
namespace {

// The front proxy writes these two, whatever --requestheader-username-headers says, and takes them
// away from its clients; other names it lets through.
constexpr std::string_view kUserField = "X-Remote-User";
constexpr std::string_view kGroupField = "X-Remote-Group";

std::string resource_list() {
  std::vector<wire::DiscoveredResource> resources;
  for (const VisibleResource& resource : visible_resources())
    resources.push_back(
        {std::string(resource.name), resource.namespaced, resource.takes_manifests});
  return wire::encode_resource_list(kVisibilityGroup, "v1", resources);
}

Response pass_on(const Router& rest, const FrontProxy& proxy, const Request& request) {
  const auto caller = caller_of(proxy, request);
  if (!caller) return failure(caller.error());
  const auto target = rest_target(request.method, request.target);
  if (!target)
    return failure({ErrorCode::kNotFound, "the aggregated API has no such path, or only reads it"});
  Request behind = request;
  behind.authorization = {};
  behind.caller = &*caller;
  return rest.dispatch(std::move(behind), *target);
}

}  // namespace

Result<Requester> caller_of(const FrontProxy& proxy, const Request& request) {
  const auto& names = proxy.allowed_names;
  const bool is_it =
      !proxy.client_ca.empty() && !request.tls_peer.empty() &&
      (names.empty() || std::find(names.begin(), names.end(), request.tls_peer) != names.end());
  if (!is_it)
    return fail(ErrorCode::kForbidden,
                format("{} is not the front proxy of the API server: ask through the API server, "
                       "as with `kubectl get --raw`",
                       request.tls_peer.empty() ? "who shows no certificate"
                                                : printable(request.tls_peer, 128)));
  std::vector<std::string> users = field_values(request.head, kUserField);
  if (users.size() != 1 || users[0].empty())
    return fail(ErrorCode::kForbidden, "the front proxy names no user");
  Requester caller;
  caller.name = std::move(users[0]);
  caller.groups = field_values(request.head, kGroupField);
  return caller;
}

void add_visible_routes(Router& router, const Router& rest, const Published<FrontProxy>& proxy) {
  set_error_pages(router);
  const auto say = [&router](const std::string& path, std::string body) {
    router.add({.method = "GET",
                .pattern = path,
                .handler = [body = std::move(body)](const Request&) { return json(body); }});
  };
  const std::string root(kVisibilityRoot);
  say(root.substr(0, root.rfind('/')), wire::encode_api_group(kVisibilityGroup, "v1"));
  say(root, resource_list());
  const auto answer = [&rest, &proxy](const Request& request) {
    return pass_on(rest, *proxy.get(), request);
  };
  std::string pattern = root;
  for (const char* further : {"/{a}", "/{b}", "/{c}", "/{d}", "/{e}"}) {
    pattern += further;
    router.add({.method = "GET", .pattern = pattern, .handler = answer});
    router.add({.method = "POST", .pattern = pattern, .handler = answer, .max_body = kMaxManifest});
  }
}

}  // namespace slackline::http
