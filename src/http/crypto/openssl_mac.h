// MessageAuthenticator with OpenSSL: HMAC-SHA-256 under keys that may be replaced at any time.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slackline/base/mutex.h"
#include "slackline/base/result.h"
#include "slackline/model/mac.h"

namespace slackline::http {

class OpenSslMac final : public MessageAuthenticator {
 public:
  static constexpr std::size_t kKeyBytes = 32;

  // The newest first: it signs, all of them verify. Empty: not ready.
  void use(std::vector<std::string> keys);
  static Result<std::string> make_key();  // kKeyBytes random bytes

  bool ready() const override;
  std::string sign(std::initializer_list<std::string_view> fields) const override;
  bool verify(std::initializer_list<std::string_view> fields, std::string_view code) const override;
  std::string nonce() const override;

 private:
  using Keys = std::shared_ptr<const std::vector<std::string>>;
  Keys keys() const;

  mutable Mutex mutex_;
  Keys keys_ SLACKLINE_GUARDED_BY(mutex_) = std::make_shared<const std::vector<std::string>>();
};

}  // namespace slackline::http
