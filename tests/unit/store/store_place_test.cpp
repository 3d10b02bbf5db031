// Where a store may live: a regular file of Slackline's own, or memory. What else is at its paths
// stays as it was.
#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include "slackline/base/file_kind.h"
#include "store/journal.h"
#include "store/model_store.h"
#include "store/portrait_store.h"
#include "support/decisions.h"
#include "support/eventually.h"
#include "support/read_text.h"
#include "support/special_files.h"

namespace slackline::store {
namespace {

using test::decision;
using test::eventually;
using test::listing;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

ThroughputSample sample() {
  return {"resnet50", GpuType("T4"), 64, *parse_layout("2x4"), 7, "a test", SampleOrigin::kRun};
}

class StorePlaceTest : public ::testing::Test {
 protected:
  // Why each kind of store refuses the path; "" where it does not.
  std::vector<std::string> refusals(const std::string& path) const {
    std::vector<std::string> refusals;
    const auto add = [&](const auto& opened) {
      refusals.push_back(opened ? "" : opened.error().message);
      EXPECT_TRUE(opened || opened.error().code == ErrorCode::kInvalidArgument) << refusals.back();
    };
    add(Journal::open({.path = path}));
    add(ModelStore::open(path, 0.1));
    add(PortraitStore::open(path, 0.1));
    return refusals;
  }
  fs::perms mode(const std::string& path) const { return fs::status(path).permissions(); }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_.file("slackline.db");
};

TEST_F(StorePlaceTest, DevicesFifosSocketsFoldersAndLinksToThemAreRefusedAndStayAsTheyWere) {
  const std::vector<std::string> names = test::make_special_files(folder_);
  const std::string before = listing(folder_);
  for (const std::string& name : names)
    for (const std::string& refusal : refusals(folder_.file(name)))
      EXPECT_THAT(refusal, AllOf(HasSubstr(folder_.file(name)), HasSubstr("name a"))) << name;
  EXPECT_EQ(listing(folder_), before) << "not even a lock file was made";
  EXPECT_THAT(
      refusals(folder_.file("fifo")).front(),
      HasSubstr("is a FIFO, and was left as it is: a store is a regular file; name another, "
                "or --store none, which writes no file"));
}

TEST_F(StorePlaceTest, ALinkToNothingIsRefused) {
  ASSERT_EQ(::symlink(folder_.file("absent").c_str(), path_.c_str()), 0);
  const std::string before = listing(folder_);
  for (const std::string& refusal : refusals(path_))
    EXPECT_THAT(refusal, HasSubstr("is a symbolic link to nothing"));
  EXPECT_EQ(listing(folder_), before);
}

TEST_F(StorePlaceTest, AFifoInPlaceOfAnyOtherFileOfAStoreStaysAsItWas) {
  for (const char* suffix : {"-wal", "-shm", "-journal", ".mirror", ".mirror-wal"}) {
    SCOPED_TRACE(suffix);
    ASSERT_EQ(::mkfifo((path_ + suffix).c_str(), 0666), 0);
    const std::string before = listing(folder_);
    EXPECT_FALSE(ModelStore::open(path_, 0.1));
    EXPECT_EQ(listing(folder_), before);
    fs::remove(path_ + suffix);
  }
  ASSERT_EQ(::mkfifo((path_ + ".lock").c_str(), 0666), 0);
  const std::string before = listing(folder_);
  EXPECT_THAT(ModelStore::open(path_, 0.1)->closed(), HasSubstr("that is a FIFO; move it away"));
  EXPECT_TRUE((*Journal::open({.path = path_}))->stats().degraded);
  EXPECT_EQ(listing(folder_), before);
}

TEST_F(StorePlaceTest, FilesOfOtherProgramsAreRefusedAndKeepContentNameAndMode) {
  std::ofstream(path_) << "notes that somebody needs";
  ::chmod(path_.c_str(), 0644);
  const std::string before = listing(folder_);
  for (const std::string& refusal : refusals(path_))
    EXPECT_THAT(refusal, HasSubstr("left untouched"));
  EXPECT_EQ(listing(folder_), before);
  EXPECT_EQ(test::read_text(path_), "notes that somebody needs");

  // `--store Cargo` beside a Cargo.lock.
  std::ofstream(folder_.file("Cargo.lock")) << "[[package]]\nname = \"anyhow\"\n";
  for (const std::string& refusal : refusals(folder_.file("Cargo")))
    EXPECT_THAT(refusal, AllOf(HasSubstr("Cargo.lock"), HasSubstr("of another program")));
  EXPECT_EQ(test::read_text(folder_.file("Cargo.lock")), "[[package]]\nname = \"anyhow\"\n");
  EXPECT_FALSE(fs::exists(folder_.file("Cargo")));
}

TEST_F(StorePlaceTest, TheRightsOfOthersGoOnlyFromWhatSlacklineWrote) {
  std::ofstream(path_) << "";  // as `mktemp` leaves it
  ::chmod(path_.c_str(), 0644);
  {
    ASSERT_TRUE(ModelStore::open(path_, 0.1)->add_samples({sample()}, 1));
    EXPECT_EQ(mode(path_), fs::perms(0644)) << "somebody else made the file";
  }
  ASSERT_TRUE(ModelStore::open(path_, 0.1));
  EXPECT_EQ(mode(path_), fs::perms(0640)) << "what is in it is Slackline's";
}

TEST_F(StorePlaceTest, ALinkToAStoreIsFollowed) {
  ASSERT_TRUE(ModelStore::open(path_, 0.1)->add_samples({sample()}, 1));
  ASSERT_EQ(::symlink(path_.c_str(), folder_.file("link.db").c_str()), 0);
  EXPECT_EQ(ModelStore::open(folder_.file("link.db"), 0.1)->pairs()->size(), 1U);
  EXPECT_TRUE(fs::is_symlink(folder_.file("link.db")));
}

// The folder where the test runs is the temporary one: a file named "none" would be there.
class StoreInMemory : public StorePlaceTest {
 protected:
  StoreInMemory() { fs::current_path(folder_.path()); }
  ~StoreInMemory() override {
    EXPECT_EQ(listing(folder_), "") << "files were written";
    fs::current_path(before_);
  }

 private:
  const fs::path before_ = fs::current_path();
};

TEST_F(StoreInMemory, TheJournalIsReadAndForgotten) {
  {
    auto journal = *Journal::open({.path = std::string(kNoFile)});
    auto other = *Journal::open({.path = std::string(kNoFile)});
    for (int i = 0; i < 3; ++i)
      journal->append(decision(i));
    ASSERT_TRUE(journal->flush(10));
    EXPECT_EQ(journal->query({})->rows.size(), 3U);
    EXPECT_EQ(journal->history({})->rows.size(), 0U);
    EXPECT_FALSE(journal->stats().degraded);
    EXPECT_EQ(other->query({})->rows.size(), 0U) << "each has its own";
  }
  EXPECT_EQ((*Journal::open({.path = std::string(kNoFile)}))->query({})->rows.size(), 0U);
}

TEST_F(StoreInMemory, TheJournalIsReadWhileItIsWritten) {
  auto journal = *Journal::open({.path = std::string(kNoFile), .queue_limit = 100000});
  std::thread writer([&] {
    for (int i = 0; i < 4000; ++i)
      journal->append(decision(i));
  });
  for (int i = 0; i < 200; ++i) {
    const auto page = journal->query({.limit = 100});
    EXPECT_TRUE(page) << page.error().message;
  }
  writer.join();
  ASSERT_TRUE(journal->flush(30));
  EXPECT_EQ(journal->stats().written, 4000U);
  EXPECT_EQ(journal->stats().dropped, 0U);
}

TEST_F(StoreInMemory, TheJournalKeepsNoMoreThanMemoryShouldHold) {
  auto journal = *Journal::open({.path = std::string(kNoFile), .queue_limit = 100000});
  for (int i = 0; i < kMostRowsInMemory + 1500; ++i)
    journal->append(decision(i));
  ASSERT_TRUE(journal->flush(60));
  EXPECT_TRUE(eventually([&] { return journal->query({.before_id = 1501})->rows.empty(); }));
  EXPECT_EQ(journal->query({.before_id = 1502})->rows.size(), 1U);
}

TEST_F(StoreInMemory, ModelsAndPortraitsAreKeptAsInAFile) {
  ModelStore models = *ModelStore::open(std::string(kNoFile));
  EXPECT_EQ(models.closed(), "");
  ASSERT_TRUE(models.add_samples({sample()}, 1));
  EXPECT_EQ(models.pairs()->size(), 1U);
  PortraitStore portraits = *PortraitStore::open(std::string(kNoFile));
  ASSERT_TRUE(portraits.write({{.key = "family", .last_s = 5, .bytes = "bytes"}}, {}));
  EXPECT_EQ(portraits.all()->size(), 1U);
}

}  // namespace
}  // namespace slackline::store
