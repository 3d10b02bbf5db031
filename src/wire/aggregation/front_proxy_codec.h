// The ConfigMap kube-system/extension-apiserver-authentication as JSON, and the APIService that
// trusts our certificate.
#pragma once

#include <string>
#include <string_view>

#include "message/front_proxy.h"
#include "slackline/base/result.h"

namespace slackline::wire {

// kInvalidArgument with the remedy: the cluster has no aggregation layer, or everybody with a
// certificate of the cluster could pass for its front proxy.
Result<FrontProxy> decode_front_proxy(std::string_view config_map_json);

// A merge patch that gives the APIService this caBundle. Empty if it has it.
Result<std::string> encode_api_service_patch(std::string_view api_service_json,
                                             std::string_view authorities_pem);

}  // namespace slackline::wire
