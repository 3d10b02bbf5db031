#include "wire/kube/certificate_codec.h"

#include <gmock/gmock.h>

namespace slackline::wire {
namespace {

TEST(CertificateCodecTest, ASecretIsReadAsItWasWritten) {
  const CertificateSecretDto written{"42", "authorities", "certificate", "key"};
  const auto read = decode_certificate_secret(encode_certificate_patch(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->resource_version, "42");
  EXPECT_EQ(read->authorities, "authorities");
  EXPECT_EQ(read->certificate, "certificate");
  EXPECT_EQ(read->key, "key");
}

TEST(CertificateCodecTest, ASecretOfSomebodyElseReadsAsEmpty) {
  const auto read = decode_certificate_secret(
      R"({"metadata":{"resourceVersion":"1"},"data":{"tls.crt":"***","other":"eA=="}})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->certificate + read->key + read->authorities, "");
  EXPECT_FALSE(decode_certificate_secret(R"({"kind":"Status"})"));
}

TEST(CertificateCodecTest, OnlyWebhooksWithAnotherBundleArePatched) {
  const std::string configuration =
      R"({"webhooks":[{"name":"a","clientConfig":{"caBundle":"cGVt"}},{"name":"b","clientConfig":{}}]})";
  EXPECT_EQ(encode_ca_bundle_patch(configuration, "pem"),
            R"([{"op":"test","path":"/webhooks/1/name","value":"b"},)"
            R"({"op":"add","path":"/webhooks/1/clientConfig/caBundle","value":"cGVt"}])");
  EXPECT_EQ(encode_ca_bundle_patch(R"({"webhooks":[]})", "pem"), "");
  EXPECT_FALSE(encode_ca_bundle_patch("{", "pem"));
}

TEST(CertificateCodecTest, AConfigMapIsPatchedOnlyWhereItSaysSomethingElse) {
  const std::string patch = R"({"data":{"ca.crt":"pem\n"}})";
  EXPECT_EQ(encode_trust_patch(R"({"metadata":{"name":"m"}})", "pem\n"), patch);
  EXPECT_EQ(encode_trust_patch(R"({"data":{"ca.crt":"old"}})", "pem\n"), patch);
  EXPECT_EQ(encode_trust_patch(patch, "pem\n"), "");
  EXPECT_FALSE(encode_trust_patch("{", "pem"));
}

}  // namespace
}  // namespace slackline::wire
