#include "http/crypto/openssl_certificates.h"

#include <ctime>

#include <gmock/gmock.h>

namespace slackline::http {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kWebhookNames = {"webhook.ns.svc", "127.0.0.1", "::1"};

double now_s() {
  return static_cast<double>(std::time(nullptr));
}

CertificateSet made() {
  auto set = OpenSslCertificates().make(kWebhookNames, {now_s() - 60, now_s() + 3600});
  EXPECT_TRUE(set) << (set ? "" : set.error().message);
  return set.value_or(CertificateSet());
}

std::string problem(const CertificateSet& set,
                    const std::vector<std::string>& names = kWebhookNames) {
  const auto validity = OpenSslCertificates().inspect(set, names);
  return validity ? "none" : validity.error().message;
}

TEST(OpenSslCertificatesTest, WhatIsMadeIsFoundInOrder) {
  const double from_s = now_s() - 60;
  const auto set = OpenSslCertificates().make(kWebhookNames, {from_s, from_s + 7200});
  ASSERT_TRUE(set);
  const auto validity = OpenSslCertificates().inspect(*set, kWebhookNames);
  ASSERT_TRUE(validity) << validity.error().message;
  EXPECT_EQ(validity->from_s, from_s);
  EXPECT_EQ(validity->until_s, from_s + 7200);
}

TEST(OpenSslCertificatesTest, DamageIsNoticed) {
  const CertificateSet one = made();
  const CertificateSet other = made();
  EXPECT_THAT(problem({one.authorities, one.certificate, other.key}), HasSubstr("key belongs"));
  EXPECT_THAT(problem({other.authorities, one.certificate, one.key}), HasSubstr("authority"));
  EXPECT_THAT(problem({one.authorities, "", one.key}), HasSubstr("cannot be read"));
  EXPECT_THAT(problem(one, {"elsewhere.ns.svc"}), HasSubstr("does not name elsewhere.ns.svc"));
  EXPECT_THAT(problem(one, {"127.0.0.2"}), HasSubstr("does not name 127.0.0.2"));
}

TEST(OpenSslCertificatesTest, AfterARotationTheNewAuthorityComesFirst) {
  const CertificateSet old = made();
  CertificateSet fresh = made();
  fresh.authorities += old.authorities;
  EXPECT_EQ(problem(fresh), "none");
}

}  // namespace
}  // namespace slackline::http
