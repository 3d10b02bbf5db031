// OwnCertificate: the certificate that the daemon makes itself for a listener, put together: its
// Secret, its maker, its keeper, and whom it tells whom to trust.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cluster/api/certificate_store.h"
#include "config/configuration.h"
#include "control/trust/certificate_keeper.h"
#include "http/crypto/openssl_certificates.h"
#include "http/server/server.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"

namespace slackline::cli {

struct OwnCertificateOptions {
  std::string listener;  // as in the configuration: "webhook"
  config::CertificateSettings settings;
  std::string file;             // its name; it lies beside the store
  std::string configuration{};  // of webhooks that are to trust it; empty: none
  std::string api_service{};    // that is to trust it; empty: none
  std::string trust{};          // NAMESPACE/NAME of the ConfigMap that tells people; empty: none
  Published<std::string>* authorities = nullptr;  // gets them too, as PEM; null: nobody asks
};

// The path of a certificate's file, next to the store. kInvalidArgument: the store writes no files.
Result<std::string> own_file(const config::Configuration& configuration, std::string_view listener,
                             const std::string& name);

class OwnCertificate {
 public:
  // The file is there when it returns. kInvalidArgument: `api` is null, there is nothing to
  // share it through.
  static Result<std::unique_ptr<OwnCertificate>> start(const config::Configuration& configuration,
                                                       cluster::ApiClient* api,
                                                       const OwnCertificateOptions& options);

  http::TlsOptions tls() const;

 private:
  OwnCertificate() = default;

  std::string file_;
  http::OpenSslCertificates maker_;
  std::unique_ptr<cluster::CertificateStore> store_;
  std::unique_ptr<control::CertificateKeeper> keeper_;  // last: its thread ends first
};

// Gives `listener` such a certificate where it was given none; its client CA stays. Null: it had
// one.
Result<std::unique_ptr<OwnCertificate>> serve_own_certificate(
    const config::Configuration& configuration, cluster::ApiClient* api,
    const OwnCertificateOptions& options, http::Listener& listener);

}  // namespace slackline::cli
