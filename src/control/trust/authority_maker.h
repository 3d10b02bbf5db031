// AuthorityMaker: the seam to cryptography for an authority of our own;
// http/crypto/openssl_authority.h implements it.
#pragma once

#include <string>
#include <vector>

#include "message/certificate.h"
#include "slackline/base/result.h"

namespace slackline::control {

enum class CertificateUse { kServer, kClient };

struct AuthorityValidity {
  Validity newest;
  double before_until_s = 0;  // of the authority before it; 0: there is none
};

class AuthorityMaker {
 public:
  virtual ~AuthorityMaker() = default;
  // A new authority. With one before it (null: none) that one stays trusted and vouches for the new
  // one until it expires itself: who knows only the old one accepts certificates of the new one.
  virtual Result<Authority> make_authority(const Validity& validity,
                                           const Authority* before) const = 0;
  // A certificate of the newest authority, for these DNS names and IP addresses.
  virtual Result<CertifiedKey> make_leaf(const Authority& authority, CertificateUse use,
                                         const std::vector<std::string>& names,
                                         const Validity& validity) const = 0;
  // An error: unreadable, or the key is another's.
  virtual Result<AuthorityValidity> inspect(const Authority& authority) const = 0;
  // An error: unreadable, the key is another's, it is not of the newest authority or not for this
  // use, or it does not name all of `names`.
  virtual Result<Validity> inspect_leaf(const Authority& authority, const CertifiedKey& leaf,
                                        CertificateUse use,
                                        const std::vector<std::string>& names) const = 0;
};

}  // namespace slackline::control
