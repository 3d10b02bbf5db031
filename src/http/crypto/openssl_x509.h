// Making and reading X.509 certificates with OpenSSL: keys, signatures, PEM. Private to this layer.
//
// Stateless, hence thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "message/certificate.h"
#include "slackline/base/result.h"

namespace slackline::http {

using X509Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using X509Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using X509Extensions = std::vector<std::pair<int, std::string>>;  // by NID

// OpenSSL's newest reason; its queue is emptied.
tl::unexpected<Error> openssl_failure(std::string_view what);

Result<X509Key> new_p256_key();

// Signed by `issuer`, or by itself if that is null.
Result<X509Certificate> sign_certificate(EVP_PKEY* key, const std::string& common_name,
                                         const Validity& validity, X509* issuer,
                                         EVP_PKEY* issuer_key, const X509Extensions& extensions);

Result<std::string> pem_of(X509* certificate);
Result<std::string> pem_of(EVP_PKEY* key);
// The first one of the text; null if none can be read.
X509Certificate read_certificate(const std::string& pem);
X509Key read_key(const std::string& pem);

// "DNS:webhook.ns.svc,IP:127.0.0.1"
std::string alternative_names(const std::vector<std::string>& names);
// Names all of them, or the error that says which one is missing.
Status check_names(X509* certificate, const std::vector<std::string>& names);
Result<Validity> validity_of(X509* certificate);

}  // namespace slackline::http
