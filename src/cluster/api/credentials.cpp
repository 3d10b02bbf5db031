#include "cluster/api/credentials.h"

namespace slackline::cluster {

Credentials::Credentials(const KubeEndpoint& endpoint, const Clock& clock)
    : token_(endpoint.token, endpoint.token_file, clock),
      plugin_(endpoint.exec ? shared_plugin(*endpoint.exec) : nullptr) {}

Result<Credentials::Credential> Credentials::current(double wait_s) {
  if (plugin_) return plugin_->current(wait_s);
  return Credential{.token = token_.current()};
}

Result<Credentials::Credential> Credentials::await() {
  return plugin_ ? plugin_->await() : current(0);
}

void Credentials::refuse(const Credential& credential) {
  if (plugin_)
    plugin_->refuse(credential.serial);
  else
    token_.refresh();
}

void Credentials::hurry() {
  if (plugin_) plugin_->hurry();
}

}  // namespace slackline::cluster
