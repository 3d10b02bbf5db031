#include "http/crypto/openssl_mac.h"

#include <gtest/gtest.h>

namespace slackline::http {
namespace {

TEST(OpenSslMac, AgreesWithTheStandard) {
  // Python: base64.b64encode(hmac.digest(b"Jefe", b"28:what do ya want for nothing?", "sha256"))
  OpenSslMac mac;
  mac.use({"Jefe"});
  EXPECT_EQ(mac.sign({"what do ya want for nothing?"}),
            "+af1ucQRjA85elCzpJX0VcZmb3X5XbDSCzL358mV7nc=");
}

TEST(OpenSslMac, TellsFieldsApart) {
  OpenSslMac mac;
  mac.use({std::string(OpenSslMac::kKeyBytes, 'k')});
  const std::string code = mac.sign({"team", "job", "plan"});
  EXPECT_TRUE(mac.verify({"team", "job", "plan"}, code));
  EXPECT_FALSE(mac.verify({"team", "jobp", "lan"}, code));
  EXPECT_FALSE(mac.verify({"team", "job", "plan", ""}, code));
  EXPECT_FALSE(mac.verify({"team", "job", "Plan"}, code));
  EXPECT_FALSE(mac.verify({"team", "job", "plan"}, ""));
  EXPECT_FALSE(mac.verify({"team", "job", "plan"}, code.substr(1)));
}

TEST(OpenSslMac, ARotatedKeyVerifiesUntilItIsGone) {
  const auto old_key = OpenSslMac::make_key();
  const auto new_key = OpenSslMac::make_key();
  ASSERT_TRUE(old_key && new_key);
  EXPECT_NE(*old_key, *new_key);
  OpenSslMac mac;
  mac.use({*old_key});
  const std::string before = mac.sign({"plan"});
  mac.use({*new_key, *old_key});
  EXPECT_TRUE(mac.verify({"plan"}, before));
  EXPECT_NE(mac.sign({"plan"}), before);
  mac.use({*new_key});
  EXPECT_FALSE(mac.verify({"plan"}, before));
}

TEST(OpenSslMac, WithoutAKeyNothingIsBelieved) {
  const OpenSslMac mac;
  EXPECT_FALSE(mac.ready());
  EXPECT_EQ(mac.sign({"plan"}), "");
  EXPECT_FALSE(mac.verify({"plan"}, ""));
}

TEST(OpenSslMac, NoncesDiffer) {
  const OpenSslMac mac;
  EXPECT_EQ(mac.nonce().size(), 32u);
  EXPECT_NE(mac.nonce(), mac.nonce());
}

}  // namespace
}  // namespace slackline::http
