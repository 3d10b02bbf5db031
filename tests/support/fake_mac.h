// A MessageAuthenticator without cryptography: codes that differ where the key or a field does.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "slackline/base/text.h"
#include "slackline/model/mac.h"

namespace slackline::test {

class FakeMac final : public MessageAuthenticator {
 public:
  explicit FakeMac(std::string key = "k") : key_(std::move(key)) {}
  void use(std::string key) { key_ = std::move(key); }  // empty: not ready

  bool ready() const override { return !key_.empty(); }
  std::string sign(std::initializer_list<std::string_view> fields) const override {
    if (!ready()) return {};
    std::string framed = key_;
    for (const std::string_view field : fields)
      framed += format("|{}:{}", field.size(), field);
    return format("{:0>43x}=", fingerprint(framed));
  }
  bool verify(std::initializer_list<std::string_view> fields,
              std::string_view code) const override {
    return ready() && sign(fields) == code;
  }
  std::string nonce() const override { return "nonce"; }

 private:
  std::string key_;
};

}  // namespace slackline::test
