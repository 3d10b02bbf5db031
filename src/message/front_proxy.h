// FrontProxy: how the API server's aggregation layer shows that it is itself (ConfigMap
// kube-system/extension-apiserver-authentication).
#pragma once

#include <string>
#include <vector>

namespace slackline {

struct FrontProxy {
  std::string client_ca;                   // PEM; empty: it is not known
  std::vector<std::string> allowed_names;  // common names; empty: every one that the CA signed
  friend bool operator==(const FrontProxy&, const FrontProxy&) = default;
};

}  // namespace slackline
