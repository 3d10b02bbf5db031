// Where the API server is and how to speak to it: from a kubeconfig, or from inside a pod.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/api/exec_plugin.h"
#include "net/tls_options.h"
#include "slackline/base/result.h"

namespace slackline::cluster {

// The API server's address and Slackline's credentials: a kubeconfig, or the pod's ServiceAccount.
struct KubeAccess {
  // One file. Empty: in a pod (KUBERNETES_SERVICE_HOST is set) its ServiceAccount, else the files
  // of $KUBECONFIG, else ~/.kube/config.
  std::string kubeconfig = {};
  std::string context = {};  // empty = current-context
  // As kubectl does: the pod's ServiceAccount only where there is no kubeconfig.
  bool kubeconfig_first = false;
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

struct KubeEndpoint {
  std::string server;  // "https://host:port", without a trailing slash
  net::TlsOptions tls;
  std::string token;             // fixed, or until the file can be read; empty = none is written
  std::string token_file;        // read again and again (kube_token.h)
  std::optional<ExecSpec> exec;  // a plug-in that is asked who we are; not beside a token
  std::string ns;                // of the context or the pod; empty = none is named
  std::vector<std::string> warnings;
};

// A kubeconfig, YAML or JSON.
struct KubeconfigFile {
  std::string text;
  std::string folder;     // its own: relative paths in it start there
  std::string name = {};  // for errors of one file among several
};

// Of several files the first that has an entry of a name gives all of it, and the first that names
// a current-context chooses, as kubectl merges them. `context`: empty = the current one. Refused
// with a remedy: auth-provider plug-ins, user name and password, impersonation, proxy-url,
// tls-server-name. Reading runs nothing: an exec plug-in runs when a request needs it.
Result<KubeEndpoint> parse_kubeconfig(const std::vector<KubeconfigFile>& files,
                                      std::string_view context);

// The ServiceAccount's folder with `token` and `ca.crt`, the address from the environment.
Result<KubeEndpoint> in_cluster_endpoint(const std::string& service_account_folder);

// As KubeAccess says.
Result<KubeEndpoint> find_endpoint(const KubeAccess& access);

}  // namespace slackline::cluster
