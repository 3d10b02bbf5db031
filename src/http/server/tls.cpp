#include "http/server/tls.h"

#include <ctime>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include "http/server/client_names.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

// TLS 1.3 has no others.
constexpr const char* kTls12Ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

// The newest reason in OpenSSL's queue, which is emptied.
std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

tl::unexpected<Error> tls_error(std::string_view what, const std::string& file) {
  return fail(ErrorCode::kInvalidArgument,
              format("{} {}: {}", what, printable(file), openssl_reason()));
}

Result<double> expiry_s(SSL_CTX* context, const std::string& file) {
  const X509* certificate = SSL_CTX_get0_certificate(context);
  std::tm end{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1)
    return tls_error("reading the end of validity of", file);
  const auto seconds = static_cast<double>(timegm(&end));
  if (seconds <= static_cast<double>(std::time(nullptr)))
    return fail(ErrorCode::kInvalidArgument,
                format("the certificate in {} has expired", printable(file)));
  return seconds;
}

Status require_client_certificates(SSL_CTX* context, const std::string& ca_file) {
  STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(ca_file.c_str());
  if (names == nullptr || SSL_CTX_load_verify_file(context, ca_file.c_str()) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return tls_error("reading the client CA", ca_file);
  }
  SSL_CTX_set_client_CA_list(context, names);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

}  // namespace

Result<TlsContext> TlsContext::load(const TlsOptions& options) {
  const std::shared_ptr<SSL_CTX> owner(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX* context = owner.get();
  if (context == nullptr) return tls_error("starting TLS", "");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  if (SSL_CTX_set_cipher_list(context, kTls12Ciphers) != 1) return tls_error("starting TLS", "");
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // Without it a client that resumes a session is refused where client certificates are verified.
  static constexpr unsigned char kSessionContext[] = "slackline";
  SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext - 1);
  if (SSL_CTX_use_certificate_chain_file(context, options.cert_file.c_str()) != 1)
    return tls_error("reading the certificate", options.cert_file);
  if (SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return tls_error("reading the private key (does it belong to the certificate?)",
                     options.key_file);
  if (SSL_CTX_check_private_key(context) != 1)
    return tls_error("the key does not belong to the certificate:", options.key_file);
  SLACKLINE_ASSIGN(const double expires_s, expiry_s(context, options.cert_file));
  if (!options.client_ca_file.empty()) {
    SLACKLINE_TRY(require_client_certificates(context, options.client_ca_file));
    SLACKLINE_TRY(allow_only(context, options.client_names));
  }
  return TlsContext(owner, expires_s);
}

std::string TlsContext::fingerprint(const TlsOptions& options) {
  std::string out;
  for (const std::string* file : {&options.cert_file, &options.key_file, &options.client_ca_file}) {
    struct stat info{};
    if (file->empty() || stat(file->c_str(), &info) != 0)
      out += "absent;";
    else
      out += format("{}:{}:{}:{}.{};", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                    info.st_mtim.tv_nsec);
  }
  return out;
}

Result<LiveTls> LiveTls::load(const TlsOptions& options) {
  std::string files = TlsContext::fingerprint(options);  // first, to notice a later change
  SLACKLINE_ASSIGN(TlsContext context, TlsContext::load(options));
  return LiveTls(options, std::move(files), std::move(context));
}

LiveTls::Change LiveTls::look() {
  std::string files = TlsContext::fingerprint(options_);
  if (files == files_) return Change::kNone;
  auto loaded = TlsContext::load(options_);
  files_ = std::move(files);
  if (!loaded) {
    refusal_ = loaded.error().message;
    return Change::kRefused;
  }
  context_ = std::move(*loaded);
  return Change::kTaken;
}

}  // namespace slackline::http
