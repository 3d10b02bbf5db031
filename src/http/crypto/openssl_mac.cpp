#include "http/crypto/openssl_mac.h"

#include <array>
#include <cstdlib>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "slackline/base/base64.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

// Each field is preceded by its length: ("ab", "c") and ("a", "bc") are different messages.
std::string framed(std::initializer_list<std::string_view> fields) {
  std::string message;
  for (const std::string_view field : fields) {
    message += format("{}:", field.size());
    message += field;
  }
  return message;
}

std::string code_of(const std::string& key, const std::string& message) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  // It fails only where SHA-256 is missing from the library.
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, message.size(),
           digest.data(), &size) == nullptr)
    std::abort();
  return encode_base64({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace

void OpenSslMac::use(std::vector<std::string> keys) {
  auto fresh = std::make_shared<const std::vector<std::string>>(std::move(keys));
  MutexLock lock(mutex_);
  keys_ = std::move(fresh);
}

Result<std::string> OpenSslMac::make_key() {
  std::string key(kKeyBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), static_cast<int>(key.size())) != 1)
    return fail(ErrorCode::kUnavailable, "the system gives no random bytes");
  return key;
}

OpenSslMac::Keys OpenSslMac::keys() const {
  MutexLock lock(mutex_);
  return keys_;
}

bool OpenSslMac::ready() const {
  return !keys()->empty();
}

std::string OpenSslMac::sign(std::initializer_list<std::string_view> fields) const {
  const Keys keys = this->keys();
  return keys->empty() ? std::string() : code_of(keys->front(), framed(fields));
}

bool OpenSslMac::verify(std::initializer_list<std::string_view> fields,
                        std::string_view code) const {
  const Keys keys = this->keys();
  const std::string message = framed(fields);
  bool right = false;
  for (const std::string& key : *keys) {
    const std::string expected = code_of(key, message);
    right |= expected.size() == code.size() &&
             CRYPTO_memcmp(expected.data(), code.data(), code.size()) == 0;
  }
  return right;
}

std::string OpenSslMac::nonce() const {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) std::abort();
  std::string text;
  for (const unsigned char byte : bytes)
    text += format("{:02x}", byte);
  return text;
}

}  // namespace slackline::http
