#include "http/crypto/openssl_authority.h"

#include <algorithm>
#include <cstdint>

#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "http/crypto/openssl_x509.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

using control::CertificateUse;

constexpr std::string_view kEnd = "-----END CERTIFICATE-----\n";

tl::unexpected<Error> broken(std::string why) {
  return fail(ErrorCode::kInvalidArgument, std::move(why));
}

// A bundle of one or two certificates, apart.
std::string first_of(const std::string& bundle) {
  const std::size_t end = bundle.find(kEnd);
  return end == std::string::npos ? bundle : bundle.substr(0, end + kEnd.size());
}

std::string second_of(const std::string& bundle) {
  return first_of(bundle.substr(first_of(bundle).size()));
}

Result<std::string> new_name() {
  std::uint64_t random = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&random), sizeof random) != 1)
    return openssl_failure("making a name");
  return format("slackline-ca-{:016x}", random);
}

struct Signer {
  X509Certificate certificate;
  X509Key key;
};

Result<Signer> read_signer(const Authority& authority) {
  Signer signer{read_certificate(authority.certificates), read_key(authority.key)};
  if (signer.certificate == nullptr || signer.key == nullptr)
    return broken("the authority or its key cannot be read");
  if (X509_check_private_key(signer.certificate.get(), signer.key.get()) != 1)
    return broken("the key belongs to another authority");
  return signer;
}

// One more authority may stand between a certificate and this one: its successor.
X509Extensions root_extensions() {
  return {{NID_basic_constraints, "critical,CA:TRUE,pathlen:1"},
          {NID_key_usage, "critical,keyCertSign,cRLSign"},
          {NID_subject_key_identifier, "hash"}};
}

X509Extensions cross_extensions() {
  return {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
          {NID_key_usage, "critical,keyCertSign,cRLSign"},
          {NID_subject_key_identifier, "hash"},
          {NID_authority_key_identifier, "keyid:always"}};
}

std::string usage_of(CertificateUse use) {
  return use == CertificateUse::kServer ? "serverAuth" : "clientAuth";
}

}  // namespace

Result<Authority> OpenSslAuthority::make_authority(const Validity& validity,
                                                   const Authority* before) const {
  SLACKLINE_ASSIGN(const X509Key key, new_p256_key());
  SLACKLINE_ASSIGN(const std::string name, new_name());
  SLACKLINE_ASSIGN(const X509Certificate root, sign_certificate(key.get(), name, validity, nullptr,
                                                                key.get(), root_extensions()));
  Authority made;
  SLACKLINE_ASSIGN(made.certificates, pem_of(root.get()));
  SLACKLINE_ASSIGN(made.key, pem_of(key.get()));
  if (before == nullptr) return made;
  SLACKLINE_ASSIGN(const Signer old, read_signer(*before));
  SLACKLINE_ASSIGN(const Validity old_validity, validity_of(old.certificate.get()));
  const Validity both{std::max(validity.from_s, old_validity.from_s),
                      std::min(validity.until_s, old_validity.until_s)};
  SLACKLINE_ASSIGN(const X509Certificate cross,
                   sign_certificate(key.get(), name, both, old.certificate.get(), old.key.get(),
                                    cross_extensions()));
  SLACKLINE_ASSIGN(made.cross, pem_of(cross.get()));
  made.certificates += first_of(before->certificates);
  return made;
}

Result<CertifiedKey> OpenSslAuthority::make_leaf(const Authority& authority, CertificateUse use,
                                                 const std::vector<std::string>& names,
                                                 const Validity& validity) const {
  SLACKLINE_ASSIGN(const Signer signer, read_signer(authority));
  SLACKLINE_ASSIGN(const X509Key key, new_p256_key());
  SLACKLINE_ASSIGN(
      const X509Certificate certificate,
      sign_certificate(key.get(), use == CertificateUse::kServer ? "slackline" : names.front(),
                       validity, signer.certificate.get(), signer.key.get(),
                       {{NID_basic_constraints, "critical,CA:FALSE"},
                        {NID_key_usage, "critical,digitalSignature"},
                        {NID_ext_key_usage, usage_of(use)},
                        {NID_authority_key_identifier, "keyid:always"},
                        {NID_subject_alt_name, alternative_names(names)}}));
  CertifiedKey made;
  SLACKLINE_ASSIGN(made.chain, pem_of(certificate.get()));
  SLACKLINE_ASSIGN(made.key, pem_of(key.get()));
  made.chain += authority.cross;
  return made;
}

Result<control::AuthorityValidity> OpenSslAuthority::inspect(const Authority& authority) const {
  SLACKLINE_ASSIGN(const Signer signer, read_signer(authority));
  control::AuthorityValidity validity;
  SLACKLINE_ASSIGN(validity.newest, validity_of(signer.certificate.get()));
  const X509Certificate before = read_certificate(second_of(authority.certificates));
  if (before == nullptr) return validity;
  SLACKLINE_ASSIGN(const Validity old, validity_of(before.get()));
  validity.before_until_s = old.until_s;
  return validity;
}

Result<Validity> OpenSslAuthority::inspect_leaf(const Authority& authority,
                                                const CertifiedKey& leaf, CertificateUse use,
                                                const std::vector<std::string>& names) const {
  SLACKLINE_ASSIGN(const Signer signer, read_signer(authority));
  const X509Certificate certificate = read_certificate(leaf.chain);
  const X509Key key = read_key(leaf.key);
  if (certificate == nullptr || key == nullptr)
    return broken("the certificate or its key cannot be read");
  if (X509_check_private_key(certificate.get(), key.get()) != 1)
    return broken("the key belongs to another certificate");
  if (X509_verify(certificate.get(), X509_get0_pubkey(signer.certificate.get())) != 1)
    return broken("the certificate is not of the newest authority");
  const std::uint32_t wanted = use == CertificateUse::kServer ? XKU_SSL_SERVER : XKU_SSL_CLIENT;
  if ((X509_get_extended_key_usage(certificate.get()) & wanted) == 0)
    return broken(format("the certificate is not for {}", usage_of(use)));
  SLACKLINE_TRY(check_names(certificate.get(), names));
  return validity_of(certificate.get());
}

}  // namespace slackline::http
