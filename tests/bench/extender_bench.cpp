// The pair that kube-scheduler waits for, filter then prioritize, on the real server over loopback,
// next to an echo on the same server (the same request bytes in, as many answer bytes out, no work)
// and next to the same pair over mutual TLS, as between hosts. One run, medians of interleaved
// rounds. The cluster: 5,000 nodes x 8 GPUs of four types, half full, 500 nominations; the journal
// writes to disk as in production.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "bench/load_client.h"
#include "bench/scheduler_call.h"
#include "config/profile_files.h"
#include "control/journal/decision_log.h"
#include "control/serve/extender.h"
#include "http/routes/extender_routes.h"
#include "http/server/server.h"
#include "obs/metrics.h"
#include "slackline/base/text.h"
#include "store/journal.h"
#include "support/cluster_builder.h"
#include "support/fake_cluster.h"
#include "support/test_pki.h"

namespace {

using namespace slackline;
using bench::node_name;
using test::a_node;
using test::a_pod;

constexpr int kNodes = 5000;
constexpr int kGpus = 8;
constexpr int kNominations = 500;
constexpr int kRounds = 5;
constexpr int kConnections = 2;
constexpr int kSizes[] = {1, 500, 781, 5000};

ClusterSnapshot a_large_cluster() {
  constexpr const char* kTypes[] = {"A100", "T4", "P100", "K80"};
  test::ClusterBuilder cluster;
  for (int i = 0; i < kNodes; ++i) {
    cluster.with(a_node(node_name(i)).of(kTypes[i % 4], kGpus));
    cluster.with(a_pod(format("running-{}", i)).gpus(i % (kGpus + 1)).on(node_name(i)));
  }
  for (int i = 0; i < kNominations; ++i)
    cluster.with(
        a_pod(format("waiting-{}", i)).gpus(4).priority(5).nominated(node_name(i * 7919 % kNodes)));
  return cluster.build();
}

void add_echo(http::Router& router, const std::string& path, std::size_t answer_bytes) {
  const std::string answer(answer_bytes, 'x');
  router.add({"POST", path,
              [answer](const http::Request&) {
                return http::Response{200, "application/json", answer, {}};
              },
              std::size_t{16} << 20, http::Pool::kHot});
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The median of the ratios, round by round.
double median_ratio(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < over.size(); ++round)
    ratios.push_back(over[round] / under[round]);
  return median(std::move(ratios));
}

// Filter and prioritize pairs per second over some connections at once.
Result<double> sustained_pairs(const bench::Target& target, const std::string& body, int calls) {
  std::vector<std::thread> threads;
  std::vector<Status> results(kConnections);
  const auto started = std::chrono::steady_clock::now();
  for (int i = 0; i < kConnections; ++i)
    threads.emplace_back([&, i] {
      for (const char* path : {bench::kFilterPath, bench::kPrioritizePath})
        if (const auto done = bench::measure(target, path, body, calls); !done)
          results[static_cast<std::size_t>(i)] = fail(done.error());
    });
  for (std::thread& thread : threads)
    thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  for (const Status& result : results)
    SLACKLINE_TRY(result);
  return kConnections * calls / took.count();
}

struct Sample {
  std::vector<double> pair_p50, pair_p99, echo_p50, tls_p50, tls_p99;
};

Result<Sample> measure_size(const bench::Target& plain, const bench::Target& mutual, int names,
                            const std::string& body) {
  const int calls = names >= 5000 ? 400 : 1000;
  Sample sample;
  for (int round = 0; round < kRounds; ++round) {
    double pair = 0, tail = 0, echo = 0, tls = 0, tls_tail = 0;
    for (const char* path : {bench::kFilterPath, bench::kPrioritizePath}) {
      SLACKLINE_ASSIGN(const auto verb, bench::measure(plain, path, body, calls));
      SLACKLINE_ASSIGN(const auto floor,
                       bench::measure(plain, format("/echo/{}{}", names, path), body, calls));
      SLACKLINE_ASSIGN(const auto sealed, bench::measure(mutual, path, body, calls));
      pair += verb.p50_us;
      tail += verb.p99_us;
      echo += floor.p50_us;
      tls += sealed.p50_us;
      tls_tail += sealed.p99_us;
    }
    sample.pair_p50.push_back(pair);
    sample.pair_p99.push_back(tail);
    sample.echo_p50.push_back(echo);
    sample.tls_p50.push_back(tls);
    sample.tls_p99.push_back(tls_tail);
  }
  return sample;
}

Status run(const std::string& folder) {
  control::DecisionOptions options;
  options.catalog = default_gpu_catalog();
  SLACKLINE_ASSIGN(const WorkloadProfiles profiles, config::load_profiles({}));
  const Published<control::Known> known(control::make_known(profiles));
  test::FakeSource source(a_large_cluster());
  obs::MetricsRegistry metrics;
  SLACKLINE_ASSIGN(const auto journal, store::Journal::open({.path = folder + "/journal.db"}));
  control::DecisionLog log(journal.get(), metrics);
  control::Extender extender(options, known, source, nullptr, log, system_clock());
  http::Router router;
  http::add_extender_routes(router, extender, options.catalog, metrics);

  http::Server probe(metrics);
  http::Listener listener;
  listener.name = "extender";
  listener.address = "127.0.0.1:0";
  listener.router = &router;
  SLACKLINE_TRY(probe.start({listener}));
  std::vector<std::string> bodies;
  http::Router echoing = router;
  for (const int names : kSizes) {
    bodies.push_back(bench::scheduler_call(names, kNodes));
    for (const char* path : {bench::kFilterPath, bench::kPrioritizePath}) {
      SLACKLINE_ASSIGN(const auto once,
                       bench::measure({probe.port("extender")}, path, bodies.back(), 1));
      add_echo(echoing, format("/echo/{}{}", names, path), once.answer_bytes);
    }
  }
  listener.router = &echoing;
  http::Server server(metrics);
  test::TestPki pki;
  pki.make_leaf("server", "slackline", "01");
  pki.make_leaf("scheduler", "kube-scheduler", "02");
  http::Listener sealed = listener;
  sealed.name = "mutual";
  sealed.tls = http::TlsOptions{pki.path("server.crt"), pki.path("server.key"), pki.path("ca.crt")};
  SLACKLINE_TRY(server.start({listener, sealed}));
  const bench::Target plain{server.port("extender")};
  const bench::Target mutual{
      server.port("mutual"),
      bench::Identity{pki.path("ca.crt"), pki.path("scheduler.crt"), pki.path("scheduler.key")}};

  std::printf("filter + prioritize pair, %d nodes in the cluster, %d nominations\n", kNodes,
              kNominations);
  std::printf("%8s %10s %12s %12s %12s %8s %12s %12s %12s %8s\n", "names", "bytes in",
              "pair p50 us", "pair p99 us", "echo p50 us", "ratio", "pairs/s", "mTLS p50 us",
              "mTLS p99 us", "ratio");
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    SLACKLINE_ASSIGN(const Sample sample, measure_size(plain, mutual, kSizes[i], bodies[i]));
    SLACKLINE_ASSIGN(const double rate, sustained_pairs(plain, bodies[i], 1000));
    std::printf("%8d %10zu %12.0f %12.0f %12.0f %8.2f %12.0f %12.0f %12.0f %8.2f\n", kSizes[i],
                bodies[i].size(), median(sample.pair_p50), median(sample.pair_p99),
                median(sample.echo_p50), median_ratio(sample.pair_p50, sample.echo_p50), rate,
                median(sample.tls_p50), median(sample.tls_p99),
                median_ratio(sample.tls_p50, sample.pair_p50));
  }
  return {};
}

}  // namespace

int main() {
  const auto folder =
      std::filesystem::temp_directory_path() / format("slackline-bench-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const Status done = run(folder.string());
  std::filesystem::remove_all(folder);
  if (done) return 0;
  std::fprintf(stderr, "extender_bench: %s\n", done.error().message.c_str());
  return 1;
}
