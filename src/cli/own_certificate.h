// OwnCertificate: the certificate that the daemon makes itself for the webhook's listener, put
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

class OwnCertificate {
 public:
  // The file is there when it returns: webhook.pem beside the store. kInvalidArgument: without an
  // API server there is nothing to share it through.
  static Result<std::unique_ptr<OwnCertificate>> start(const config::Configuration& configuration);

  http::TlsOptions tls() const;

 private:
  OwnCertificate() = default;

  std::string file_;
  http::OpenSslCertificates maker_;
  std::unique_ptr<cluster::CertificateStore> store_;
  std::unique_ptr<control::CertificateKeeper> keeper_;  // last: its thread ends first
};

}  // namespace slackline::cli
