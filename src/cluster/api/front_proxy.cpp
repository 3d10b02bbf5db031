#include "cluster/api/front_proxy.h"

#include "cluster/api/object_client.h"
#include "cluster/api/object_path.h"
#include "wire/aggregation/front_proxy_codec.h"

namespace slackline::cluster {

Result<FrontProxy> read_front_proxy(ApiClient& client) {
  SLACKLINE_ASSIGN(
      const std::string path,
      object_path(kCoreGroup, "configmaps", {"kube-system", "extension-apiserver-authentication"}));
  SLACKLINE_ASSIGN(const std::string config_map, ObjectClient(client).get(path));
  return wire::decode_front_proxy(config_map);
}

}  // namespace slackline::cluster
