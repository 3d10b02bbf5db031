// The ConfigMap by which the API server's front proxy is known.
#include "wire/aggregation/front_proxy_codec.h"

#include <gmock/gmock.h>

namespace slackline::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string config_map(const std::string& names, const std::string& people = "PEOPLE") {
  return R"({"data":{"client-ca-file":")" + people +
         R"(","requestheader-client-ca-file":"PROXY\n","requestheader-allowed-names":")" + names +
         R"("}})";
}

TEST(FrontProxyCodec, ReadsWhomTheApiServerNames) {
  const auto proxy = decode_front_proxy(config_map(R"([\"front-proxy-client\"])"));
  ASSERT_TRUE(proxy) << proxy.error().message;
  EXPECT_EQ(proxy->client_ca, "PROXY\n");
  EXPECT_THAT(proxy->allowed_names, ElementsAre("front-proxy-client"));
  const auto any = decode_front_proxy(config_map("[]"));
  ASSERT_TRUE(any) << any.error().message;
  EXPECT_THAT(any->allowed_names, IsEmpty());
}

TEST(FrontProxyCodec, RefusesAnAuthorityOfPeopleForAnyName) {
  const auto open = decode_front_proxy(config_map("[]", R"(PEOPLE\nPROXY\n)"));
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().message, HasSubstr("--requestheader-allowed-names"));
  EXPECT_TRUE(decode_front_proxy(config_map(R"([\"proxy\"])", R"(PROXY\n)")));
}

TEST(FrontProxyCodec, SaysWhatAClusterLacks) {
  for (const char* text : {"{}", R"({"data":{}})", R"({"data":{"client-ca-file":"PEOPLE"}})"}) {
    const auto none = decode_front_proxy(text);
    ASSERT_FALSE(none) << text;
    EXPECT_THAT(none.error().message, HasSubstr("--requestheader-client-ca-file")) << text;
  }
  EXPECT_FALSE(decode_front_proxy(config_map("[")));
}

TEST(FrontProxyCodec, AnApiServiceIsPatchedOnce) {
  const auto patch = encode_api_service_patch(R"({"spec":{"group":"g"}})", "PEM");
  ASSERT_TRUE(patch);
  EXPECT_EQ(*patch, R"({"spec":{"caBundle":"UEVN"}})");
  EXPECT_EQ(encode_api_service_patch(*patch, "PEM"), "");
}

}  // namespace
}  // namespace slackline::wire
