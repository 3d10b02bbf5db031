// The live cluster source against an API server that misbehaves (faults F17-F24): whatever happens,
// in the end the snapshot equals what the server says.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "cluster/api/api_client.h"
#include "cluster/watch/kube_source.h"
#include "slackline/base/text.h"
#include "support/eventually.h"
#include "support/fake_api_server.h"
#include "support/kube_json.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

using test::eventually;
using test::FakeApiServer;
using test::FakeConnection;
using test::FakeRequest;
using test::job_json;
using test::kBudgetsPath;
using test::kJobsPath;
using test::kNodesPath;
using test::kPodsPath;
using test::node_json;
using test::patient;
using test::pod_json;

const std::string kWatchPods = "watch " + kPodsPath;
const std::string kInitialPods = "initial " + kPodsPath;
const std::string kListPods = "list " + kPodsPath;

class ReflectorTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = std::make_unique<FakeApiServer>();
    server_->put(kNodesPath, "gpu-1", node_json("gpu-1", 4));
    server_->put(kNodesPath, "gpu-2", node_json("gpu-2", 8));
    server_->put(kPodsPath, "a", pod_json("a", "gpu-1"));
    server_->put(kPodsPath, "b", pod_json("b"));
    server_->put(kJobsPath, "train", job_json("train"));
    options_.timers = {.silence_s = 5,
                       .watch_min_s = 30,
                       .watch_max_s = 60,
                       .backoff_min_s = 0.02,
                       .backoff_max_s = 0.2,
                       .healthy_reset_s = 120,
                       .request_timeout_s = 5};
    options_.audit_every_s = 0;
    options_.seed = 7;
  }

  void TearDown() override {
    source_.reset();
    server_->stop();  // before server_ changes: answers still running look at it
  }

  void connect_by(const std::string& kubeconfig) {
    source_.reset();
    api_ = connect({.kubeconfig = kubeconfig}).value();
    source_ = make_kube_source(*api_, options_, default_gpu_catalog(), metrics_, nullptr);
  }

  void start(const std::string& token_file = "") {
    connect_by(server_->write_kubeconfig(folder_.string(), token_file));
    ASSERT_TRUE(source_->start());
  }

  // "gpu-1[a] gpu-2[] unbound[b] jobs[train]"
  static std::string describe(const ClusterSnapshot& snapshot) {
    std::string text;
    for (const NodeStatePtr& state : snapshot.nodes) {
      text += state->node->name.str() + "[";
      for (const PodPtr& pod : state->pods)
        text += pod->key.name + ",";
      text += "] ";
    }
    text += "unbound[";
    for (const PodPtr& pod : snapshot.unbound)
      text += pod->key.name + ",";
    text += "] jobs[";
    for (const JobPtr& job : snapshot.jobs)
      text += job->key.name + ",";
    return text + "]";
  }

  // Waits until the snapshot says so.
  testing::AssertionResult shows(const std::string& expected) {
    if (eventually([&] { return describe(*source_->snapshot()) == expected; }))
      return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "shows " << describe(*source_->snapshot()) << "\n wanted " << expected << "\n"
           << source_->health().detail;
  }

  // The watch delivers what happens now.
  testing::AssertionResult follows() {
    server_->put(kPodsPath, "late", pod_json("late"));
    const auto has_late = [&] { return source_->snapshot()->find_pod({"ml", "late"}) != nullptr; };
    const auto has_not = [&] { return !has_late(); };
    if (!eventually(has_late)) return testing::AssertionFailure() << "does not follow";
    server_->remove(kPodsPath, "late");
    if (!eventually(has_not)) return testing::AssertionFailure() << "does not follow deletions";
    return testing::AssertionSuccess();
  }

  double restarts(const std::string& resource, const std::string& reason) {
    return metric(format(R"(slackline_watch_restarts_total{{reason="{1}",resource="{0}"}} )",
                         resource, reason)) +
           metric(format(R"(slackline_watch_restarts_total{{resource="{0}",reason="{1}"}} )",
                         resource, reason));
  }

  double metric(const std::string& series) {
    const std::string text = metrics_.expose();
    const auto at = text.find(series);
    if (at == std::string::npos) return 0;
    return std::stod(text.substr(at + series.size()));
  }

  const test::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::unique_ptr<FakeApiServer> server_;
  obs::MetricsRegistry metrics_;
  KubeOptions options_;
  std::unique_ptr<ApiClient> api_;
  std::unique_ptr<ClusterSource> source_;
};

const std::string kAtStart = "gpu-1[a,] gpu-2[] unbound[b,] jobs[train,]";

TEST_F(ReflectorTest, ListsByStreamAndFollows) {
  start();
  ASSERT_TRUE(shows(kAtStart));
  EXPECT_TRUE(source_->health().trusted());
  EXPECT_EQ(server_->count(kListPods), 0u);
  EXPECT_TRUE(follows());
  server_->put(kPodsPath, "b", pod_json("b", "gpu-2", 8));
  EXPECT_TRUE(shows("gpu-1[a,] gpu-2[b,] unbound[] jobs[train,]"));
  server_->remove(kNodesPath, "gpu-2");
  EXPECT_TRUE(shows("gpu-1[a,] unbound[] jobs[train,]"));

  const auto asked = server_->requests(kInitialPods).at(0);
  EXPECT_EQ(asked.query.at("resourceVersionMatch"), "NotOlderThan");
  EXPECT_EQ(asked.query.at("allowWatchBookmarks"), "true");
  EXPECT_EQ(asked.headers.at("authorization"), "Bearer secret");
  EXPECT_TRUE(asked.headers.at("user-agent").starts_with("slackline/"));
}

// All listed is not yet published: for up to 40 ms it was ready with no nodes to judge.
TEST_F(ReflectorTest, IsReadyOnlyOnceTheFirstSnapshotIsPublished) {
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    server_->put(kPodsPath, name, pod_json(name, "gpu-1"));
  }
  start();
  const double until_s = system_clock().steady_s() + 20;
  while (!source_->health().synced && system_clock().steady_s() < until_s)
    std::this_thread::yield();
  EXPECT_TRUE(source_->snapshot()->synced);
  EXPECT_EQ(source_->snapshot()->nodes.size(), 2U);
}

TEST_F(ReflectorTest, ListsInPagesWhereStreamingIsNotOffered) {
  server_->offer_streaming_lists(false);
  for (int i = 0; i < 25; ++i)
    server_->put(kPodsPath, format("many-{:02}", i), pod_json(format("many-{:02}", i), "gpu-2", 0));
  options_.page_size = 10;
  start();
  ASSERT_TRUE(eventually([&] { return source_->snapshot()->synced; }));
  EXPECT_EQ(source_->snapshot()->nodes[1]->pods.size(), 25u);
  EXPECT_EQ(server_->count(kListPods), 3u);
  EXPECT_TRUE(follows());
}

TEST_F(ReflectorTest, F17ARelistAfterGoneAppliesDeletionsOfTheGap) {
  start();
  ASSERT_TRUE(shows(kAtStart));
  server_->remove(kPodsPath, "a");
  server_->put(kPodsPath, "c", pod_json("c"));
  // The next watches start from versions that the server has forgotten.
  server_->compact();
  server_->lose_silently(kPodsPath, "b");
  server_->break_connections();
  EXPECT_TRUE(shows("gpu-1[] gpu-2[] unbound[c,] jobs[train,]"));
  EXPECT_TRUE(follows());
  EXPECT_GE(restarts("pods", "expired"), 1);
}

TEST_F(ReflectorTest, F17GoneOnAContinueTokenStartsTheListOver) {
  server_->offer_streaming_lists(false);
  options_.page_size = 1;
  server_->next(kListPods, [&](const FakeRequest& request, FakeConnection& connection) {
    server_->serve(request, connection);
    server_->compact();  // before the second page is asked for
  });
  start();
  EXPECT_TRUE(shows(kAtStart));
  EXPECT_EQ(restarts("pods", "expired"), 1);
  EXPECT_TRUE(follows());
}

TEST_F(ReflectorTest, F18AWatchThatIsAlwaysClosedIsNotHammered) {
  options_.timers.backoff_min_s = 0.1;
  options_.timers.backoff_max_s = 1;
  server_->always(kWatchPods, [](const FakeRequest&, FakeConnection& connection) {
    connection.begin_stream();
    connection.end_stream();
  });
  start();
  ASSERT_TRUE(shows(kAtStart));
  server_->break_connections();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  // 0.1 s + 0.2 s + 0.4 s + 0.8 s + 1 s ..., each stretched up to twofold.
  EXPECT_GE(server_->count(kWatchPods), 2u);
  EXPECT_LE(server_->count(kWatchPods), 7u);
}

TEST_F(ReflectorTest, F18AHalfOpenWatchIsNoticedAndHealthTellsItsAge) {
  options_.timers.silence_s = 0.5;
  options_.stale_after_s = 0.3;
  for (const std::string& path : {kNodesPath, kPodsPath, kJobsPath, kBudgetsPath})
    for (const char* way : {"initial ", "watch "})
      server_->always(way + path, [&](const FakeRequest& request, FakeConnection& connection) {
        if (request.query.contains("sendInitialEvents") && server_->count(request.name) == 1)
          connection.cut_after(2000);  // never reached: only the silence ends it
        server_->serve(request, connection);
      });
  start();
  ASSERT_TRUE(shows(kAtStart));
  // Nothing happens and no bookmark comes: that is what a dead peer looks like.
  EXPECT_TRUE(eventually([&] { return source_->health().stale; }));
  EXPECT_TRUE(eventually([&] { return restarts("pods", "silent") >= 1; }));
  EXPECT_EQ(describe(*source_->snapshot()), kAtStart);
  EXPECT_TRUE(follows());
}

// A server that vanishes without a word (a power cut, a dropped route) acknowledges nothing: TCP
// itself finds out, long before the silence of a watch would be too long.
TEST_F(ReflectorTest, F18APeerThatVanishesIsGivenUpByTcpWithin45Seconds) {
  start();
  ASSERT_TRUE(shows(kAtStart));
  int connections = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (ntohs(peer.sin_port) != server_->port()) continue;
    ++connections;
    const auto option = [fd](int level, int name) {
      int value = -1;
      socklen_t length = sizeof value;
      getsockopt(fd, level, name, &value, &length);
      return value;
    };
    EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_LE(option(IPPROTO_TCP, TCP_KEEPIDLE) +
                  option(IPPROTO_TCP, TCP_KEEPCNT) * option(IPPROTO_TCP, TCP_KEEPINTVL),
              45);
  }
  EXPECT_GE(connections, 4) << "nodes, pods, Jobs, budgets";
}

// Requests that a dead server took and will never answer must not outlive its recovery.
TEST_F(ReflectorTest, F18AWatchThatIsNotEvenOpenedIsGivenUpSoon) {
  options_.timers.silence_s = 60;
  options_.timers.head_s = 0.4;
  options_.stale_after_s = 0.3;
  start();
  ASSERT_TRUE(shows(kAtStart));
  const std::string paths[] = {kNodesPath, kPodsPath, kJobsPath};
  for (const std::string& path : paths)
    server_->always("watch " + path,
                    [](const FakeRequest&, FakeConnection& connection) { connection.hang(); });
  server_->break_connections();
  ASSERT_TRUE(eventually([&] { return source_->health().stale; }));
  ASSERT_TRUE(eventually([&] { return server_->count(kWatchPods) >= 2; }));
  for (const std::string& path : paths)
    server_->always("watch " + path, [&](const FakeRequest& request, FakeConnection& connection) {
      server_->serve(request, connection);
    });
  EXPECT_TRUE(follows());
  EXPECT_TRUE(eventually([&] { return restarts("pods", "unreachable") >= 1; }));
}

TEST_F(ReflectorTest, TheTimesOfTheListThatPodsStandOnAreTold) {
  const double before_s = system_clock().steady_s();
  EXPECT_FALSE(source_ && source_->pods_listed());
  start();
  ASSERT_TRUE(shows(kAtStart));
  const auto first = source_->pods_listed();
  ASSERT_TRUE(first);
  EXPECT_GE(first->began_s, before_s);
  EXPECT_GE(first->ended_s, first->began_s);
  const double asked_s = system_clock().steady_s();
  source_->list_pods_again();
  ASSERT_TRUE(eventually([&] { return source_->pods_listed()->began_s >= asked_s; }));
  EXPECT_TRUE(follows());
}

TEST_F(ReflectorTest, F19AServerThatIsDownAtStartIsWaitedFor) {
  const std::uint16_t port = server_->port();
  const std::string kubeconfig = server_->write_kubeconfig(folder_.string());
  server_.reset();
  connect_by(kubeconfig);
  ASSERT_TRUE(source_->start());
  EXPECT_TRUE(eventually([&] { return restarts("pods", "unreachable") >= 2; }));
  EXPECT_FALSE(source_->health().synced);
  EXPECT_NE(source_->health().detail.find("nodes: "), std::string::npos);
  EXPECT_TRUE(source_->snapshot()->nodes.empty());

  server_ = std::make_unique<FakeApiServer>(port);
  server_->put(kNodesPath, "gpu-1", node_json("gpu-1", 4));
  EXPECT_TRUE(shows("gpu-1[] unbound[] jobs[]"));
  EXPECT_TRUE(source_->health().trusted());
}

TEST_F(ReflectorTest, F20AServerRestoredFromABackupIsListedAnew) {
  start();
  ASSERT_TRUE(shows(kAtStart));
  server_->lose_silently(kPodsPath, "a");  // the backup does not know it
  server_->restore_older();
  EXPECT_TRUE(shows("gpu-1[] gpu-2[] unbound[b,] jobs[train,]"));
  EXPECT_GE(restarts("pods", "too_large_version"), 1);
  EXPECT_TRUE(follows());
}

TEST_F(ReflectorTest, F20AVersionThatGoesBackwardsInAWatchIsListedAnew) {
  server_->next(kInitialPods, [&](const FakeRequest& request, FakeConnection& connection) {
    connection.begin_stream();
    connection.frame(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9000",)"
                     R"("annotations":{"k8s.io/initial-events-end":"true"}}}})");
    connection.frame(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"10"}}})");
    connection.hang();
    (void)request;
  });
  start();
  EXPECT_TRUE(shows(kAtStart));
  EXPECT_EQ(restarts("pods", "version_regressed"), 1);
}

TEST_F(ReflectorTest, F21FramesSplitAtEveryByteAreReassembled) {
  for (const std::string& path : {kNodesPath, kPodsPath, kJobsPath})
    server_->always("initial " + path, [&](const FakeRequest& request, FakeConnection& connection) {
      connection.split_every_byte();
      server_->serve(request, connection);
    });
  start();
  EXPECT_TRUE(shows(kAtStart));
  EXPECT_TRUE(follows());
}

TEST_F(ReflectorTest, F21AStreamCutAtAnyByteLosesNothing) {
  // The streaming list is cut after ever more bytes, and so are the pages it falls back to.
  start();
  ASSERT_TRUE(shows(kAtStart));
  for (std::size_t bytes = 1; bytes < 900; bytes += 37) {
    const auto cut = [&, bytes](const FakeRequest& request, FakeConnection& connection) {
      connection.cut_after(bytes);
      server_->serve(request, connection);
    };
    server_->next(kWatchPods, cut);
    server_->next(kInitialPods, cut);
    server_->break_connections();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  server_->put(kPodsPath, "c", pod_json("c", "gpu-2"));
  server_->remove(kPodsPath, "a");
  EXPECT_TRUE(shows("gpu-1[] gpu-2[c,] unbound[b,] jobs[train,]"));
}

TEST_F(ReflectorTest, F21OddFramesAreBoundedOrIgnored) {
  start();
  ASSERT_TRUE(shows(kAtStart));
  server_->next(kWatchPods, [&](const FakeRequest& request, FakeConnection& connection) {
    connection.begin_stream();
    connection.frame(R"({"type":"BOOKMARK","object":{}})");
    connection.frame(R"({"type":"BOOKMARK"})");
    connection.frame(
        R"({"type":"SOMETHING","object":{"metadata":{"resourceVersion":"99999999"}}})");
    connection.frame("");
    connection.frame(format(R"({{"type":"ADDED","object":{}}})", "{\"metadata\":{\"name\":"));
    connection.hang();
    (void)request;
  });
  server_->break_connections();
  EXPECT_TRUE(eventually([&] { return restarts("pods", "bad_frame") == 1; }));
  EXPECT_TRUE(follows());
  // Neither the unknown frame nor the broken one moved the version.
  const auto watches = server_->requests(kWatchPods);
  ASSERT_GE(watches.size(), 2u);
  EXPECT_EQ(watches[0].query.at("resourceVersion"), watches[1].query.at("resourceVersion"));
}

TEST_F(ReflectorTest, F21ALineBeyondTheLimitIsGivenUpAndTheListHeals) {
  start();
  ASSERT_TRUE(shows(kAtStart));
  server_->next(kWatchPods, [](const FakeRequest&, FakeConnection& connection) {
    connection.begin_stream();
    connection.frame(std::string(std::size_t{11} << 20, 'x'));
    connection.hang();
  });
  server_->break_connections();
  EXPECT_TRUE(eventually([&] { return restarts("pods", "line_too_long") == 1; }));
  EXPECT_TRUE(follows());
}

TEST_F(ReflectorTest, F22ARotatedTokenIsReadAgainOnceAndAnEmptyFileKeepsTheOldOne) {
  const std::string token_file = (folder_ / "token").string();
  std::ofstream(token_file) << "first\n";
  std::string accepted = "first";
  Mutex mutex;
  const auto guard = [&](const FakeRequest& request, FakeConnection& connection) {
    bool ok = false;
    {
      MutexLock lock(mutex);
      ok = request.headers.at("authorization") == "Bearer " + accepted;
    }
    if (!ok) return connection.reply_status(401, "Unauthorized", "Unauthorized");
    server_->serve(request, connection);
  };
  for (const std::string& path : {kNodesPath, kPodsPath, kJobsPath, kBudgetsPath})
    for (const char* way : {"initial ", "watch ", "list "})
      server_->always(way + path, guard);
  start(token_file);
  ASSERT_TRUE(shows(kAtStart));
  EXPECT_TRUE(follows());

  std::ofstream(token_file).close();  // empty for a moment, while kubelet replaces it
  server_->break_connections();
  EXPECT_TRUE(follows());
  EXPECT_EQ(restarts("pods", "unauthorized"), 0);

  std::ofstream(token_file) << "second\n";
  {
    MutexLock lock(mutex);
    accepted = "second";
  }
  server_->break_connections();
  EXPECT_TRUE(follows());
  EXPECT_EQ(restarts("pods", "unauthorized"), 0);
}

TEST_F(ReflectorTest, F23AForbiddenResourceIsNamedAndTheOthersGoOn) {
  const auto forbid = [](const FakeRequest&, FakeConnection& connection) {
    connection.reply_status(403, "Forbidden", "jobs.batch is forbidden");
  };
  server_->always("initial " + kJobsPath, forbid);
  start();
  EXPECT_TRUE(eventually([&] { return restarts("jobs", "forbidden") >= 2; }));
  const CacheHealth health = source_->health();
  EXPECT_FALSE(health.synced);
  EXPECT_NE(health.detail.find("may not list and watch jobs.batch"), std::string::npos)
      << health.detail;
  EXPECT_NE(health.detail.find("get, list, watch"), std::string::npos);
  EXPECT_EQ(restarts("pods", "forbidden"), 0);
}

TEST_F(ReflectorTest, F23ForbiddenDisruptionBudgetsAreDoneWithout) {
  server_->always("initial " + kBudgetsPath, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply_status(403, "Forbidden", "no");
  });
  start();
  EXPECT_TRUE(shows(kAtStart));
  EXPECT_TRUE(source_->health().trusted()) << source_->health().detail;
}

TEST_F(ReflectorTest, F24TooManyRequestsHonoursRetryAfter) {
  server_->next(kInitialPods, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply_status(429, "TooManyRequests", "slow down", "Retry-After: 1\r\n");
  });
  const double began_s = system_clock().steady_s();
  start();
  EXPECT_TRUE(shows(kAtStart));
  EXPECT_GE(system_clock().steady_s() - began_s, 1.0);
  EXPECT_EQ(restarts("pods", "too_many_requests"), 1);
}

TEST_F(ReflectorTest, ADriftIsCountedAndHealed) {
  options_.audit_every_s = 0.2;
  options_.audit_settle_s = 0.1;
  start();
  ASSERT_TRUE(shows(kAtStart));
  server_->lose_silently(kPodsPath, "a");
  EXPECT_TRUE(shows("gpu-1[] gpu-2[] unbound[b,] jobs[train,]"));
  EXPECT_GE(metric(R"(slackline_cache_drift_total{resource="pods"} )"), 1);
  EXPECT_EQ(metric(R"(slackline_cache_drift_total{resource="nodes"} )"), 0);
  EXPECT_TRUE(follows());
}

TEST_F(ReflectorTest, StopsWithinAMoment) {
  start();
  ASSERT_TRUE(shows(kAtStart));
  const double began_s = system_clock().steady_s();
  source_->stop();
  source_->join();
  EXPECT_LT(system_clock().steady_s() - began_s, patient(2.0));
}

// Any script of changes and faults: when it is over, the snapshot equals the server.
class ReflectorProperty : public ReflectorTest, public testing::WithParamInterface<unsigned> {};

TEST_P(ReflectorProperty, EqualsTheServerAfterAnyScriptOfFaults) {
  std::mt19937 random(GetParam());
  const auto pick = [&](int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random);
  };
  server_->offer_streaming_lists(GetParam() % 2 == 0);
  options_.page_size = 3;
  start();
  std::map<std::string, std::string> pods{{"a", "gpu-1"}, {"b", ""}};
  for (int step = 0; step < 120; ++step) {
    const std::string name = format("pod-{}", pick(10));
    switch (pick(8)) {
      case 0:
        server_->break_connections();
        break;
      case 1:
        server_->compact();
        break;
      case 2:
        server_->next(kWatchPods, [this, bytes = 50 + pick(2000)](const FakeRequest& request,
                                                                  FakeConnection& connection) {
          connection.cut_after(static_cast<std::size_t>(bytes));
          server_->serve(request, connection);
        });
        break;
      case 3:
        if (pods.erase(name) != 0) server_->remove(kPodsPath, name);
        break;
      default:
        if (pods.contains(name) && pods[name].empty()) pods[name] = format("gpu-{}", 1 + pick(2));
        server_->put(kPodsPath, name, pod_json(name, pods[name]));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pick(12)));
  }
  std::map<std::string, std::string> on;
  for (const auto& [name, node] : pods)
    on[node] += name + ",";
  EXPECT_TRUE(shows(
      format("gpu-1[{}] gpu-2[{}] unbound[{}] jobs[train,]", on["gpu-1"], on["gpu-2"], on[""])));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReflectorProperty, testing::Range(1u, 7u));

}  // namespace
}  // namespace slackline::cluster
