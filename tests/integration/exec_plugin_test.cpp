// Credential plug-ins of a kubeconfig: real programs, that answer, fail, hang and say too much.
#include "cluster/api/exec_plugin.h"

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/api/api_client.h"
#include "cluster/api/kubeconfig.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "support/eventually.h"
#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/read_text.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

using test::eventually;
using test::FakeConnection;
using test::FakeRequest;
using test::patient;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPath = "/version";
constexpr const char* kWho = "the kubeconfig's credential plug-in";

class ExecPluginTest : public testing::Test {
 protected:
  ExecPluginTest() {
    EXPECT_NE(std::freopen("/dev/null", "r", stdin), nullptr);  // nobody is at the terminal
  }

  // A program: it counts its runs, then does this. $N is the number of the run.
  std::string program(const std::string& body) {
    const std::string path = folder_.file("plugin");
    std::ofstream(path) << "#!/bin/sh\ncd '" << folder_.path()
                        << "'\necho x >>runs\nN=$(wc -l <runs)\n"
                        << body << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // A line that prints a credential.
  static std::string print(const std::string& status) {
    return R"(printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
           R"("status":{)" +
           status + R"(}}' )";
  }

  ExecSpec spec(const std::string& body) {
    ExecSpec spec;
    spec.command = program(body);
    spec.api_version = "client.authentication.k8s.io/v1";
    return spec;
  }

  std::size_t runs() const {
    const std::string text = test::read_text(folder_.file("runs"));
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  // A server whose kubeconfig names the program.
  KubeEndpoint endpoint(const std::string& more = "") {
    const std::string path = folder_.file("kubeconfig");
    std::ofstream(path) << format(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n"
        "clusters:\n- name: k\n  cluster:\n    server: {}\n    extensions:\n"
        "    - {{name: client.authentication.k8s.io/exec, extension: {{audience: lab, n: [1, "
        "true]}}}}\n"
        "users:\n- name: u\n  user:\n    exec:\n      command: ./plugin\n"
        "      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: IfAvailable\n{}",
        server_.url(), more);
    auto found = find_endpoint({.kubeconfig = path});
    EXPECT_TRUE(found) << found.error().message;
    return *std::move(found);
  }

  // What the API server was shown by the last request.
  std::string shown() const { return server_.seen().back().headers.at("authorization"); }

  static std::string ask(ApiClient& client, double timeout_s = 10) {
    net::HttpRequest request;
    request.url = kPath;
    request.timeout_s = timeout_s;
    const auto answer = client.send(request);
    return answer ? answer->body : answer.error().message;
  }

  void answer_all() {
    server_.always(std::string("GET ") + kPath,
                   [](const FakeRequest&, FakeConnection& reply) { reply.reply(200, "ok"); });
  }

  test::TemporaryFolder folder_;
  test::FakeApiServer server_;
};

TEST_F(ExecPluginTest, ItsTokenIsShownAndSharedByAllClients) {
  answer_all();
  program(print(R"("token":"t-%s")") + "$N");
  const KubeEndpoint first = endpoint();
  ApiClient one(first, system_clock());
  ApiClient other(endpoint(), system_clock());
  EXPECT_EQ(ask(one), "ok");
  EXPECT_EQ(shown(), "Bearer t-1");
  EXPECT_EQ(ask(other), "ok");
  EXPECT_EQ(ask(one), "ok");
  EXPECT_EQ(shown(), "Bearer t-1");
  EXPECT_EQ(runs(), 1u);
}

TEST_F(ExecPluginTest, ItIsToldWhatTheKubeconfigSays) {
  answer_all();
  program("printf '%s|%s|%s' \"$1\" \"$REGION\" \"$KUBERNETES_EXEC_INFO\" >told\n" +
          print(R"("token":"t")"));
  ApiClient client(endpoint("      args: [get-token]\n      env: [{name: REGION, value: north}]\n"
                            "      provideClusterInfo: true\n"),
                   system_clock());
  EXPECT_EQ(ask(client), "ok");
  EXPECT_EQ(test::read_text(folder_.file("told")),
            format(R"(get-token|north|{{"kind":"ExecCredential","apiVersion":)"
                   R"("client.authentication.k8s.io/v1","spec":{{"cluster":{{"server":"{}",)"
                   R"("config":{{"audience":"lab","n":[1,true]}}}},"interactive":false}}}})",
                   server_.url()));
}

TEST_F(ExecPluginTest, ItRunsAgainWhenItsTokenIsRefused) {
  server_.always(std::string("GET ") + kPath, [](const FakeRequest& asked, FakeConnection& reply) {
    if (asked.headers.at("authorization") == "Bearer t-1")
      return reply.reply_status(401, "Unauthorized", "expired");
    reply.reply(200, "ok");
  });
  program(print(R"("token":"t-%s")") + "$N");
  ApiClient client(endpoint(), system_clock());
  EXPECT_EQ(ask(client), "ok");
  EXPECT_EQ(shown(), "Bearer t-2");
  EXPECT_EQ(ask(client), "ok");
  EXPECT_EQ(runs(), 2u);
}

TEST_F(ExecPluginTest, ARefusalAmongManyWaitersIsNoErrorWithoutWords) {
  ExecPlugin plugin(spec(print(R"("token":"t-%s")") + "$N"), system_clock());
  std::vector<std::thread> askers;
  std::atomic<int> odd = 0;
  for (int i = 0; i < 8; ++i)
    askers.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const auto answer = plugin.current(20);
        if (answer ? answer->token.empty() : answer.error().message.empty()) ++odd;
        if (answer) plugin.refuse(answer->serial);
      }
    });
  for (std::thread& asker : askers)
    asker.join();
  EXPECT_EQ(odd, 0);
}

TEST_F(ExecPluginTest, ATokenThatTheServerNeverTakesIsAnError) {
  server_.always(std::string("GET ") + kPath, [](const FakeRequest&, FakeConnection& reply) {
    reply.reply_status(401, "Unauthorized", "who are you");
  });
  program(print(R"("token":"t-%s")") + "$N");
  ApiClient client(endpoint(), system_clock());
  EXPECT_THAT(ask(client), HasSubstr("HTTP 401: who are you"));
  EXPECT_EQ(runs(), 2u);
}

TEST_F(ExecPluginTest, WhatIsRefusedAgainAndAgainLetsItRest) {
  test::FakeClock clock;
  ExecPlugin plugin(spec(print(R"("token":"t-%s")") + "$N"), clock);
  const auto refused = [&] {
    const auto answer = plugin.current(10);
    if (answer) plugin.refuse(answer->serial);
    return answer ? answer->token : answer.error().message;
  };
  EXPECT_EQ(refused(), "t-1");
  EXPECT_EQ(refused(), "t-2");
  EXPECT_THAT(refused(), HasSubstr("it is run again in 2 s"));
  clock.advance(2);
  EXPECT_EQ(refused(), "t-3");
  clock.advance(3);
  EXPECT_THAT(refused(), HasSubstr("it is run again in 1 s"));
  clock.advance(1);
  EXPECT_EQ(plugin.current(10)->token, "t-4");
  clock.advance(100);
  EXPECT_EQ(refused(), "t-4");
  EXPECT_EQ(refused(), "t-5") << "t-4 was good for a while";
  EXPECT_EQ(runs(), 5u);
}

TEST_F(ExecPluginTest, ItRunsAgainWhenItsTokenExpires) {
  test::FakeClock clock;
  const std::string end = format_rfc3339(clock.wall_s() + 600);
  const std::string later = format_rfc3339(clock.wall_s() + 1200);
  ExecPlugin plugin(spec("[ $N = 1 ] && E=" + end + " || E=" + later + "\n" +
                         print(R"("token":"t-%s","expirationTimestamp":"%s")") + "$N $E"),
                    clock);
  EXPECT_EQ(plugin.current(10)->token, "t-1");
  clock.advance(500);
  EXPECT_EQ(plugin.current(10)->token, "t-1");
  EXPECT_EQ(runs(), 1u);
  // Shortly before, another one is asked for, and nobody waits for it.
  clock.advance(60);
  EXPECT_EQ(plugin.current(0)->token, "t-1");
  EXPECT_TRUE(eventually([&] { return plugin.current(0)->token == "t-2"; }));
  clock.advance(700);
  const auto expired = plugin.current(10);
  ASSERT_FALSE(expired);
  EXPECT_THAT(expired.error().message, HasSubstr("has expired already"));
}

TEST_F(ExecPluginTest, WhatGoesWrongIsSaid) {
  const auto said = [this](const std::string& body, double time_s = 10) {
    ExecSpec one = spec(body);
    one.time_s = time_s;
    one.install_hint = "apt install it";
    ExecPlugin plugin(one, system_clock());
    const auto answer = plugin.current(20);
    return answer ? "a token" : answer.error().message;
  };
  EXPECT_THAT(said("exit 3"), AllOf(HasSubstr(kWho), HasSubstr("exit code 3")));
  EXPECT_THAT(said("kill -9 $$"), HasSubstr("signal 9"));
  EXPECT_THAT(said("echo no-json"), HasSubstr("not JSON"));
  EXPECT_THAT(said("head -c 2000000 /dev/zero"), HasSubstr("more than 1048576 bytes"));
  EXPECT_THAT(said("sleep 60", 0.3), HasSubstr("longer than 0.3 s"));
  EXPECT_THAT(said("exec >&-; sleep 60", 0.3), HasSubstr("longer than 0.3 s"));
  EXPECT_THAT(said(print(R"("token":"secret\u0001")")),
              AllOf(HasSubstr("no token has"), Not(HasSubstr("secret"))));
  ExecSpec missing;
  missing.command = "slackline-no-such-plugin";
  missing.install_hint = "apt install it";
  ExecPlugin plugin(missing, system_clock());
  EXPECT_THAT(plugin.current(10).error().message,
              AllOf(HasSubstr("cannot be started: No such file"), HasSubstr("apt install it")));
}

TEST_F(ExecPluginTest, WhatItStartedEndsWithIt) {
  ExecSpec one = spec("sleep 300 & echo $! >child\nwait");
  one.time_s = 0.3;
  ExecPlugin plugin(one, system_clock());
  EXPECT_FALSE(plugin.current(10));
  const std::string child = std::string(trim(test::read_text(folder_.file("child"))));
  ASSERT_FALSE(child.empty());
  const auto running = [&] {
    std::ifstream stat("/proc/" + child + "/stat");
    std::string pid, name, state;
    return bool(stat >> pid >> name >> state) && state != "Z";
  };
  EXPECT_TRUE(eventually([&] { return !running(); }));
}

TEST_F(ExecPluginTest, NobodyWaitsLongerThanHeHasTime) {
  answer_all();
  program("sleep 60");
  const double began_s = system_clock().steady_s();
  {
    ApiClient client(endpoint(), system_clock());
    EXPECT_THAT(ask(client, 0.3), HasSubstr("has not answered yet"));
    EXPECT_THAT(ask(client, 0.3), HasSubstr("has not answered yet"));
    EXPECT_EQ(runs(), 1u) << "it goes on";
  }
  EXPECT_LT(system_clock().steady_s() - began_s, patient(10))
      << "the end of the last client ends it";
  EXPECT_EQ(server_.count(std::string("GET ") + kPath), 0u);
}

TEST_F(ExecPluginTest, ACommandGivesItTheTimeOfTheProgramAndThenTheRequestItsOwn) {
  answer_all();
  program("sleep 1\n" + print(R"("token":"t")"));
  ApiClient client(endpoint(), system_clock());
  const Status awaited = client.await_credential();
  ASSERT_TRUE(awaited) << awaited.error().message;
  EXPECT_EQ(ask(client, 0.5), "ok");
  ExecSpec slow = spec("sleep 60");
  slow.time_s = 0.3;
  EXPECT_THAT(ExecPlugin(slow, system_clock()).await().error().message,
              HasSubstr("longer than 0.3 s"));
}

TEST_F(ExecPluginTest, WhoeverEndsWaitsForItNoLonger) {
  ExecPlugin plugin(spec("sleep 300"), system_clock());
  const double began_s = system_clock().steady_s();
  std::atomic<int> told = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i)
    askers.emplace_back([&] { told += plugin.current(200) ? 0 : 1; });
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder_.file("runs")); }));
  plugin.hurry();
  for (std::thread& asker : askers)
    asker.join();
  EXPECT_EQ(told, 3);
  EXPECT_THAT(plugin.current(200).error().message, HasSubstr("has not answered yet"));
  EXPECT_LT(system_clock().steady_s() - began_s, patient(20));
}

TEST_F(ExecPluginTest, WhatIsUsableIsShownToTheEnd) {
  ExecPlugin plugin(spec(print(R"("token":"t")")), system_clock());
  EXPECT_TRUE(plugin.current(20));
  plugin.hurry();
  EXPECT_EQ(plugin.current(0)->token, "t");
}

TEST_F(ExecPluginTest, AFailureIsToldToAllForAMoment) {
  test::FakeClock clock;
  ExecPlugin plugin(spec("[ $N = 1 ] && exit 1\n" + print(R"("token":"t")")), clock);
  EXPECT_FALSE(plugin.current(10));
  EXPECT_FALSE(plugin.current(10));
  EXPECT_EQ(runs(), 1u);
  clock.advance(3);
  EXPECT_EQ(plugin.current(10)->token, "t");
}

TEST_F(ExecPluginTest, OneThatNeedsATerminalSaysSo) {
  ExecSpec one = spec("exit 0");
  one.input = ExecInput::kAlways;
  ExecPlugin plugin(one, system_clock());
  EXPECT_THAT(plugin.current(10).error().message, HasSubstr("it needs a terminal"));
}

}  // namespace
}  // namespace slackline::cluster
