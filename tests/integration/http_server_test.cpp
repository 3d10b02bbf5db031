// How the server behaves with clients that behave.
#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <numeric>

#include "support/http_fixture.h"

namespace slackline::test {
namespace {

class HttpServer : public HttpServerFixture {};

// Where handlers wait until the test lets them pass.
class Gate {
 public:
  void pass() {
    ++waiting_;
    opened_.wait();
  }
  void open() { door_.set_value(); }
  int waiting() const { return waiting_; }

 private:
  std::promise<void> door_;
  std::shared_future<void> opened_ = door_.get_future().share();
  std::atomic<int> waiting_ = 0;
};

TEST_F(HttpServer, AnswersWithLengthAndKeepsTheConnection) {
  start();
  RawClient one = client();
  const auto first = one.call(post("/echo", "hello"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->body, "hello");
  EXPECT_EQ(first->headers.at("content-length"), "5");
  EXPECT_EQ(first->headers.count("connection"), 0U);
  EXPECT_EQ(one.call(get("/healthz"))->body, "ok");
}

TEST_F(HttpServer, SpeaksAbsoluteTargetsAndForgivesAnEmptyLine) {  // RFC 9112, 3.2.2 and 2.2
  start();
  RawClient one = client();
  EXPECT_EQ(one.call("GET http://localhost:80/healthz HTTP/1.1\r\nHost: x\r\n\r\n")->body, "ok");
  EXPECT_EQ(one.call("\r\n" + post("/echo", "hello"))->body, "hello");
  one.send("\r");
  one.send("\n");
  EXPECT_EQ(one.call(get("/healthz"))->body, "ok");
}

TEST_F(HttpServer, HeadHasTheLengthAndNoBody) {
  start();
  RawClient one = client();
  one.send("HEAD /big HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto head = one.receive(seconds(5), true);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->headers.at("content-length"), "5200000");
  EXPECT_EQ(one.call(get("/healthz"))->body, "ok") << "nothing of the body may follow";
}

TEST_F(HttpServer, RoutingErrorsKeepTheConnectionAndAnExceptionIsA500) {
  start();
  RawClient one = client();
  EXPECT_EQ(one.call(get("/nope"))->status, 404);
  EXPECT_EQ(one.call(get("/echo"))->status, 405);
  EXPECT_EQ(one.call(get("/../etc"))->status, 400);
  EXPECT_EQ(one.call(get("/throws"))->status, 500);
  EXPECT_EQ(one.call(get("/healthz"))->status, 200);
}

TEST_F(HttpServer, AnswersPipelinedRequestsInOrder) {
  start();
  RawClient one = client();
  std::string all;
  for (int i = 0; i < 200; ++i)
    all += i % 50 == 7 ? get("/slow?ms=1") : post("/echo", std::to_string(i));
  one.send(all);
  for (int i = 0; i < 200; ++i) {
    const auto response = one.receive();
    ASSERT_TRUE(response) << i;
    EXPECT_EQ(response->body, i % 50 == 7 ? "awake" : std::to_string(i));
  }
}

TEST_F(HttpServer, ReadsBodiesOfEverySizeInAnyPieces) {
  start();
  RawClient one = client();
  for (const std::size_t size :
       {0UL, 1UL, 16'000UL, 16'384UL, 70'000UL, 1'048'576UL, 5'000'001UL}) {
    std::string body(size, 'b');
    if (size > 0) body.back() = 'e';
    const auto response = one.call(post("/echo", body));
    ASSERT_TRUE(response) << size;
    EXPECT_EQ(response->body, body) << size;
  }
  const std::string request = post("/echo", "in small pieces");
  for (const char c : request)
    one.send(std::string_view(&c, 1));
  EXPECT_EQ(one.receive()->body, "in small pieces");
}

TEST_F(HttpServer, SendsContinueToAClientThatWaitsForIt) {
  start();
  RawClient one = client();
  one.send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: "
      "100-continue\r\n\r\n");
  ASSERT_EQ(one.receive(seconds(2), true)->status, 100);
  EXPECT_EQ(one.call("body")->body, "body");
}

TEST_F(HttpServer, OldClientsAndPoliteOnesAreClosedAfterTheAnswer) {
  start();
  for (const char* bytes :
       {"GET /healthz HTTP/1.0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"}) {
    RawClient one = client();
    const auto response = one.call(bytes);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->headers.at("connection"), "close");
    EXPECT_TRUE(one.closed_within(milliseconds(300)));
  }
}

TEST_F(HttpServer, OneConnectionServesTenThousandRequests) {  // F12
  start();
  RawClient one = client();
  const std::string request = post("/echo", std::string(500, 'n'));
  for (int i = 0; i < 10'000; ++i) {
    const auto response = one.call(request);
    ASSERT_TRUE(response && response->status == 200) << i;
  }
  EXPECT_EQ(metric("slackline_http_requests_total{code_class=\"2xx\",listener=\"test\"}"), 10'000);
}

TEST_F(HttpServer, AnIdleConnectionIsServedAgainUntilItsTimeIsUp) {  // F12
  EXPECT_GT(http::Limits{}.idle_time, seconds(90)) << "Go keeps an idle connection for 90 s";
  listener_.limits.head_time = milliseconds(200);
  listener_.limits.idle_time = milliseconds(1'200);
  start();
  RawClient one = client();
  RawClient silent = client();
  ASSERT_TRUE(one.call(get("/healthz")));
  std::this_thread::sleep_for(milliseconds(700));
  EXPECT_TRUE(one.call(get("/healthz"))) << "idle for longer than a head may take";
  EXPECT_TRUE(one.closed_within(milliseconds(2'500)));
  EXPECT_TRUE(silent.closed_within(milliseconds(100)));
}

// A body that takes long to read is read elsewhere.
TEST_F(HttpServer, ALongBodyOfAHotRouteDoesNotHoldUpShortOnes) {
  http::Route route;
  route.method = "POST";
  route.pattern = "/judge";
  route.max_body = 4096;
  route.pool = http::Pool::kHot;
  route.hot_body = 1024;
  Gate gate;
  route.handler = [&gate](const http::Request& request) {
    if (request.body.size() > 1024) gate.pass();
    return text(std::to_string(request.body.size()));
  };
  router_.add(std::move(route));
  start();
  RawClient slow = client();
  slow.send(post("/judge", std::string(2000, 'x')));
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  EXPECT_EQ(status_of(post("/judge", std::string(1024, 'x'))), 200) << "while the other waits";
  gate.open();
  EXPECT_EQ(slow.receive()->body, "2000");
}

TEST_F(HttpServer, ASlowBindDoesNotHoldUpAFilter) {
  Gate gate;
  const auto wait = [&gate](const http::Request&) {
    gate.pass();
    return text("bound");
  };
  router_.add({"POST", "/wait", wait, 1024, http::Pool::kThreads});
  start();
  std::vector<RawClient> binding;
  for (int i = 0; i < 40; ++i) {
    binding.push_back(client());
    binding.back().send(post("/wait", ""));
  }
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 40; })) << "a thread for each bind";
  EXPECT_EQ(status_of(get("/healthz")), 200) << "while all of them wait";
  gate.open();
  for (RawClient& client : binding)
    EXPECT_EQ(client.receive()->body, "bound");
}

TEST_F(HttpServer, AFullQueueIsA503AndTheConnectionLives) {
  listener_.limits.threads = 1;
  listener_.limits.queue = 3;
  start();
  std::vector<RawClient> asking;
  for (int i = 0; i < 5; ++i) {
    asking.push_back(client());
    asking.back().send(get("/slow?ms=300"));
  }
  int served = 0;
  int refused_now = 0;
  for (RawClient& one : asking) {
    const auto response = one.receive();
    ASSERT_TRUE(response);
    (response->status == 200 ? served : refused_now) += 1;
    EXPECT_EQ(one.call(get("/healthz"))->status, 200);
  }
  EXPECT_EQ(served, 3) << "the last quarter is for other peers";
  EXPECT_EQ(refused_now, 2);
  EXPECT_EQ(refused("overload"), 2);
}

TEST_F(HttpServer, StopAnswersWhatIsInFlightAndRefusesTheRest) {  // F35
  start();
  std::vector<RawClient> busy;
  std::vector<RawClient> idle;
  for (int i = 0; i < 20; ++i) {
    busy.push_back(client());
    idle.push_back(client());
    ASSERT_TRUE(idle.back().call(get("/healthz")));
    busy.back().send(post("/bind?ms=1500", ""));
  }
  std::this_thread::sleep_for(milliseconds(100));
  const auto before = steady_clock::now();
  server_->stop(milliseconds(600), seconds(10));
  RawClient late = client();
  const auto served = late.call(get("/healthz"));
  ASSERT_TRUE(served) << "in the grace";
  EXPECT_EQ(served->headers.at("connection"), "close");
  for (RawClient& one : idle)
    EXPECT_TRUE(one.closed_within(milliseconds(1'000)));
  EXPECT_FALSE(client().connected()) << "the listener is closed";
  for (RawClient& one : busy) {
    const auto response = one.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->headers.at("connection"), "close");
    one.close();
  }
  server_->join();
  EXPECT_LT(steady_clock::now() - before, patient(seconds(4))) << "ends with the last answer";
  EXPECT_EQ(connections(), 0);
}

// Requests without an answer, of a client that calls again and again until nobody listens.
int calls_without_answer(std::uint16_t port) {
  int lost = 0;
  for (;;) {
    RawClient one(port);
    if (!one.connected()) return lost;
    for (bool open = true; open;) {
      const auto answer = one.call(post("/echo", "x"));
      if (!answer) ++lost;
      open = answer && !answer->headers.contains("connection");
    }
  }
}

TEST_F(HttpServer, StopAnswersEverybodyWhoGotThrough) {  // F35
  for (int round = 0; round < 3; ++round) {
    start();
    std::vector<int> lost(8);
    std::vector<std::thread> clients;
    for (int& mine : lost)
      clients.emplace_back([this, &mine] { mine = calls_without_answer(port_); });
    std::this_thread::sleep_for(milliseconds(100));
    server_->stop(milliseconds(300), seconds(10));
    server_->join();
    for (std::thread& one : clients)
      one.join();
    EXPECT_EQ(std::accumulate(lost.begin(), lost.end(), 0), 0);
  }
}

TEST_F(HttpServer, StopCutsWhatTakesTooLong) {
  start();
  RawClient stuck = client();
  RawClient deaf = client();
  stuck.send(post("/bind?ms=1500", ""));
  deaf.send(get("/big"));
  std::this_thread::sleep_for(milliseconds(100));
  const auto before = steady_clock::now();
  server_->stop(milliseconds(0), milliseconds(300));
  EXPECT_TRUE(stuck.closed_within(milliseconds(1'000)));
  server_->join();
  EXPECT_LT(steady_clock::now() - before, patient(milliseconds(2'500)))
      << "only the handler was waited for";
}

// A stream of "tick" until `ticks_` are sent; 0: for ever.
class HttpStreams : public HttpServerFixture {
 protected:
  HttpStreams() {
    router_.add({.method = "GET", .pattern = "/ticks", .handler = [this](const http::Request&) {
                   http::Response response = text("begin\n");
                   response.follow = [this, sent = 0]() mutable -> std::optional<std::string> {
                     if (ticks_ > 0 && sent == ticks_) return std::nullopt;
                     ++sent;
                     return "tick\n";
                   };
                   return response;
                 }});
  }

  static std::string read(RawClient& one, const std::string& enough = "never") {
    return one.read_until(enough, seconds(10));
  }

  std::atomic<int> ticks_ = 0;
};

TEST_F(HttpStreams, AStreamHasNoLengthAndEndsWithTheConnection) {
  ticks_ = 2;
  start();
  RawClient one = client();
  one.send(get("/ticks"));
  const std::string all = read(one);
  EXPECT_NE(all.find("Connection: close"), std::string::npos) << all;
  EXPECT_EQ(all.find("Content-Length"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\nbegin\ntick\ntick\n")) << all;
}

TEST_F(HttpStreams, OthersAreAnsweredMeanwhileAndAClientThatLeavesIsForgotten) {
  start();
  {
    RawClient one = client();
    one.send(get("/ticks"));
    EXPECT_NE(read(one, "tick"), "");
    RawClient other = client();
    EXPECT_EQ(other.call(get("/healthz"))->body, "ok");
    EXPECT_EQ(connections(), 2);
  }
  EXPECT_TRUE(eventually([&] { return connections() == 0; }));
}

TEST_F(HttpStreams, OneTooManyIsToldToPoll) {
  listener_.limits.streams = 1;
  start();
  {
    RawClient one = client();
    one.send(get("/ticks"));
    EXPECT_NE(read(one, "tick"), "");
    EXPECT_EQ(status_of(get("/ticks")), 503);
    EXPECT_EQ(refused("streams"), 1);
  }
  EXPECT_TRUE(eventually([&] { return connections() == 0; }));
  RawClient next = client();
  next.send(get("/ticks"));
  EXPECT_NE(read(next, "tick").find("200"), std::string::npos) << "its place is free again";
}

TEST_F(HttpStreams, AStreamEndsInGoodOrderAfterItsTimeAndWhenTheServerStops) {
  listener_.limits.stream_time = milliseconds(300);
  start();
  RawClient one = client();
  one.send(get("/ticks"));
  EXPECT_TRUE(one.closed_within(seconds(3)));
  one.close();
  listener_.limits.stream_time = seconds(60);
  server_.reset();
  start();
  RawClient two = client();
  two.send(get("/ticks"));
  EXPECT_NE(read(two, "tick"), "");
  server_->stop(seconds(5), seconds(10));
  EXPECT_TRUE(two.closed_within(seconds(2))) << "long before it would be cut";
}

TEST_F(HttpServer, TwoServersCannotShareAPort) {
  start();
  http::Server second(metrics_);
  listener_.address = "127.0.0.1:" + std::to_string(port_);
  const Status started = second.start({listener_});
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("test listener: " + listener_.address), std::string::npos);
  EXPECT_NE(started.error().message.find("in use"), std::string::npos);
}

TEST_F(HttpServer, BindsEveryListenerOrNone) {
  start();
  http::Listener good = listener_;
  good.name = "good";
  listener_.address = "127.0.0.1:" + std::to_string(port_);
  http::Server second(metrics_);
  ASSERT_FALSE(second.start({good, listener_}));
  EXPECT_EQ(second.port("good"), 0);
}

TEST(HttpExposure, OffLoopbackNeedsTls) {
  const auto allowed = [](const std::string& address, bool tls, bool plain_anywhere) {
    http::Listener listener;
    listener.name = "extender";
    listener.address = address;
    if (tls) listener.tls = http::TlsOptions{"c", "k", ""};
    listener.plain_anywhere = plain_anywhere;
    return http::check_exposure(listener).has_value();
  };
  for (const char* local : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1"})
    EXPECT_TRUE(allowed(local, false, false)) << local;
  for (const char* open : {"0.0.0.0:1", ":1", "[::]:1", "10.0.0.1:1"}) {
    EXPECT_FALSE(allowed(open, false, false)) << open;
    EXPECT_TRUE(allowed(open, true, false)) << open;
    EXPECT_TRUE(allowed(open, false, true)) << open;
  }
  for (const char* odd : {"", "127.0.0.1", "host:1", "127.0.0.1:x", "127.0.0.1:70000", "::1:5"})
    EXPECT_FALSE(allowed(odd, true, true)) << odd;
}

TEST(HttpExposure, WhatOnlyKnownPeersMaySeeNeedsAClientCaOrAGuard) {
  http::Router router;
  http::Listener listener;
  listener.name = "api";
  listener.address = ":1";
  listener.router = &router;
  listener.tls = http::TlsOptions{"c", "k", ""};
  listener.known_peers_only = true;
  EXPECT_FALSE(http::check_exposure(listener));
  listener.tls->client_ca_file = "ca";
  EXPECT_TRUE(http::check_exposure(listener));
  listener.tls->client_ca_file = "";
  router.set_guard(http::Guard());
  EXPECT_TRUE(http::check_exposure(listener));
  listener.tls.reset();
  EXPECT_FALSE(http::check_exposure(listener)) << "a token is not sent in plain text";
}

}  // namespace
}  // namespace slackline::test
