// Where the API server keeps an object. Names become part of a path only if they are what
// Kubernetes allows: "..", "a/b" or "x?dryRun=All" would name something else.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"

namespace slackline::cluster {

inline constexpr std::string_view kCoreGroup = "/api/v1";

// `group` is "/api/v1" or "/apis/batch/v1"; `resource` is plural and may name no tenant's text.
// kInvalidArgument: the namespace is no DNS label, or the name no DNS subdomain (RFC 1123).
Result<std::string> object_path(std::string_view group, std::string_view resource,
                                const ObjectKey& key);
// Of all objects of the namespace: where a new one is posted.
Result<std::string> collection_path(std::string_view group, std::string_view resource,
                                    std::string_view ns);
// Of an object without a namespace.
Result<std::string> cluster_object_path(std::string_view group, std::string_view resource,
                                        std::string_view name);

}  // namespace slackline::cluster
