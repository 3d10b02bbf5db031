// The command line's client against real servers: where it gets through, and what it says where
// not.
#include "client/client.h"

#include <atomic>
#include <cstdlib>

#include <gmock/gmock.h>

#include "client/list.h"
#include "http/routes/answers.h"
#include "support/fake_clock.h"
#include "support/http_fixture.h"
#include "support/test_pki.h"
#include "support/tunnel_proxy.h"
#include "wire/format/json_view.h"

namespace slackline::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ClientTest : public HttpServerFixture {
 protected:
  ClientTest() {
    router_.add({"GET", "/up/v1/queue", [this](const http::Request& request) {
                   tokens_ += request.authorization.empty() ? 0 : 1;
                   return text("below a path");
                 }});
  }

  std::string url(const std::string& scheme, const std::string& path = "") const {
    return format("{}://127.0.0.1:{}{}", scheme, port_, path);
  }

  // The answer, or the error's message.
  static std::string ask(const client::ClientOptions& options,
                         const std::string& path = "/v1/queue") {
    client::Client client(options);
    const auto answer = client.get(path, "*/*");
    return answer ? *answer : answer.error().message;
  }

  client::ClientOptions with_token(const std::string& ca) const {
    return {.url = url("https", "/up"),
            .ca_file = pki_.path(ca),
            .cert_file = "",
            .key_file = "",
            .token = "secret"};
  }

  void serve_tls(const std::string& common_name) {
    pki_.make_leaf("server", common_name, "A1");
    listener_.tls = http::TlsOptions{pki_.path("server.crt"), pki_.path("server.key"), ""};
    start();
  }

  TestPki pki_;
  std::atomic<int> tokens_ = 0;
};

TEST_F(ClientTest, APathOfTheAddressStandsBeforeOurs) {
  start();
  EXPECT_EQ(ask({.url = url("http", "/up/")}), "below a path");
}

TEST_F(ClientTest, WhatThePortSpeaksIsSaid) {
  start();
  EXPECT_THAT(ask({.url = url("https")}), HasSubstr("this port speaks plain HTTP; write http://"));
}

TEST_F(ClientTest, ThatThePortSpeaksTlsIsSaid) {
  serve_tls("127.0.0.1");
  EXPECT_THAT(ask({.url = url("http")}), HasSubstr("this port speaks HTTPS; write https://"));
}

TEST_F(ClientTest, WhyNobodyAnswersIsSaid) {
  start();
  server_.reset();
  EXPECT_THAT(ask({.url = url("http")}), HasSubstr("connection refused"));
  EXPECT_THAT(ask({.url = url("https")}), HasSubstr("connection refused"));
  EXPECT_THAT(ask({.url = "http://no-such-host.invalid:1"}), HasSubstr("is not known"));
}

TEST_F(ClientTest, AnotherListenerSaysWhichOneItIs) {
  router_.set_about("this is the listener of metrics and health");
  start();
  EXPECT_EQ(ask({.url = url("http")}),
            "no such path: this is the listener of metrics and health (HTTP 404)");
}

TEST_F(ClientTest, ATokenGoesToACertificateThatIsVerified) {
  serve_tls("127.0.0.1");
  EXPECT_EQ(ask(with_token("ca.crt")), "below a path");
  EXPECT_EQ(tokens_, 1);
}

TEST_F(ClientTest, NoTokenGoesToAnotherAuthoritysCertificate) {
  serve_tls("127.0.0.1");
  pki_.make_ca("other");
  EXPECT_THAT(
      ask(with_token("other.crt")),
      AllOf(HasSubstr("cannot be verified"), HasSubstr("--ca-file"), Not(HasSubstr("secret"))));
  EXPECT_THAT(ask(with_token("nothing.crt")), HasSubstr("cannot be read"));
  EXPECT_EQ(tokens_, 0);
}

TEST_F(ClientTest, NoTokenGoesToACertificateOfAnotherName) {
  serve_tls("gpu.example");
  EXPECT_THAT(ask(with_token("ca.crt")), HasSubstr("it is not for the name 127.0.0.1"));
  EXPECT_EQ(tokens_, 0);
}

TEST_F(ClientTest, AClientCertificateThatIsNoneIsNamed) {
  start();
  EXPECT_THAT(
      ask({.url = url("https"), .ca_file = "", .cert_file = "none.crt", .key_file = "none.key"}),
      HasSubstr("client certificate none.crt"));
}

// What the environment says of proxies, for one test.
class ThroughAProxy : public ClientTest {
 protected:
  ~ThroughAProxy() override { unsetenv("https_proxy"); }
  static void use(const TunnelProxy& proxy) {
    setenv("https_proxy", format("http://me:pw@127.0.0.1:{}", proxy.port()).c_str(), 1);
  }
};

TEST_F(ThroughAProxy, OnlyTheServerSeesTheToken) {
  listener_.address = "0.0.0.0:0";  // one of loopback knows no other name
  serve_tls("gpu.example");
  const TunnelProxy proxy(port_);
  use(proxy);
  client::ClientOptions options = with_token("ca.crt");
  options.url = "https://gpu.example/up";
  EXPECT_EQ(ask(options), "below a path");
  EXPECT_EQ(tokens_, 1);
  EXPECT_THAT(proxy.heads(), AllOf(HasSubstr("CONNECT gpu.example:443"), HasSubstr("Proxy-Auth"),
                                   Not(HasSubstr("secret"))));
}

TEST_F(ThroughAProxy, OneThatRefusesIsNamed) {
  const TunnelProxy proxy(0);
  use(proxy);
  EXPECT_THAT(ask({.url = "https://gpu.example"}),
              AllOf(HasSubstr(format("through the proxy 127.0.0.1:{}", proxy.port())),
                    HasSubstr("it refused"), HasSubstr("NO_PROXY"), Not(HasSubstr("pw"))));
}

// A list that is another one every time it is made.
class LongListTest : public HttpServerFixture {
 protected:
  static constexpr std::size_t kRows = 2'345;

  LongListTest() {
    router_.add({"GET", "/v1/nodes", [this](const http::Request& request) {
                   ++asked_;
                   if (between_) between_();
                   return http::list(request, pages_, [this] { return rows(); });
                 }});
  }

  std::vector<ListedNode> rows() {
    ++made_;
    std::vector<ListedNode> all(kRows);
    for (std::size_t i = 0; i < all.size(); ++i) {
      Node node;
      node.name = NodeName(format("{}-{}{}", made_, i, i == 2000 ? "-with-a-long-name" : ""));
      all[i].state = std::make_shared<const NodeState>(
          NodeState{std::make_shared<const Node>(node), {}, Resources()});
    }
    return all;
  }

  Result<std::string> list(const std::string& output, std::size_t limit = 0) {
    client::Client client({.url = format("http://127.0.0.1:{}", port_)});
    return client::get_list(client, "/v1/nodes", {output, limit});
  }

  static std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  FakeClock clock_;
  http::Pages pages_{clock_};
  std::function<void()> between_;
  int made_ = 0;
  int asked_ = 0;
};

TEST_F(LongListTest, JsonHasEveryRowOfOneMoment) {
  start();
  const auto all = list("json");
  ASSERT_TRUE(all) << all.error().message;
  wire::JsonDocument document;
  const auto root = document.parse(*all);
  ASSERT_TRUE(root);
  std::size_t row = 0;
  for (const wire::JsonView item : (*root)["items"].items())
    EXPECT_TRUE(item["name"].text().starts_with(format("1-{}", row++)));
  EXPECT_EQ(row, kRows);
  EXPECT_EQ((*root)["metadata"]["continue"].text(), "");
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(made_, 1) << "the parts are of one list";
}

TEST_F(LongListTest, CsvAndTablesHaveOneHeading) {
  start();
  const auto csv = list("csv");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(lines(*csv), kRows + 1);
  EXPECT_EQ(csv->rfind("node,"), 0U);
  const auto table = list("table");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(lines(*table), kRows + 1);
  EXPECT_THAT(*table, Not(HasSubstr("more")));
  // The longest name stands in the third part; the columns of the first leave room for it.
  EXPECT_THAT(*table, HasSubstr("\n2-0                      "));
}

TEST_F(LongListTest, ALimitIsOneOfRows) {
  start();
  const auto csv = list("csv", 1'500);
  ASSERT_TRUE(csv);
  EXPECT_EQ(lines(*csv), 1'501u);
  const auto table = list("table", 1'500);
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->ends_with("\n... 845 more\n")) << table->substr(table->size() - 100);
  const auto json = list("json", 10);
  ASSERT_TRUE(json);
  EXPECT_THAT(*json, HasSubstr(".10\",\"remainingItemCount\":2335}"));
  EXPECT_EQ(lines(list("csv", kRows).value()), kRows + 1);
}

TEST_F(LongListTest, AListThatWasGivenUpIsAskedForAnew) {
  start();
  between_ = [this] {
    if (asked_ == 3) clock_.advance(http::Pages::kLife_s + 1);
  };
  const auto csv = list("csv");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(lines(*csv), kRows + 1);
  EXPECT_EQ(made_, 2);
  EXPECT_THAT(*csv, Not(HasSubstr("\n1-")));
}

}  // namespace
}  // namespace slackline::test
