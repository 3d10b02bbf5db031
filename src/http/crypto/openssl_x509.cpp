#include "http/crypto/openssl_x509.h"

#include <cstdint>
#include <ctime>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "slackline/base/text.h"

namespace slackline::http {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

bool is_address(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

Bio text_bio(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

bool set_random_serial(X509* certificate) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1U | 1U) == 1;
}

bool set_name(X509_NAME* name, const std::string& common_name) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.c_str()), -1,
                                    -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool names(X509* certificate, const std::string& name) {
  if (is_address(name)) return X509_check_ip_asc(certificate, name.c_str(), 0) == 1;
  return X509_check_host(certificate, name.data(), name.size(), 0, nullptr) == 1;
}

Result<double> epoch_s(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return openssl_failure("reading a validity");
  return static_cast<double>(timegm(&parts));
}

}  // namespace

tl::unexpected<Error> openssl_failure(std::string_view what) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return fail(ErrorCode::kInternal,
              format("{}: {}", what, reason == nullptr ? "unknown reason" : reason));
}

Result<X509Key> new_p256_key() {
  X509Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  if (key == nullptr) return openssl_failure("making a key");
  return key;
}

Result<X509Certificate> sign_certificate(EVP_PKEY* key, const std::string& common_name,
                                         const Validity& validity, X509* issuer,
                                         EVP_PKEY* issuer_key, const X509Extensions& extensions) {
  X509Certificate certificate(X509_new(), X509_free);
  X509* raw = certificate.get();
  if (issuer == nullptr) issuer = raw;
  const bool filled =
      raw != nullptr && X509_set_version(raw, X509_VERSION_3) == 1 && set_random_serial(raw) &&
      ASN1_TIME_set(X509_getm_notBefore(raw), static_cast<time_t>(validity.from_s)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(raw), static_cast<time_t>(validity.until_s)) != nullptr &&
      X509_set_pubkey(raw, key) == 1 && set_name(X509_get_subject_name(raw), common_name) &&
      X509_set_issuer_name(raw, X509_get_subject_name(issuer)) == 1;
  if (!filled) return openssl_failure("filling in a certificate");
  for (const auto& [nid, value] : extensions)
    if (!add_extension(raw, issuer, nid, value))
      return openssl_failure("adding \"" + value + "\" to a certificate");
  if (X509_sign(raw, issuer_key, EVP_sha256()) == 0) return openssl_failure("signing");
  return certificate;
}

Result<std::string> pem_of(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  if (PEM_write_bio_X509(bio.get(), certificate) != 1) return openssl_failure("writing PEM");
  return text_of(bio.get());
}

Result<std::string> pem_of(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  if (PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return openssl_failure("writing PEM");
  return text_of(bio.get());
}

X509Certificate read_certificate(const std::string& pem) {
  X509Certificate certificate(PEM_read_bio_X509(text_bio(pem).get(), nullptr, nullptr, nullptr),
                              X509_free);
  ERR_clear_error();
  return certificate;
}

X509Key read_key(const std::string& pem) {
  X509Key key(PEM_read_bio_PrivateKey(text_bio(pem).get(), nullptr, nullptr, nullptr),
              EVP_PKEY_free);
  ERR_clear_error();
  return key;
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names)
    parts.push_back((is_address(name) ? "IP:" : "DNS:") + name);
  return join(parts, ",");
}

Status check_names(X509* certificate, const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted)
    if (!names(certificate, name))
      return fail(ErrorCode::kInvalidArgument,
                  format("the certificate does not name {}", printable(name, 64)));
  return {};
}

Result<Validity> validity_of(X509* certificate) {
  SLACKLINE_ASSIGN(const double from_s, epoch_s(X509_get0_notBefore(certificate)));
  SLACKLINE_ASSIGN(const double until_s, epoch_s(X509_get0_notAfter(certificate)));
  return Validity{from_s, until_s};
}

}  // namespace slackline::http
