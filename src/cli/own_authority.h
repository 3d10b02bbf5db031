// OwnAuthority: mutual TLS of the extender's listener with certificates that the daemon makes
// itself, put together: Secret, maker, keeper.
#pragma once

#include <memory>
#include <string>

#include "cluster/api/authority_store.h"
#include "config/configuration.h"
#include "control/trust/authority_keeper.h"
#include "http/crypto/openssl_authority.h"
#include "http/server/server.h"
#include "obs/metrics.h"
#include "slackline/base/result.h"

namespace slackline::cli {

class OwnAuthority {
 public:
  // extender.pem and extender-clients.pem are next to the store when it returns. kInvalidArgument:
  // `api` is null, there is nothing to share them through.
  static Result<std::unique_ptr<OwnAuthority>> start(const config::Configuration& configuration,
                                                     cluster::ApiClient* api,
                                                     obs::MetricsRegistry& metrics);

  http::TlsOptions tls() const;

 private:
  OwnAuthority() = default;

  std::string file_;
  std::string trust_file_;
  http::OpenSslAuthority maker_;
  std::unique_ptr<cluster::AuthorityStore> store_;
  std::unique_ptr<control::AuthorityKeeper> keeper_;  // last: its thread ends first
};

}  // namespace slackline::cli
