// What is made is verified here by OpenSSL's own chain building, from either end.
#include "http/crypto/openssl_authority.h"

#include <ctime>

#include <gmock/gmock.h>
#include <openssl/x509v3.h>

#include "http/crypto/openssl_x509.h"

namespace slackline::http {
namespace {

using control::CertificateUse;
using ::testing::HasSubstr;

const std::vector<std::string> kExtenderNames = {"extender.ns.svc", "127.0.0.1"};

double clock_s() {
  return static_cast<double>(std::time(nullptr));
}

Authority made_authority(const Authority* before = nullptr, double life_s = 7200) {
  const auto authority =
      OpenSslAuthority().make_authority({clock_s() - 60, clock_s() + life_s}, before);
  EXPECT_TRUE(authority) << (authority ? "" : authority.error().message);
  return authority.value_or(Authority());
}

CertifiedKey leaf(const Authority& authority, CertificateUse use = CertificateUse::kServer) {
  const auto made = OpenSslAuthority().make_leaf(authority, use, kExtenderNames,
                                                 {clock_s() - 60, clock_s() + 3600});
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made.value_or(CertifiedKey());
}

std::string problem(const Authority& authority, const CertifiedKey& leaf,
                    CertificateUse use = CertificateUse::kServer,
                    const std::vector<std::string>& names = kExtenderNames) {
  const auto validity = OpenSslAuthority().inspect_leaf(authority, leaf, use, names);
  return validity ? "none" : validity.error().message;
}

// Whether somebody who trusts these authorities accepts the chain that a peer sends.
bool trusts(const std::string& trusted, const CertifiedKey& shown, int purpose) {
  const auto split = [](const std::string& bundle) {
    std::vector<X509Certificate> out;
    std::size_t at = 0;
    while ((at = bundle.find("-----BEGIN", at)) != std::string::npos)
      out.push_back(read_certificate(bundle.substr(at++)));
    return out;
  };
  X509_STORE* store = X509_STORE_new();
  for (const X509Certificate& each : split(trusted))
    X509_STORE_add_cert(store, each.get());
  const std::vector<X509Certificate> chain = split(shown.chain);
  STACK_OF(X509)* sent = sk_X509_new_null();
  for (const X509Certificate& each : chain)
    sk_X509_push(sent, each.get());
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, store, chain.front().get(), sent);
  X509_STORE_CTX_set_purpose(context, purpose);
  const bool verified = X509_verify_cert(context) == 1;
  X509_STORE_CTX_free(context);
  sk_X509_free(sent);
  X509_STORE_free(store);
  return verified;
}

TEST(OpenSslAuthorityTest, BothEndsTrustWhatItSigns) {
  const Authority authority = made_authority();
  const CertifiedKey server = leaf(authority);
  const CertifiedKey client = leaf(authority, CertificateUse::kClient);
  EXPECT_EQ(problem(authority, server), "none");
  EXPECT_EQ(problem(authority, client, CertificateUse::kClient), "none");
  EXPECT_TRUE(trusts(authority.certificates, server, X509_PURPOSE_SSL_SERVER));
  EXPECT_TRUE(trusts(authority.certificates, client, X509_PURPOSE_SSL_CLIENT));
  EXPECT_FALSE(trusts(authority.certificates, server, X509_PURPOSE_SSL_CLIENT))
      << "who has the server's key may not call it";
  EXPECT_FALSE(trusts(made_authority().certificates, client, X509_PURPOSE_SSL_CLIENT))
      << "another's";
}

TEST(OpenSslAuthorityTest, WhoKnowsOnlyTheOldAuthorityTrustsTheNewOne) {
  const Authority old = made_authority();
  const Authority next = made_authority(&old);
  const CertifiedKey server = leaf(next);
  EXPECT_TRUE(trusts(old.certificates, server, X509_PURPOSE_SSL_SERVER));
  EXPECT_TRUE(trusts(next.certificates, server, X509_PURPOSE_SSL_SERVER));
  EXPECT_TRUE(trusts(next.certificates, leaf(old), X509_PURPOSE_SSL_SERVER)) << "and the reverse";
  const Authority after = made_authority(&next);
  EXPECT_FALSE(trusts(old.certificates, leaf(after), X509_PURPOSE_SSL_SERVER)) << "two back";
}

TEST(OpenSslAuthorityTest, TheOldAuthorityVouchesNoLongerThanItLives) {
  const Authority old = made_authority(nullptr, 600);
  const Authority next = made_authority(&old);
  const auto validity = OpenSslAuthority().inspect(next);
  ASSERT_TRUE(validity);
  EXPECT_NEAR(validity->newest.until_s, clock_s() + 7200, 5);
  EXPECT_NEAR(validity->before_until_s, clock_s() + 600, 5);
  const X509Certificate cross = read_certificate(next.cross);
  ASSERT_NE(cross, nullptr);
  EXPECT_NEAR(validity_of(cross.get())->until_s, clock_s() + 600, 5);
  EXPECT_EQ(OpenSslAuthority().inspect(old)->before_until_s, 0);
}

TEST(OpenSslAuthorityTest, DamageIsNoticed) {
  const Authority one = made_authority();
  const Authority other = made_authority();
  const CertifiedKey server = leaf(one);
  EXPECT_FALSE(OpenSslAuthority().inspect({one.certificates, other.key, ""}));
  EXPECT_FALSE(OpenSslAuthority().inspect({one.certificates, "", ""}))
      << "made_authority by version 0.1";
  EXPECT_THAT(problem(other, server), HasSubstr("authority"));
  EXPECT_THAT(problem(one, {server.chain, leaf(one).key}), HasSubstr("key belongs"));
  EXPECT_THAT(problem(one, {"", server.key}), HasSubstr("cannot be read"));
  EXPECT_THAT(problem(one, server, CertificateUse::kClient), HasSubstr("not for clientAuth"));
  EXPECT_THAT(problem(one, server, CertificateUse::kServer, {"else.ns.svc"}),
              HasSubstr("does not name else.ns.svc"));
}

}  // namespace
}  // namespace slackline::http
