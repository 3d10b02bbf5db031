// Credentials: by what we are known to the API server, at this moment: a token that stays, one of a
// file (kube_token.h), or what a plug-in gives (exec_plugin.h). Certificates of files are the
// connection's own (net/tls_options.h).
//
// Thread-safety: all methods.
#pragma once

#include <memory>

#include "cluster/api/exec_plugin.h"
#include "cluster/api/kube_token.h"
#include "cluster/api/kubeconfig.h"
#include "slackline/base/result.h"

namespace slackline::cluster {

class Credentials {
 public:
  using Credential = ExecPlugin::Credential;

  Credentials(const KubeEndpoint& endpoint, const Clock& clock);

  // Waits for a plug-in at most so long.
  Result<Credential> current(double wait_s);
  // As long as a plug-in may take.
  Result<Credential> await();
  // The API server answered 401 to it: it is read or made again.
  void refuse(const Credential& credential);
  // The process ends: nobody waits long for a plug-in any more.
  void hurry();

 private:
  TokenSource token_;
  const std::shared_ptr<ExecPlugin> plugin_;  // null: none
};

}  // namespace slackline::cluster
