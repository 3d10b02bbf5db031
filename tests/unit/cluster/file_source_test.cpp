#include "cluster/watch/file_source.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

using test::eventually;

constexpr const char* kNode = R"({"apiVersion":"v1","kind":"Node",
  "metadata":{"name":"gpu-1","uid":"n1","labels":{"nvidia.com/gpu.product":"A100"}},
  "status":{"allocatable":{"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu":"4"}}})";
constexpr const char* kPod = R"({"apiVersion":"v1","kind":"Pod",
  "metadata":{"name":"train","namespace":"ml","uid":"p1"},
  "spec":{"nodeName":"gpu-1","containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"3"}}}]},
  "status":{"phase":"Running"}})";

std::string list_of(std::initializer_list<std::string> items) {
  std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
  for (const std::string& item : items)
    text += (text.back() == '[' ? "" : ",") + item;
  return text + "]}";
}

class FileSourceTest : public testing::Test {
 protected:
  void SetUp() override { path_ = folder_ / "dump"; }

  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  std::unique_ptr<ClusterSource> source() {
    return make_file_source({.path = path_.string(), .poll_s = 0.02}, default_gpu_catalog(),
                            metrics_, nullptr);
  }

  const test::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::filesystem::path path_;
  obs::MetricsRegistry metrics_;
};

TEST_F(FileSourceTest, ReadsJsonAndTakesANodeWithoutConditionsAsReady) {
  write(list_of({kNode, kPod}));
  const auto cluster = source();
  ASSERT_TRUE(cluster->start());
  const auto snapshot = cluster->snapshot();
  ASSERT_EQ(snapshot->nodes.size(), 1u);
  EXPECT_TRUE(snapshot->synced);
  EXPECT_TRUE(snapshot->nodes[0]->node->ready);
  EXPECT_EQ(snapshot->nodes[0]->free().gpu_total(), 1);
  EXPECT_TRUE(cluster->health().trusted());
}

TEST_F(FileSourceTest, ReadsYaml) {
  write(
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n"
      "  metadata: {name: gpu-1, uid: n1}\n"
      "  status:\n    allocatable: {cpu: '8', memory: 32Gi, pods: '110', nvidia.com/gpu: '4'}\n");
  const auto cluster = source();
  const Status started = cluster->start();
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_EQ(cluster->snapshot()->nodes.size(), 1u);
  EXPECT_EQ(cluster->snapshot()->nodes[0]->free().gpu_total(), 4);
}

TEST_F(FileSourceTest, FollowsChangesKeepsTheLastGoodSnapshotAndRecovers) {
  write(list_of({kNode, kPod}));
  const auto cluster = source();
  ASSERT_TRUE(cluster->start());

  write(list_of({kNode}));
  EXPECT_TRUE(eventually([&] { return cluster->snapshot()->nodes[0]->pods.empty(); }));

  const auto good = cluster->snapshot();
  write("{\"kind\":\"List\",\"items\":[");
  EXPECT_TRUE(eventually([&] { return !cluster->health().detail.empty(); }));
  EXPECT_EQ(cluster->snapshot(), good);
  EXPECT_TRUE(cluster->health().trusted());

  std::filesystem::remove(path_);
  EXPECT_TRUE(eventually(
      [&] { return cluster->health().detail.find("No such file") != std::string::npos; }));
  EXPECT_EQ(cluster->snapshot(), good);

  write(list_of({kNode, kPod}));
  EXPECT_TRUE(eventually([&] { return cluster->snapshot()->nodes[0]->pods.size() == 1; }));
  EXPECT_TRUE(eventually([&] { return cluster->health().detail.empty(); }));
}

constexpr const char* kHalfYaml =  // kubectl writes the kind last
    "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: gpu-9, uid: n9}\n";

TEST_F(FileSourceTest, AFollowedDumpNeverBecomesAnEmptyClusterByAccident) {
  write(list_of({kNode, kPod}));
  const auto cluster = source();
  ASSERT_TRUE(cluster->start());
  const auto good = cluster->snapshot();
  const std::pair<std::string, const char*> accidents[] = {
      {"{}", "no kind"},
      {R"({"kind":"List","apiVersion":"v1"})", "items: []"},
      {"Error from server (Forbidden): nodes is forbidden\n", "no kind"},
      {kHalfYaml, "cut short"},
      {list_of({}), "names no Node any more"},
      {list_of({kPod}), "names no Node any more, 1 were there"},
  };
  for (const auto& [content, why] : accidents) {
    write(content);
    EXPECT_TRUE(eventually([&, said = why] {
      return cluster->health().detail.find(said) != std::string::npos;
    })) << content
        << "\n"
        << cluster->health().detail;
    EXPECT_EQ(cluster->snapshot(), good) << content;
    EXPECT_NE(metrics_.expose().find("slackline_cluster_file_broken 1"), std::string::npos);
  }
  write(list_of({kNode}));
  EXPECT_TRUE(eventually([&] { return cluster->snapshot()->nodes[0]->pods.empty(); }));
  EXPECT_TRUE(eventually([&] { return cluster->health().detail.empty(); }));
  EXPECT_NE(metrics_.expose().find("slackline_cluster_file_broken 0"), std::string::npos);
}

TEST_F(FileSourceTest, AnEmptyClusterIsSaidAtTheStart) {
  write(list_of({}));
  const auto cluster = source();
  ASSERT_TRUE(cluster->start());
  EXPECT_TRUE(cluster->health().trusted());
  EXPECT_EQ(cluster->health().detail, "");
  write(list_of({kNode}));
  EXPECT_TRUE(eventually([&] { return cluster->snapshot()->nodes.size() == 1; }));
}

// As root every file can be read: a lack of file descriptors stands for what passes by itself.
TEST_F(FileSourceTest, AReadThatFailsIsTriedAgain) {
  write(list_of({kNode, kPod}));
  const auto cluster = source();
  ASSERT_TRUE(cluster->start());
  rlimit all{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &all), 0);
  write(list_of({kNode}));
  const rlimit none{3, all.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool refused = eventually([&] { return !cluster->health().detail.empty(); });
  setrlimit(RLIMIT_NOFILE, &all);
  EXPECT_TRUE(refused);
  EXPECT_TRUE(eventually([&] { return cluster->snapshot()->nodes[0]->pods.empty(); }));
  EXPECT_TRUE(eventually([&] { return cluster->health().detail.empty(); }));
}

TEST_F(FileSourceTest, WhatIsLeftOutIsNamedAndCounted) {
  write(list_of({kNode, R"({"kind":"Pod","metadata":{}})"}));
  const auto cluster = source();
  ASSERT_TRUE(cluster->start());
  EXPECT_NE(cluster->health().detail.find("items[1]: Pod: metadata.name is missing"),
            std::string::npos);
  EXPECT_NE(metrics_.expose().find("slackline_cluster_file_skipped_objects 1"), std::string::npos);
}

// A copy with the old size and time: nothing that is looked at has changed.
TEST_F(FileSourceTest, IsReadAgainWhenAskedTo) {
  write(list_of({kNode, kPod}));
  const auto cluster = source();
  ASSERT_TRUE(cluster->start());
  const auto time = std::filesystem::last_write_time(path_);
  std::string same_size = list_of({kNode, kPod});
  same_size.replace(same_size.find("Running"), 7, "Failed ");
  same_size.replace(same_size.find("Failed "), 8, "Failed\" ");
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file << same_size;
  }
  std::filesystem::last_write_time(path_, time);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  cluster->reload();
  EXPECT_TRUE(eventually([&] { return cluster->snapshot()->nodes[0]->pods.empty(); }));
}

TEST_F(FileSourceTest, StartSaysWhatIsWrongWithTheFile) {
  const Status missing = source()->start();
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find(path_.string()), std::string::npos);

  write("{\"kind\":");
  const Status broken = source()->start();
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find(path_.string()), std::string::npos);
}

}  // namespace
}  // namespace slackline::cluster
