// AuthorityMaker with OpenSSL: ECDSA P-256 keys. Stateless, hence thread-safe.
//
// Every authority has a name of its own, so that they cannot be confused. A new one is signed
// twice: by itself, and by its predecessor (a cross certificate), which is part of every chain.
#pragma once

#include "control/trust/authority_maker.h"

namespace slackline::http {

class OpenSslAuthority final : public control::AuthorityMaker {
 public:
  Result<Authority> make_authority(const Validity& validity,
                                   const Authority* before) const override;
  Result<CertifiedKey> make_leaf(const Authority& authority, control::CertificateUse use,
                                 const std::vector<std::string>& names,
                                 const Validity& validity) const override;
  Result<control::AuthorityValidity> inspect(const Authority& authority) const override;
  Result<Validity> inspect_leaf(const Authority& authority, const CertifiedKey& leaf,
                                control::CertificateUse use,
                                const std::vector<std::string>& names) const override;
};

}  // namespace slackline::http
