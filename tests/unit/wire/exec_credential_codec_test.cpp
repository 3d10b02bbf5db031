#include "wire/kube/exec_credential_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kBeta = "client.authentication.k8s.io/v1beta1";

std::string credential(std::string_view status, std::string_view version = kV1) {
  return format(R"({{"kind":"ExecCredential","apiVersion":"{}","spec":{{}},"status":{}}})", version,
                status);
}

TEST(ExecCredential, IsATokenOrACertificateWithAnEnd) {
  const auto token = decode_exec_credential(
      credential(R"({"token":"abc","expirationTimestamp":"2026-11-21T12:00:00Z"})"), kV1);
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->token, "abc");
  EXPECT_EQ(token->expires_s, 1795262400.0);
  const auto pair = decode_exec_credential(
      credential(R"({"clientCertificateData":"C\n","clientKeyData":"K\n"})", kBeta), kBeta);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(pair->certificate, "C\n");
  EXPECT_EQ(pair->key, "K\n");
  EXPECT_EQ(pair->expires_s, 0);
}

TEST(ExecCredential, WhatIsNoneIsRefusedWithoutRepeatingIt) {
  struct Case {
    std::string json;
    std::string says;
  };
  const Case cases[] = {
      {"", "not JSON"},
      {"secret", "not JSON"},
      {R"({"kind":"Pod"})", "kind"},
      {credential(R"({"token":"secret"})", kBeta), "apiVersion"},
      {credential("null"), "status"},
      {credential("{}"), "neither"},
      {credential(R"({"token":""})"), "neither"},
      {credential(R"({"token":"secret\r\nX-Remote-User: admin"})"), "characters"},
      {credential(R"({"token":"secret","expirationTimestamp":"soon"})"), "RFC 3339"},
      {credential(R"({"clientCertificateData":"secret"})"), "without the other"},
  };
  for (const Case& one : cases) {
    const auto read = decode_exec_credential(one.json, kV1);
    ASSERT_FALSE(read) << one.json;
    EXPECT_THAT(read.error().message, HasSubstr(one.says));
    EXPECT_EQ(read.error().message.find("secret"), std::string::npos);
  }
}

TEST(ExecInfo, TellsTheClusterWhereItIsToBeTold) {
  EXPECT_EQ(encode_exec_info(kBeta, false, nullptr),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
            R"("spec":{"interactive":false}})");
  const ExecCluster cluster{"https://lab:6443", "CA", true, R"({"audience":"x"})"};
  EXPECT_EQ(
      encode_exec_info(kV1, true, &cluster),
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
      R"("spec":{"cluster":{"server":"https://lab:6443","insecure-skip-tls-verify":true,)"
      R"("certificate-authority-data":"Q0E=","config":{"audience":"x"}},"interactive":true}})");
}

}  // namespace
}  // namespace slackline::wire
