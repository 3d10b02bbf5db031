#include "http/crypto/openssl_certificates.h"

#include <openssl/x509v3.h>

#include "http/crypto/openssl_x509.h"
#include "slackline/base/text.h"

namespace slackline::http {

Result<CertificateSet> OpenSslCertificates::make(const std::vector<std::string>& names,
                                                 const Validity& validity) const {
  SLACKLINE_ASSIGN(const X509Key authority_key, new_p256_key());
  SLACKLINE_ASSIGN(const X509Key key, new_p256_key());
  SLACKLINE_ASSIGN(
      const X509Certificate authority,
      sign_certificate(authority_key.get(), "slackline-ca", validity, nullptr, authority_key.get(),
                       {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                        {NID_key_usage, "critical,keyCertSign,cRLSign"},
                        {NID_subject_key_identifier, "hash"}}));
  SLACKLINE_ASSIGN(
      const X509Certificate certificate,
      sign_certificate(key.get(), "slackline", validity, authority.get(), authority_key.get(),
                       {{NID_basic_constraints, "critical,CA:FALSE"},
                        {NID_key_usage, "critical,digitalSignature"},
                        {NID_ext_key_usage, "serverAuth"},
                        {NID_authority_key_identifier, "keyid:always"},
                        {NID_subject_alt_name, alternative_names(names)}}));
  CertificateSet set;
  SLACKLINE_ASSIGN(set.authorities, pem_of(authority.get()));
  SLACKLINE_ASSIGN(set.certificate, pem_of(certificate.get()));
  SLACKLINE_ASSIGN(set.key, pem_of(key.get()));
  return set;
}

Result<Validity> OpenSslCertificates::inspect(const CertificateSet& set,
                                              const std::vector<std::string>& wanted) const {
  const X509Certificate certificate = read_certificate(set.certificate);
  const X509Certificate authority = read_certificate(set.authorities);
  const X509Key key = read_key(set.key);
  const auto broken = [](std::string why) {
    return fail(ErrorCode::kInvalidArgument, std::move(why));
  };
  if (certificate == nullptr || authority == nullptr || key == nullptr)
    return broken("certificate, authority or key cannot be read");
  if (X509_check_private_key(certificate.get(), key.get()) != 1)
    return broken("the key belongs to another certificate");
  if (X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) != 1)
    return broken("the certificate is not of the newest authority");
  SLACKLINE_TRY(check_names(certificate.get(), wanted));
  return validity_of(certificate.get());
}

}  // namespace slackline::http
