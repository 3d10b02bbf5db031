// CertificateMaker with OpenSSL: ECDSA P-256 keys, an authority for each pair, whose key is then
// forgotten. Stateless, hence thread-safe.
#pragma once

#include "control/trust/certificate_maker.h"

namespace slackline::http {

class OpenSslCertificates final : public control::CertificateMaker {
 public:
  Result<CertificateSet> make(const std::vector<std::string>& names,
                              const Validity& validity) const override;
  Result<Validity> inspect(const CertificateSet& set,
                           const std::vector<std::string>& names) const override;
};

}  // namespace slackline::http
