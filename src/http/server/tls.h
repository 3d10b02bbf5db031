// The TLS side of a listener: its certificate, and the certificate that replaces it.
//
// TLS 1.2 and newer, authenticated encryption (AEAD) and ephemeral keys only, no renegotiation, no
// ALPN (HTTP/1.1 only). Not thread-safe: one io thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <openssl/types.h>

#include "http/server/server.h"
#include "slackline/base/result.h"

namespace slackline::http {

class TlsContext {
 public:
  // Reads and checks the files: the key must match, the certificate must not be expired.
  static Result<TlsContext> load(const TlsOptions& options);

  // The fingerprint of the files (inode, size, time through all symlinks), to notice a replacement.
  static std::string fingerprint(const TlsOptions& options);

  SSL_CTX* get() const { return context_.get(); }
  // When the certificate expires, seconds since the epoch.
  double expires_s() const { return expires_s_; }

 private:
  TlsContext(std::shared_ptr<SSL_CTX> context, double expires_s)
      : context_(std::move(context)), expires_s_(expires_s) {}

  std::shared_ptr<SSL_CTX> context_;
  double expires_s_;
};

// The context in use, and the one that replaces it once the files change.
class LiveTls {
 public:
  static Result<LiveTls> load(const TlsOptions& options);

  enum class Change { kNone, kTaken, kRefused };
  // Checks the files. Refused: they changed and cannot be served; the old context stays in use.
  Change look();

  SSL_CTX* get() const { return context_.get(); }
  double expires_s() const { return context_.expires_s(); }
  const std::string& refusal() const { return refusal_; }  // of the last check

 private:
  LiveTls(TlsOptions options, std::string files, TlsContext context)
      : options_(std::move(options)), files_(std::move(files)), context_(std::move(context)) {}

  TlsOptions options_;
  std::string files_;  // their fingerprint
  TlsContext context_;
  std::string refusal_;
};

}  // namespace slackline::http
