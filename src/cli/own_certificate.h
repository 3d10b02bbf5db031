// OwnCertificate: the certificate that the daemon makes itself for one of its listeners, put
// together: its Secret, its maker, its keeper.
#pragma once

#include <memory>
#include <string>

#include "cluster/certificate_store.h"
#include "config/configuration.h"
#include "control/serve/certificate_keeper.h"
#include "http/openssl_certificates.h"
#include "http/server.h"
#include "slackline/base/result.h"

namespace slackline::cli {

// Who is told to trust it; both may be empty.
struct TellsWhom {
  std::string webhook_configuration;
  std::string config_map;  // NAMESPACE/NAME
};

class OwnCertificate {
 public:
  // The file is there when it returns: LISTENER.pem beside the store. kInvalidArgument: without an
  // API server there is nothing to share it through.
  static Result<std::unique_ptr<OwnCertificate>> start(const std::string& listener,
                                                       const config::Configuration& configuration,
                                                       const config::CertificateSettings& settings,
                                                       const TellsWhom& whom);

  http::TlsOptions tls() const;

 private:
  OwnCertificate() = default;

  std::string file_;
  http::OpenSslCertificates maker_;
  std::unique_ptr<cluster::CertificateStore> store_;
  std::unique_ptr<control::CertificateKeeper> keeper_;  // last: its thread ends first
};

}  // namespace slackline::cli
