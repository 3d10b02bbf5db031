// What an aggregated API says of itself: an APIGroup and an APIResourceList, as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slackline::wire {

struct DiscoveredResource {
  std::string name;
  bool namespaced = false;
  bool creates = false;
};

std::string encode_api_group(std::string_view group, std::string_view version);

// Verbs are `get` and `create` only: what cannot be listed is not looked at by garbage collection,
// by `kubectl get all` and by the deletion of a namespace.
std::string encode_resource_list(std::string_view group, std::string_view version,
                                 const std::vector<DiscoveredResource>& resources);

}  // namespace slackline::wire
