#include "client/proxy.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline::client {
namespace {

using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

// "proxy:3128", "none", or the error.
std::string proxy_of(const std::string& url, Variables variables) {
  const auto proxy =
      proxy_for(*parse_address(url), [&](const char* name) { return variables[name]; });
  if (!proxy) return proxy.error().message;
  return *proxy ? (*proxy)->host + ":" + std::to_string((*proxy)->port) : "none";
}

TEST(Proxy, EachSchemeHasItsOwn) {
  const Variables both = {{"http_proxy", "http://plain:1"}, {"HTTPS_PROXY", "secure:2"}};
  EXPECT_EQ(proxy_of("http://gpu.example", both), "plain:1");
  EXPECT_EQ(proxy_of("https://gpu.example", both), "secure:2");
  EXPECT_EQ(proxy_of("https://gpu.example", {{"http_proxy", "http://plain:1"}}), "none");
}

TEST(Proxy, ThisMachineIsReachedWithoutOne) {
  const Variables all = {{"http_proxy", "http://p:1"}};
  for (const char* here : {"http://127.0.0.1:8180", "http://localhost:1", "http://[::1]:1"})
    EXPECT_EQ(proxy_of(here, all), "none") << here;
}

TEST(Proxy, NoProxyNamesWhatIsReachedDirectly) {
  const auto with = [](const std::string& url, const std::string& list) {
    return proxy_of(url, {{"http_proxy", "http://p:1"}, {"NO_PROXY", list}});
  };
  for (const char* list : {"*", "gpu.example", ".example", "example", "*.example",
                           "a, GPU.example ", "gpu.example:80"})
    EXPECT_EQ(with("http://gpu.example", list), "none") << list;
  for (const char* list : {"", "u.example", "gpu.example:81", ".gpu.example", "10.0.0.0/8", ","})
    EXPECT_EQ(with("http://gpu.example", list), "p:1") << list;
  for (const char* list : {"10.0.0.0/8", "10.1.2.3", "10.1.2.2/31", "10.1.2.3:80"})
    EXPECT_EQ(with("http://10.1.2.3", list), "none") << list;
  for (const char* list : {"10.1.2.4/31", "10.0.0.0/33", "10.0.0.0/x", "fd00::/8", "2.3"})
    EXPECT_EQ(with("http://10.1.2.3", list), "p:1") << list;
  EXPECT_EQ(with("http://[fd00::7]", "fd00::/8"), "none");
  EXPECT_EQ(with("http://[fd00::7]", "fd00:0::7"), "none");
}

TEST(Proxy, AUserIsTakenAndAnotherKindIsRefused) {
  const auto proxy = proxy_for(*parse_address("http://h"), [](const char* name) {
    return std::string(name) == "http_proxy" ? "http://me:se@cret@p:3128/" : "";
  });
  ASSERT_TRUE(proxy && *proxy);
  EXPECT_EQ((*proxy)->host, "p");
  EXPECT_EQ((*proxy)->user, "me");
  EXPECT_EQ((*proxy)->password, "se@cret");
  for (const char* other : {"socks5://p:1", "https://p:1"}) {
    const std::string said = proxy_of("http://h", {{"http_proxy", other}});
    EXPECT_THAT(said, HasSubstr("not http://HOST:PORT")) << other;
  }
}

}  // namespace
}  // namespace slackline::client
