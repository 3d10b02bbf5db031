#include "http/server/client_names.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "slackline/base/text.h"

namespace slackline::http {
namespace {

using Names = std::vector<std::string>;

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

std::string name_of(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS:
      return to_lower(text_of(name.d.dNSName));
    case GEN_URI:
      return text_of(name.d.uniformResourceIdentifier);
    case GEN_IPADD:
      return address_of(name.d.iPAddress);
    default:
      return {};
  }
}

std::string common_name_of(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  return text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

void free_names(void*, void* names, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<Names*>(names);
}

int names_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_names);
  return index;
}

// OpenSSL asks for every certificate of the chain, the client's own at depth 0.
int verify(int verified, X509_STORE_CTX* store) try {
  if (verified != 1 || X509_STORE_CTX_get_error_depth(store) != 0) return verified;
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* allowed =
      static_cast<const Names*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), names_index()));
  const Names names = names_of(X509_STORE_CTX_get_current_cert(store));
  const bool known =
      allowed != nullptr && std::find_first_of(names.begin(), names.end(), allowed->begin(),
                                               allowed->end()) != names.end();
  if (known) return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
  return 0;
} catch (const std::bad_alloc&) {  // OpenSSL is C: nothing is thrown through it
  X509_STORE_CTX_set_error(store, X509_V_ERR_OUT_OF_MEM);
  return 0;
}

}  // namespace

std::vector<std::string> names_of(const X509* certificate) {
  Names names;
  bool any = false;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> alternatives(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; alternatives != nullptr && i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
    any = true;
    std::string name = name_of(*sk_GENERAL_NAME_value(alternatives.get(), i));
    if (!name.empty()) names.push_back(std::move(name));
  }
  if (any) return names;
  std::string common_name = common_name_of(certificate);
  if (!common_name.empty()) names.push_back(std::move(common_name));
  return names;
}

Status allow_only(SSL_CTX* context, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  auto owned = std::make_unique<Names>(names);
  if (SSL_CTX_set_ex_data(context, names_index(), owned.get()) != 1)
    return fail(ErrorCode::kInternal, "TLS: no memory for the names of clients");
  owned.release();  // NOLINT(bugprone-unused-return-value): the context's now
  SSL_CTX_set_verify(context, SSL_CTX_get_verify_mode(context), verify);
  return {};
}

}  // namespace slackline::http
