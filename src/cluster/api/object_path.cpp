#include "cluster/api/object_path.h"

#include "slackline/base/dns_name.h"
#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

Status check_name(std::string_view name) {
  if (is_dns_subdomain(name)) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" is not the name of an object: it must be a DNS subdomain (lower-case "
                     "letters, digits, '-' and '.', at most 253 characters)",
                     printable(name, 64)));
}

}  // namespace

Result<std::string> collection_path(std::string_view group, std::string_view resource,
                                    std::string_view ns) {
  if (!is_dns_label(ns))
    return fail(ErrorCode::kInvalidArgument,
                format("\"{}\" is not a namespace: it must be a DNS label (lower-case letters, "
                       "digits and '-', at most 63 characters)",
                       printable(ns, 64)));
  return format("{}/namespaces/{}/{}", group, ns, resource);
}

Result<std::string> object_path(std::string_view group, std::string_view resource,
                                const ObjectKey& key) {
  SLACKLINE_ASSIGN(std::string path, collection_path(group, resource, key.ns));
  SLACKLINE_TRY(check_name(key.name));
  return format("{}/{}", path, key.name);
}

Result<std::string> cluster_object_path(std::string_view group, std::string_view resource,
                                        std::string_view name) {
  SLACKLINE_TRY(check_name(name));
  return format("{}/{}/{}", group, resource, name);
}

}  // namespace slackline::cluster
