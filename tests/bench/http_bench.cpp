// The floor under every verb: the real server on loopback with handlers that only send bytes of the
// size that filter and prioritize answer. Prints the median of several interleaved rounds.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/load_client.h"
#include "http/server.h"
#include "obs/metrics.h"
#include "slackline/base/text.h"

namespace {

using namespace slackline;

struct Load {
  int names;
  std::size_t request_bytes;
  std::size_t answer_bytes;
};

// What kube-scheduler sends and reads in names-only mode, about 42 and 28 bytes a node.
const std::vector<Load> kLoads = {{1, 5'300, 120},
                                  {500, 26'000, 14'000},
                                  {781, 38'000, 22'000},
                                  {5'000, 211'000, 137'000},
                                  {15'000, 621'000, 410'000}};
constexpr int kRounds = 5;
constexpr int kCalls = 1'000;

http::Router echo_router(http::Pool pool) {
  http::Router router;
  for (const Load& load : kLoads) {
    const std::string answer(load.answer_bytes, 'x');
    router.add({"POST", slackline::format("/echo/{}", load.names),
                [answer](const http::Request&) { return http::Response{200, "", answer, {}}; },
                std::size_t{8} << 20, pool});
  }
  return router;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run() {
  const http::Router inline_routes = echo_router(http::Pool::kHot);
  const http::Router pool_routes = echo_router(http::Pool::kApi);
  obs::MetricsRegistry metrics;
  http::Server server(metrics);
  http::Listener on_io_thread;
  on_io_thread.name = "inline";
  on_io_thread.address = "127.0.0.1:0";
  on_io_thread.router = &inline_routes;
  http::Listener on_pool = on_io_thread;
  on_pool.name = "pool";
  on_pool.router = &pool_routes;
  if (const Status started = server.start({on_io_thread, on_pool}); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  std::printf("%8s %10s %10s %-8s %10s %10s %12s\n", "names", "bytes in", "bytes out", "handler",
              "p50 us", "p99 us", "calls/s");
  for (const Load& load : kLoads) {
    const std::string body(load.request_bytes, ' ');
    const std::string path = slackline::format("/echo/{}", load.names);
    std::vector<double> p50[2], p99[2], rate[2];
    for (int round = 0; round < kRounds; ++round) {
      for (const std::size_t which : {0U, 1U}) {
        const auto port = server.port(which == 0 ? "inline" : "pool");
        const auto measured = bench::measure(port, path, body, kCalls);
        if (!measured) {
          std::fprintf(stderr, "%s: %s\n", path.c_str(), measured.error().message.c_str());
          return 1;
        }
        p50[which].push_back(measured->p50_us);
        p99[which].push_back(measured->p99_us);
        rate[which].push_back(measured->calls_per_s);
      }
    }
    for (const std::size_t which : {0U, 1U})
      std::printf("%8d %10zu %10zu %-8s %10.0f %10.0f %12.0f\n", load.names, load.request_bytes,
                  load.answer_bytes, which == 0 ? "inline" : "pool", median(p50[which]),
                  median(p99[which]), median(rate[which]));
  }
  return 0;
}

}  // namespace

int main() {
  return run();
}
