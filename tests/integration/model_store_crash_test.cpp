// F30: a process that adds throughput samples is killed with SIGKILL again and again, each time one
// of its two files is damaged as well; what was acknowledged must be there, once and in order.
#include <fstream>

#include "store/model_store.h"
#include "support/killed_writer.h"
#include "support/temporary_folder.h"

namespace slackline::store {
namespace {

constexpr int kModelRounds = 20;
const ModelKey kKey{"resnet50", GpuType("T4")};

// The batch is the sample's number.
void write_for_ever(const std::string& path, int first, const test::Acknowledge& acknowledge) {
  auto store = ModelStore::open(path, 1);
  if (!store) return;
  for (int number = first;; ++number) {
    const ThroughputSample sample{kKey.model, kKey.gpu_type,     static_cast<double>(number), {}, 1,
                                  "",         SampleOrigin::kRun};
    if (!store->add_samples({sample}, 0)) return;
    acknowledge(number);
  }
}

void damage(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm"})
    std::filesystem::remove(path + suffix);
  std::ofstream(path, std::ios::binary) << "this is no database any more";
}

TEST(ModelStoreCrash, WhatWasAcknowledgedSurvivesKillDashNineAndDamage) {
  test::TemporaryFolder folder;
  const std::string path = folder.file("models.db");
  std::mt19937 random(20240301);
  int next = 1;
  for (int round = 0; round < kModelRounds; ++round) {
    SCOPED_TRACE(round);
    const int acknowledged = test::kill_while_writing(
        [&](const test::Acknowledge& done) { write_for_ever(path, next, done); }, random);
    ASSERT_GT(acknowledged, 0);
    damage(round % 2 == 0 ? path : path + ".mirror");

    auto store = ModelStore::open(path, 1);
    ASSERT_TRUE(store) << store.error().message;
    const auto samples = store->samples(kKey);
    ASSERT_TRUE(samples) << samples.error().message;
    ASSERT_GE(samples->size(), static_cast<std::size_t>(acknowledged)) << "a sample is lost";
    for (std::size_t i = 0; i < samples->size(); ++i)
      ASSERT_EQ((*samples)[i].batch, static_cast<double>(i + 1)) << "missing, double or misplaced";
    next = static_cast<int>(samples->size()) + 1;
  }
}

}  // namespace
}  // namespace slackline::store
