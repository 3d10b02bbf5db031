// The real server on a free loopback port, with one handler for each way a handler can behave.
#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "http/server/server.h"
#include "obs/metrics.h"
#include "support/eventually.h"
#include "support/raw_client.h"

namespace slackline::test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

inline http::Response text(std::string body) {
  return http::Response{200, "text/plain", std::move(body), {}};
}

inline http::Response sleep_as_asked(const http::Request& request) {
  std::this_thread::sleep_for(milliseconds(std::stoi(request.query.at("ms"))));
  return text("awake");
}

// Routes: POST /echo (hot), GET /healthz (hot), GET /big (5.2 MB, hot), GET /slow?ms=,
// POST /bind?ms=, GET /throws (on threads).
inline http::Router sample_router() {
  using http::Pool;
  http::Router router;
  const auto echo = [](const http::Request& request) { return text(std::string(request.body)); };
  const auto healthy = [](const http::Request&) { return text("ok"); };
  const auto big = [](const http::Request&) { return text(std::string(5'200'000, 'x')); };
  const auto throws = [](const http::Request&) -> http::Response { throw std::logic_error("no"); };
  router.add({"POST", "/echo", echo, std::size_t{8} << 20, Pool::kHot});
  router.add({"GET", "/healthz", healthy, 0, Pool::kHot});
  router.add({"GET", "/big", big, 0, Pool::kHot});
  router.add({"GET", "/slow", sleep_as_asked, 0, Pool::kThreads});
  router.add({"POST", "/bind", sleep_as_asked, 1024, Pool::kThreads});
  router.add({"GET", "/throws", throws, 0, Pool::kThreads});
  return router;
}

// Starts with start(); limits may be changed before.
class HttpServerFixture : public testing::Test {
 protected:
  HttpServerFixture() : router_(sample_router()) {
    listener_.name = "test";
    listener_.address = "127.0.0.1:0";
    listener_.router = &router_;
  }

  void start() {
    server_ = std::make_unique<http::Server>(metrics_);
    const Status started = server_->start({listener_});
    ASSERT_TRUE(started) << started.error().message;
    port_ = server_->port("test");
    ASSERT_NE(port_, 0);
  }

  RawClient client(const std::string& from = "127.0.0.1") const { return RawClient(port_, from); }

  // The answer to one request on a connection of its own; 0 for none.
  int status_of(std::string_view bytes) const {
    RawClient one(port_);
    const auto response = one.call(bytes);
    return response ? response->status : 0;
  }

  // The value of the sample that starts with `series`; -1 if there is none.
  double metric(const std::string& series) const {
    const std::string exposed = "\n" + metrics_.expose();
    const std::size_t at = exposed.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stod(exposed.substr(at + series.size() + 2));
  }
  double refused(const std::string& reason) const {
    return metric("slackline_http_refused_total{listener=\"test\",reason=\"" + reason + "\"}");
  }
  double connections() const { return metric("slackline_http_connections{listener=\"test\"}"); }

  obs::MetricsRegistry metrics_;
  http::Router router_;
  http::Listener listener_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
};

// Resident memory of this process, MiB; always 0 under a sanitizer, whose own memory would count.
inline double resident_mib() {
#ifdef SLACKLINE_SANITIZED
  return 0;
#endif
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * 4096 / (1 << 20);
}

}  // namespace slackline::test
