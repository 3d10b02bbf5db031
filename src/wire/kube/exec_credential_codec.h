// ExecCredential of client.authentication.k8s.io, v1 and v1beta1: the input and output of a
// kubeconfig's credential plug-in
// (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/).
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline::wire {

// The API server, for plug-ins whose kubeconfig entry asks for it.
struct ExecCluster {
  std::string server;
  std::string ca_data;  // PEM
  bool insecure_skip_verify = false;
  std::string config;  // JSON, of the cluster's extension for plug-ins; empty for none
};

struct ExecCredential {
  std::string token;        // or
  std::string certificate;  // PEM, with its key
  std::string key;
  double expires_s = 0;  // since the epoch; 0: not given
};

// Whether it is one of the two supported versions.
bool is_exec_version(std::string_view api_version);

// For the environment variable KUBERNETES_EXEC_INFO. `cluster` may be null.
std::string encode_exec_info(std::string_view api_version, bool interactive,
                             const ExecCluster* cluster);

// Requires the same version, and a token or a certificate with its key. Errors repeat none of them.
Result<ExecCredential> decode_exec_credential(std::string_view json, std::string_view api_version);

}  // namespace slackline::wire
