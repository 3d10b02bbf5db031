// The model database: what is acknowledged is there again, also after damage (F30-F34).
#include "store/model_store.h"

#include <fstream>

#include <gmock/gmock.h>

#include "support/temporary_folder.h"

namespace slackline::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

ThroughputSample sample(double batch, const char* layout, double throughput) {
  return {"resnet50", GpuType("T4"),     batch, *parse_layout(layout), throughput,
          "a test",   SampleOrigin::kRun};
}

ThroughputSample of_run(const char* run, ThroughputSample sample) {
  sample.run = Uid(run);
  return sample;
}

const ModelKey kResnet{"resnet50", GpuType("T4")};

class ModelStoreTest : public ::testing::Test {
 protected:
  ModelStore open() {
    Result<ModelStore> store = ModelStore::open(path_, 0.1);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  void fill(int count) {
    ModelStore store = open();
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(store.add_samples({sample(64 + i, "2x4", 100)}, 1));
  }
  std::size_t count() { return open().samples(kResnet)->size(); }
  static void damage(const std::string& path) {
    for (const char* suffix : {"-wal", "-shm"})
      fs::remove(path + suffix);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(0);
    file << std::string(8192, 'x');
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("models.db");
};

TEST_F(ModelStoreTest, KeepsSamplesInTheirOrder) {
  std::vector<ThroughputSample> samples = {sample(128, "4+2+1", 3.25), sample(64, "2x4", 7)};
  samples.front().model_parallel = 7;
  samples.front().ns = "team";
  ASSERT_TRUE(open().add_samples(samples, 5));
  ModelStore again = open();
  EXPECT_EQ(*again.samples(kResnet), samples);
  EXPECT_THAT(*again.pairs(), ElementsAre(std::pair(kResnet, std::int64_t{2})));
}

TEST_F(ModelStoreTest, ForgetsTheOldestSamplesOfAPairBeyondTheLimit) {
  std::vector<ThroughputSample> samples(kMaxSamplesPerPair + 3, sample(64, "1x1", 1));
  samples.front().batch = 1;
  samples.back().batch = 99;
  ModelStore store = open();
  ASSERT_TRUE(store.add_samples(samples, 5));
  const auto kept = *store.samples(kResnet);
  EXPECT_EQ(kept.size(), static_cast<std::size_t>(kMaxSamplesPerPair));
  EXPECT_EQ(kept.front().batch, 64);
  EXPECT_EQ(kept.back().batch, 99);
}

ThroughputSample of_namespace(const char* ns, ThroughputSample sample) {
  sample.ns = ns;
  return sample;
}

TEST_F(ModelStoreTest, ANamespaceDisplacesItsOwnSamplesOnly) {
  ModelStore store = open();
  const ThroughputSample posted = sample(64, "1x1", 1);
  const ThroughputSample honest = of_namespace("team", sample(64, "1x1", 2));
  ASSERT_TRUE(store.add_samples({posted, honest}, 5));
  std::vector<ThroughputSample> many(kMaxSamplesOfNamespace + 3,
                                     of_namespace("mallory", sample(32, "1x1", 9)));
  many.back().batch = 99;
  ASSERT_TRUE(store.add_samples(many, 6));
  const auto kept = *store.samples(kResnet);
  ASSERT_EQ(kept.size(), static_cast<std::size_t>(kMaxSamplesOfNamespace) + 2);
  EXPECT_EQ(kept[0], posted);
  EXPECT_EQ(kept[1], honest);
  EXPECT_EQ(kept.back().batch, 99);
}

// A file of the version before namespaces were kept.
TEST_F(ModelStoreTest, OlderSamplesOfRunsAreOfTheNamespaceThatTheirSourceNames) {
  ThroughputSample run = of_run("run-1", sample(64, "2x4", 7));
  run.source = "Job team/train";
  ThroughputSample imported = sample(64, "2x4", 8);
  imported.source = "Job team/train";
  imported.origin = SampleOrigin::kImport;
  const ThroughputSample unnamed = sample(64, "2x4", 9);
  ASSERT_TRUE(open().add_samples({run, imported, unnamed}, 5));
  for (const std::string& path : {path_, path_ + ".mirror"}) {
    auto database = Database::open_reader(path, 1);
    ASSERT_TRUE(database);
    const Status older = database->execute(
        "PRAGMA query_only=OFF; ALTER TABLE samples DROP COLUMN ns; PRAGMA user_version=4");
    ASSERT_TRUE(older) << older.error().message;
  }
  ModelStore store = open();
  EXPECT_EQ(store.damage().restored + store.damage().lost, 0);
  run.ns = "team";
  EXPECT_THAT(*store.samples(kResnet), ElementsAre(run, imported, unnamed));
}

TEST_F(ModelStoreTest, KeepsOneSampleOfARun) {
  const ThroughputSample first = of_run("run-1", sample(64, "2x4", 7));
  const ThroughputSample of_nobody = sample(64, "2x4", 8);
  EXPECT_EQ(*open().add_samples({first, of_nobody, of_nobody}, 5), 3);
  ModelStore again = open();
  const ThroughputSample second = of_run("run-2", sample(64, "2x4", 9));
  const auto repeated = again.add_samples({of_run("run-1", sample(64, "2x4", 9)), second}, 7);
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(*repeated, 1);
  EXPECT_THAT(*again.samples(kResnet), ElementsAre(first, of_nobody, of_nobody, second));
}

TEST_F(ModelStoreTest, CountsTheVersionsOfAFit) {
  ProfileEntry entry;
  entry.model = "resnet50";
  entry.gpu_type = GpuType("T4");
  entry.coefficients = {"S", {1, 2, 0, 0.1, 1}};
  entry.points = 9;
  entry.held_out_mape = 8.5;
  EXPECT_EQ(open().put_fit(entry, 10)->version, 1);
  entry.points = 12;
  EXPECT_EQ(open().put_fit(entry, 20)->version, 2);
  const auto fits = *open().fits();
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_EQ(fits[0].version, 2);
  EXPECT_EQ(fits[0].fitted_s, 20);
  EXPECT_EQ(fits[0].entry.points, 12);
  EXPECT_EQ(fits[0].entry.held_out_mape, 8.5);
  EXPECT_EQ(fits[0].entry.coefficients, entry.coefficients);
}

TEST_F(ModelStoreTest, ADamagedRowIsLeftOutAndNamed) {
  fill(3);
  for (const char* type : {"T4", "V100"}) {
    ProfileEntry entry;
    entry.model = "resnet50";
    entry.gpu_type = GpuType(type);
    entry.coefficients = {"S", {1, 2, 0, 0.1, 1}};
    ASSERT_TRUE(open().put_fit(entry, 10));
  }
  ModelStore store = open();
  {
    auto database = Database::open_reader(path_, 1);
    ASSERT_TRUE(database && database->execute("PRAGMA query_only=OFF;"
                                              "UPDATE samples SET layout = x'ff00ff' WHERE id = 2;"
                                              "UPDATE fits SET profile = '{' "
                                              "WHERE gpu_type = 'T4'"));
  }
  EXPECT_EQ(store.samples(kResnet)->size(), 2U);
  const auto fits = store.fits();
  ASSERT_TRUE(fits) << fits.error().message;
  ASSERT_EQ(fits->size(), 1U);
  EXPECT_EQ(fits->front().entry.gpu_type.str(), "V100");
  const std::vector<Error> left_out = store.take_unreadable();
  ASSERT_EQ(left_out.size(), 2U);
  EXPECT_THAT(left_out[0].message, HasSubstr("sample 2"));
  EXPECT_THAT(left_out[1].message, HasSubstr("the fit of resnet50 on T4"));
  EXPECT_TRUE(store.take_unreadable().empty());
}

TEST_F(ModelStoreTest, KeepsTheLastDescriptorOfAModel) {
  ModelDescriptor descriptor{"gpt2", "gpt", 1.5e9, {}, "first"};
  ASSERT_TRUE(open().put_descriptor(descriptor));
  descriptor.description = "second";
  ASSERT_TRUE(open().put_descriptor(descriptor));
  EXPECT_THAT(*open().descriptors(), ElementsAre(descriptor));
}

TEST_F(ModelStoreTest, ADamagedFileLosesNothing) {
  fill(40);
  damage(path_);
  EXPECT_EQ(open().damage().restored, 1) << "restored from the mirror";
  EXPECT_EQ(count(), 40u);
  damage(path_ + ".mirror");
  EXPECT_EQ(count(), 40u);
  damage(path_);
  EXPECT_EQ(count(), 40u) << "the mirror had been restored as well";
}

TEST_F(ModelStoreTest, AnEmptyOrMissingFileLosesNothing) {
  fill(5);
  std::ofstream(path_, std::ios::trunc).close();
  for (const char* suffix : {"-wal", "-shm"})
    fs::remove(path_ + suffix);
  EXPECT_EQ(count(), 5u);
  fs::remove(path_ + ".mirror");
  EXPECT_EQ(count(), 5u);
}

TEST_F(ModelStoreTest, AFileInWhichNothingWasWrittenYetLosesNothing) {
  for (const std::string& path : {path_, path_ + ".mirror"}) {
    static_cast<void>(open());
    damage(path);
    const StoreDamage met = open().damage();
    EXPECT_EQ(met.lost, 0) << path;
    EXPECT_EQ(met.restored, 1) << path;
  }
  damage(path_);
  fs::remove(path_ + ".mirror");
  EXPECT_EQ(open().damage().lost, 1) << "nobody can say what was in it";
}

TEST_F(ModelStoreTest, BeginsAnewWhereBothFilesAreDamaged) {
  fill(5);
  damage(path_);
  damage(path_ + ".mirror");
  const StoreDamage met = open().damage();
  EXPECT_EQ(met.lost, 1);
  EXPECT_THAT(met.moved_to, HasSubstr("models.db.mirror.damaged-"));
  EXPECT_EQ(count(), 0u);
  int kept_as_evidence = 0;
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    kept_as_evidence += entry.path().string().find(".damaged-") != std::string::npos;
  EXPECT_EQ(kept_as_evidence, 2);
}

TEST_F(ModelStoreTest, GoesOnWhenAFileIsDeletedUnderIt) {
  ModelStore store = open();
  ASSERT_TRUE(store.add_samples({sample(64, "1x1", 1)}, 1));
  fs::remove(path_);
  ASSERT_TRUE(store.add_samples({sample(65, "1x1", 1)}, 2));
  EXPECT_EQ(store.samples(kResnet)->size(), 2u);
}

TEST_F(ModelStoreTest, CarriesOverWhatOnlyOneFileGot) {
  fill(3);
  {
    Result<Database> primary = Database::open_reader(path_, 1);
    ASSERT_TRUE(primary);
    ASSERT_TRUE(
        primary->execute("PRAGMA query_only=OFF; UPDATE revision SET value = value + 1; "
                         "UPDATE samples SET batch = 7"));
  }
  damage(path_ + ".mirror");
  const auto samples = *open().samples(kResnet);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].batch, 7);
}

TEST_F(ModelStoreTest, RefusesTheJournalsFile) {
  std::string moved_aside;
  ASSERT_TRUE(Database::open_or_recover({path_, {"CREATE TABLE t(x)"}}, moved_aside));
  const auto store = ModelStore::open(path_);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("another program or purpose"));
}

TEST_F(ModelStoreTest, ASecondDaemonOnTheFileIsRefused) {
  const ModelStore first = open();
  const auto second = ModelStore::open(path_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("is in use by process"));
}

TEST_F(ModelStoreTest, DroppedTablesAreRestoredFromTheMirror) {
  fill(3);
  {
    Result<Database> database = Database::open_reader(path_, 1);
    ASSERT_TRUE(database->execute("PRAGMA query_only=OFF; DROP TABLE samples; DROP TABLE fits"));
  }
  ModelStore store = open();
  EXPECT_EQ(store.samples(kResnet)->size(), 3U);
  EXPECT_EQ(store.damage().restored, 1);
}

TEST_F(ModelStoreTest, BeginsClosedWhereTheDiskRefusesAndOpensWithTheNextWrite) {
  fill(2);
  fs::remove(path_ + ".lock");
  fs::create_directory(path_ + ".lock");
  ModelStore store = open();
  EXPECT_THAT(store.closed(), HasSubstr("cannot be created"));
  EXPECT_TRUE(store.samples(kResnet)->empty());
  EXPECT_FALSE(store.add_samples({sample(64, "1x1", 1)}, 1));
  fs::remove(path_ + ".lock");
  EXPECT_TRUE(store.add_samples({sample(64, "1x1", 1)}, 1));
  EXPECT_EQ(store.closed(), "");
  EXPECT_EQ(store.samples(kResnet)->size(), 3U);
}

TEST_F(ModelStoreTest, ForgetsAModelWithEverythingAboutIt) {
  {
    ModelStore store = open();
    ASSERT_TRUE(store.add_samples({sample(64, "1x1", 1)}, 1));
    ASSERT_TRUE(store.put_descriptor({"resnet50", "resnet", {}, {}, ""}));
    EXPECT_FALSE(*store.forget("other"));
    EXPECT_TRUE(*store.forget("resnet50"));
    EXPECT_FALSE(*store.forget("resnet50"));
  }
  ModelStore again = open();
  EXPECT_TRUE(again.pairs()->empty());
  EXPECT_TRUE(again.descriptors()->empty());
}

TEST_F(ModelStoreTest, AnswersBusyWhereAnotherProcessHoldsTheFile) {
  ModelStore store = open();
  Result<Database> other = Database::open_reader(path_, 1);
  ASSERT_TRUE(other->execute("PRAGMA query_only=OFF; BEGIN IMMEDIATE"));
  const auto status = store.add_samples({sample(64, "1x1", 1)}, 1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(store.samples(kResnet)->empty()) << "readers do not wait";
  ASSERT_TRUE(other->execute("ROLLBACK"));
  EXPECT_TRUE(store.add_samples({sample(64, "1x1", 1)}, 1));
}

}  // namespace
}  // namespace slackline::store
