// CertificateMaker: the seam to cryptography; http/crypto/openssl_certificates.h implements it.
#pragma once

#include <string>
#include <vector>

#include "message/certificate.h"
#include "slackline/base/result.h"

namespace slackline::control {

class CertificateMaker {
 public:
  virtual ~CertificateMaker() = default;
  // A new authority, and a server certificate of it for these DNS names and IP addresses.
  virtual Result<CertificateSet> make(const std::vector<std::string>& names,
                                      const Validity& validity) const = 0;
  // How long the certificate is valid. An error: unreadable, the key is another's, not signed by
  // the first authority, or it does not name all of `names`.
  virtual Result<Validity> inspect(const CertificateSet& set,
                                   const std::vector<std::string>& names) const = 0;
};

}  // namespace slackline::control
