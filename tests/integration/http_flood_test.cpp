// Floods of one address against the listeners of a daemon, and what everybody else notices: the
// filter verb stays within three times an echo that suffers the same, and /livez answers.
//
// Attackers are threads with the lowest priority. A build without optimization may take a
// millisecond more; under a sanitizer only what is answered counts, not when.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

#include <sys/resource.h>

#include "cluster/api/reviewer.h"
#include "control/journal/decision_log.h"
#include "control/query/health.h"
#include "control/serve/extender.h"
#include "http/routes/api_guard.h"
#include "http/routes/extender_routes.h"
#include "http/routes/health_routes.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/http_fixture.h"
#include "support/test_pki.h"

namespace slackline::test {
namespace {

#ifdef SLACKLINE_SANITIZED
constexpr bool kTimed = false;
#else
constexpr bool kTimed = true;
#endif
#ifdef NDEBUG
constexpr int kCalls = 1000;  // of a round: with 200 one hiccup of the machine is the 99th
constexpr double kDebug_ms = 0;
#else
constexpr int kCalls = kTimed ? 200 : 20;
constexpr double kDebug_ms = 1;  // filter's own work
#endif

constexpr const char* kAttacker = "127.0.0.5";
constexpr int kConnections = 256;  // that a listener takes
constexpr int kFlood = 400;

// Takes its time, as an API server in trouble does; it knows tokens that begin with "good".
class SlowReviewer final : public cluster::Reviewer {
 public:
  Result<std::optional<Requester>> who_is(const std::string& token) override {
    std::this_thread::sleep_for(milliseconds(300));
    if (!token.starts_with("good")) return std::optional<Requester>();
    return std::optional(Requester{.name = "jane", .uid = {}, .groups = {}, .extra = {}});
  }
  Result<bool> may(const Requester&, const ApiDemand&) override { return true; }
};

// Runs `attack` again and again on some threads until it goes out of scope.
class Attack {
 public:
  Attack(int threads, const std::function<void()>& attack) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, attack] {
        setpriority(PRIO_PROCESS, 0, 19);  // of this thread, on Linux
        while (!over_)
          attack();
      });
  }
  ~Attack() {
    over_ = true;
    for (std::thread& thread : threads_)
      thread.join();
  }
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

class HttpFlood : public testing::Test {
 protected:
  HttpFlood() {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
    setrlimit(RLIMIT_NOFILE, &files);
    options_.catalog = default_gpu_catalog();
    pki_.make_leaf("server", "slackline", "A1");
    const auto echo = [](const http::Request& request) { return text(std::string(request.body)); };
    http::add_extender_routes(extender_router_, extender_, options_.catalog, metrics_);
    extender_router_.add({"POST", "/echo", echo, std::size_t{16} << 20, http::Pool::kHot});
    api_router_.add({"GET", "/v1/nodes", echo, 0, http::Pool::kThreads});
    api_router_.add(
        {"POST", "/v1/models/{model}/samples", echo, std::size_t{2} << 20, http::Pool::kThreads});
    api_router_.set_guard(http::make_api_guard(rights_));
    webhook_router_.add({"POST", "/v1/webhook/validate", sleep_as_asked, std::size_t{8} << 20,
                         http::Pool::kThreads});
    for (http::Router* router : {&api_router_, &metrics_router_})
      http::add_health_routes(*router, health_, metrics_, [] {});
    open("extender", extender_router_);
    open("api", api_router_).limits.threads = 2;
    open("metrics", metrics_router_).limits.threads = 1;
    http::Listener& webhook = open("webhook", webhook_router_);
    webhook.tls = http::TlsOptions{pki_.path("server.crt"), pki_.path("server.key"), ""};
    webhook.limits.handshakes_per_s = 5;
  }

  void start() {
    const Status started = server_.start(listeners_);
    ASSERT_TRUE(started) << started.error().message;
    scheduler_ = std::make_unique<RawClient>(server_.port("extender"));
    ASSERT_EQ(filter(*scheduler_), 200);
  }

  http::Listener& open(const std::string& name, const http::Router& router) {
    http::Listener& listener = listeners_.emplace_back();
    listener.name = name;
    listener.address = "127.0.0.1:0";
    listener.router = &router;
    listener.limits.connections = kConnections;
    return listener;
  }

  RawClient client(const std::string& listener, const std::string& from = "127.0.0.1") const {
    return RawClient(server_.port(listener), from);
  }

  // The attacker's connections, each of which has sent `bytes`.
  std::vector<RawClient> flood(const std::string& listener, int count, const std::string& bytes) {
    std::vector<RawClient> out;
    for (int i = 0; i < count; ++i) {
      out.push_back(client(listener, kAttacker));
      out.back().send(bytes);
    }
    return out;
  }

  static int status(std::optional<RawResponse> answer) { return answer ? answer->status : 0; }
  static int filter(RawClient& client) {
    return status(client.call(post("/v1/extender/filter", kBody)));
  }
  int livez() const { return status(client("metrics").call(get("/livez"))); }
  int scrape() const { return status(client("metrics").call(get("/metrics"))); }

  double refused(const std::string& listener, const std::string& reason) const {
    const std::string exposed = metrics_.expose();
    const std::string series =
        "slackline_http_refused_total{listener=\"" + listener + "\",reason=\"" + reason + "\"} ";
    const std::size_t at = exposed.find(series);
    return at == std::string::npos ? 0 : std::stod(exposed.substr(at + series.size()));
  }

  // By how many milliseconds the 99th filter of a hundred takes more than three times as long as
  // the 99th echo, in turns with it on the connection that kube-scheduler has kept.
  double beyond_three_echoes_ms() {
    std::vector<double> filters;
    std::vector<double> echoes;
    const auto timed = [](std::vector<double>& out, const auto& call) {
      const auto before = steady_clock::now();
      EXPECT_EQ(call(), 200);
      out.push_back(
          std::chrono::duration<double, std::milli>(steady_clock::now() - before).count());
    };
    for (int i = 0; i < kCalls; ++i) {
      timed(filters, [&] { return filter(*scheduler_); });
      timed(echoes, [&] { return status(scheduler_->call(post("/echo", kBody))); });
    }
    return p99(filters) - 3 * p99(echoes);
  }

  void expect_that_others_are_served() {
    std::vector<double> beyond;
    for (int round = 0; round < 5; ++round)
      beyond.push_back(beyond_three_echoes_ms());
    std::sort(beyond.begin(), beyond.end());
    RawClient newcomer = client("extender");
    EXPECT_EQ(filter(newcomer), 200);
    EXPECT_EQ(livez(), 200);
    EXPECT_EQ(scrape(), 200);
    if (!kTimed) return;
    EXPECT_LE(beyond[beyond.size() / 2], kDebug_ms);
  }

  static void expect_less_than(milliseconds limit, steady_clock::time_point since) {
    if (!kTimed) return;
    EXPECT_LT(steady_clock::now() - since, limit);
  }

  static double p99(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() * 99 / 100];
  }

  static constexpr const char* kBody =
      R"({"Pod":{"metadata":{"name":"p","namespace":"team","uid":"u"},"spec":{"containers":[)"
      R"({"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}},"NodeNames":["n"]})";

  TestPki pki_;
  obs::MetricsRegistry metrics_;
  FakeClock clock_;
  control::DecisionOptions options_;
  Published<control::Known> known_{control::make_known({})};
  FakeSource source_{ClusterBuilder().with(a_node("n").of("A100", 8)).build()};
  FakeWriter writer_;
  control::DecisionLog log_{nullptr, metrics_};
  control::Extender extender_{options_, known_, source_, &writer_, log_, clock_};
  control::Health health_{source_, log_};
  SlowReviewer reviewer_;
  control::Rights rights_{&reviewer_, clock_};
  http::Router extender_router_;
  http::Router api_router_;
  http::Router metrics_router_;
  http::Router webhook_router_;
  std::vector<http::Listener> listeners_;
  http::Server server_{metrics_};
  std::unique_ptr<RawClient> scheduler_;
};

TEST_F(HttpFlood, AnnouncedBodiesTakeNothingFromOthers) {
  start();
  for (const auto& [listener, path] :
       {std::pair("api", "/v1/models/m/samples"), std::pair("extender", "/v1/extender/filter")}) {
    const auto heads = flood(listener, kFlood,
                             "POST " + std::string(path) +
                                 " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n");
    const auto bytes = flood(listener, kFlood / 2, "P");
    expect_that_others_are_served();
  }
  EXPECT_EQ(refused("api", "overload"), 0);
  EXPECT_EQ(refused("extender", "overload"), 0);
}

TEST_F(HttpFlood, OneByteConnectionsShutNobodyOut) {
  start();
  const auto on_metrics = flood("metrics", kFlood, "G");
  const auto on_extender = flood("extender", kFlood, "P");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(livez(), 200);
    RawClient newcomer = client("extender", "127.0.0.7");
    EXPECT_EQ(filter(newcomer), 200);
  }
  expect_that_others_are_served();
  EXPECT_GT(refused("metrics", "evicted"), 0);
}

TEST_F(HttpFlood, StalledHandshakesShutNobodyOut) {
  start();
  const auto stalled = flood("webhook", kFlood, "\x16");
  for (int i = 0; i < 5; ++i) {
    RawClient api_server = client("webhook");
    ASSERT_TRUE(api_server.start_tls({pki_.path("ca.crt"), "", "", 0, ""}));
    EXPECT_EQ(status(api_server.call(post("/v1/webhook/validate?ms=1", "{}"))), 200);
  }
  expect_that_others_are_served();
}

TEST_F(HttpFlood, HandshakesOfOneAddressArePaced) {
  for (http::Listener& listener : listeners_)
    listener.limits.handshakes_per_s = 5;  // less than any build of Slackline handles
  start();
  const Attack handshakes(2, [this] {
    RawClient one = client("webhook", kAttacker);
    one.start_tls({pki_.path("ca.crt"), "", "", 0, ""});
  });
  EXPECT_TRUE(eventually([this] { return refused("webhook", "handshake_rate") > 0; }));
  expect_that_others_are_served();
  RawClient api_server = client("webhook");
  ASSERT_TRUE(api_server.start_tls({pki_.path("ca.crt"), "", "", 0, ""}));
  EXPECT_EQ(status(api_server.call(post("/v1/webhook/validate?ms=1", "{}"))), 200);
}

TEST_F(HttpFlood, ABusyConnectionLeavesOthersTheirTurn) {
  start();
  const std::string garbage = post("/v1/extender/filter", std::string(20'000, '['));
  const Attack bodies(2, [&] {
    RawClient one = client("extender", kAttacker);
    for (int i = 0; i < 20; ++i)
      one.call(garbage);
  });
  expect_that_others_are_served();
}

TEST_F(HttpFlood, MadeUpTokensKeepOnlyTheirOwnAddressWaiting) {
  start();
  const std::string known = "GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ";
  EXPECT_EQ(status(client("api").call(known + "good.b.c\r\n\r\n")), 200);
  std::atomic<int> next = 0;
  const Attack tokens(75, [&] {
    client("api", kAttacker).call(known + "bad" + std::to_string(++next) + ".b.c\r\n\r\n");
    std::this_thread::sleep_for(milliseconds(20));
  });
  std::this_thread::sleep_for(milliseconds(100));
  const auto before = steady_clock::now();
  EXPECT_EQ(status(client("api").call(known + "good.b.c\r\n\r\n")), 200);
  expect_less_than(milliseconds(250), before);  // it is remembered
  EXPECT_EQ(status(client("api").call(known + "good-too.b.c\r\n\r\n")), 200);
  expect_less_than(seconds(2), before);  // it is asked in turn
  expect_that_others_are_served();
}

TEST_F(HttpFlood, ReviewsOfMadeUpTokensKeepNobodyWaitingWhoIsKnownBehindTheSameAddress) {
  start();
  const std::string known = "GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ";
  EXPECT_EQ(status(client("api", kAttacker).call(known + "good.b.c\r\n\r\n")), 200);
  std::vector<RawClient> strangers;
  for (int i = 0; i < 60; ++i) {
    strangers.push_back(client("api", kAttacker));
    strangers.back().send(known + "bad" + std::to_string(i) + ".b.c\r\n\r\n");
  }
  // All sixteen threads that may ask are asking, and no thread that answers.
  const auto before = steady_clock::now();
  EXPECT_EQ(status(client("api", kAttacker).call(known + "good.b.c\r\n\r\n")), 200);
  expect_less_than(milliseconds(250), before);
  for (RawClient& stranger : strangers) {
    const int said = status(stranger.receive());
    EXPECT_TRUE(said == 401 || said == 429) << said;
  }
}

TEST_F(HttpFlood, TheBodyOfAnUnknownCallerIsNotRead) {
  start();
  RawClient stranger = client("api", kAttacker);
  stranger.send(
      "POST /v1/models/m/samples HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  const auto answer = stranger.receive(seconds(5));
  ASSERT_TRUE(answer) << "before a byte of the body was sent";
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(answer->headers.at("connection"), "close");
}

TEST_F(HttpFlood, AdmissionsOfOneAddressAllPassAndBindsDoNotWaitForThem) {
  for (http::Listener& listener : listeners_) {
    listener.limits.connections = 1024;
    listener.limits.handshakes_per_s = 100;
  }
  start();
  std::vector<RawClient> admissions;
  for (int i = 0; i < 300; ++i) {
    admissions.push_back(client("webhook"));
    ASSERT_TRUE(admissions.back().start_tls({pki_.path("ca.crt"), "", "", 0, ""})) << i;
    admissions.back().send(post("/v1/webhook/validate?ms=300", "{}"));
  }
  RawClient binding = client("extender");
  const auto before = steady_clock::now();
  EXPECT_EQ(status(binding.call(
                post("/v1/extender/bind",
                     R"({"PodName":"p","PodNamespace":"team","PodUID":"u","Node":"n"})"))),
            200);
  expect_less_than(milliseconds(250), before);
  for (RawClient& one : admissions)
    EXPECT_EQ(status(one.receive()), 200);
}

}  // namespace
}  // namespace slackline::test
