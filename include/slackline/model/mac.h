// MessageAuthenticator: proof that a value in an annotation was written by Slackline
// (docs/decisions/0015-plans-prove-whose-they-are.md). The seam to cryptography;
// http/crypto/openssl_mac.h implements it.
//
// A code is over a list of fields: lists that differ in any byte or in where one field ends have
// different codes. Thread-safe.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace slackline {

// A key that all replicas have, and since when.
struct SharedKey {
  double made_s = 0;  // epoch seconds, by the clock of the replica that made it
  std::string bytes;

  friend bool operator==(const SharedKey&, const SharedKey&) = default;
};

class MessageAuthenticator {
 public:
  virtual ~MessageAuthenticator() = default;

  // False until a key is known: nothing can be signed, nothing is believed.
  virtual bool ready() const = 0;
  // HMAC-SHA-256 under the newest key, as base64 of 44 characters; empty while not ready.
  virtual std::string sign(std::initializer_list<std::string_view> fields) const = 0;
  // Under any key in force. Takes the same time for right and wrong codes.
  virtual bool verify(std::initializer_list<std::string_view> fields,
                      std::string_view code) const = 0;
  // 128 random bits as 32 hexadecimal characters, to tell two equal values apart.
  virtual std::string nonce() const = 0;
};

}  // namespace slackline
