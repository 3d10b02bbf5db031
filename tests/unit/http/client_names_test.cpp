#include "http/server/client_names.h"

#include <ctime>

#include <gmock/gmock.h>
#include <openssl/x509v3.h>

#include "http/crypto/openssl_x509.h"

namespace slackline::http {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const X509Extensions& extensions) {
  const double now_s = static_cast<double>(std::time(nullptr));
  const auto key = new_p256_key();
  const auto made = sign_certificate(key->get(), "system:kube-scheduler", {now_s, now_s + 60},
                                     nullptr, key->get(), extensions);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return names_of(made->get());
}

TEST(ClientNamesTest, AlternativeNamesWinOverTheCommonName) {
  EXPECT_THAT(names({}), ElementsAre("system:kube-scheduler"));
  EXPECT_THAT(names({{NID_subject_alt_name,
                      "DNS:GPU-Scheduler.example,URI:spiffe://c/ns/kube-system/sa/s,"
                      "IP:10.0.0.7,IP:fd00::1"}}),
              ElementsAre("gpu-scheduler.example", "spiffe://c/ns/kube-system/sa/s", "10.0.0.7",
                          "fd00::1"));
  EXPECT_THAT(names({{NID_subject_alt_name, "email:somebody@example"}}), ElementsAre())
      << "it has alternatives, none of them a name of ours";
}

}  // namespace
}  // namespace slackline::http
