// Faults F30-F34 as far as the journal meets them: locked, full, damaged and vanished files.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/database.h"
#include "store/journal.h"
#include "support/decisions.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace slackline::store {
namespace {

using test::decision;
using test::eventually;
using ::testing::HasSubstr;

class JournalFaults : public ::testing::Test {
 protected:
  std::unique_ptr<Journal> open() {
    Result<std::unique_ptr<Journal>> journal = Journal::open(options_);
    EXPECT_TRUE(journal) << journal.error().message;
    return journal ? std::move(*journal) : nullptr;
  }

  test::TemporaryFolder folder_;
  JournalOptions options_{
      .path = folder_.file("journal.db"), .queue_limit = 500, .busy_timeout_s = 0.05};
};

// Holds the write lock of a database from a process of its own until release().
class LockHolder {
 public:
  explicit LockHolder(const std::string& path) {
    int ready[2];
    int go[2];
    if (::pipe(ready) != 0 || ::pipe(go) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      ::close(go[1]);
      const std::string script = "PRAGMA busy_timeout=5000; BEGIN IMMEDIATE;";
      Result<Database> database = Database::open_reader(path, 5);
      const bool locked =
          database && database->execute("PRAGMA query_only=OFF") && database->execute(script);
      const char answer = locked ? 'y' : 'n';
      if (::write(ready[1], &answer, 1) != 1) ::_exit(2);
      char end = 0;
      if (::read(go[0], &end, 1) < 0) ::_exit(3);  // until the parent closes its end
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(go[0]);
    release_ = go[1];
    char answer = 0;
    locked_ = ::read(ready[0], &answer, 1) == 1 && answer == 'y';
    ::close(ready[0]);
  }
  ~LockHolder() { release(); }
  bool locked() const { return locked_; }
  void release() {
    if (child_ <= 0) return;
    ::close(release_);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
  int release_ = -1;
  bool locked_ = false;
};

TEST_F(JournalFaults, ALockedFileDegradesAndRecoversWithoutRestart) {
  auto journal = open();
  ASSERT_TRUE(journal);
  LockHolder holder(options_.path);
  ASSERT_TRUE(holder.locked());

  for (int i = 0; i < 600; ++i)
    journal->append(decision(i));
  EXPECT_TRUE(eventually([&] { return journal->stats().degraded; }));
  EXPECT_FALSE(journal->flush(0.2)) << "nothing may be called safe while the file is locked";
  EXPECT_EQ(journal->stats().dropped, 100U) << "what the queue could not hold";
  EXPECT_EQ(journal->stats().queued, 500U);
  EXPECT_TRUE(journal->query({})) << "reading goes on";

  holder.release();
  EXPECT_TRUE(eventually([&] { return journal->flush(0.1); }));
  const JournalStats stats = journal->stats();
  EXPECT_FALSE(stats.degraded);
  EXPECT_EQ(stats.written, 500U);
  EXPECT_EQ(stats.dropped, 100U);
}

TEST_F(JournalFaults, ALockedFileDoesNotHoldUpTheEnd) {
  auto journal = open();
  ASSERT_TRUE(journal);
  LockHolder holder(options_.path);
  ASSERT_TRUE(holder.locked());
  for (int i = 0; i < 500; ++i)
    journal->append(decision(i));
  const double begin_s = system_clock().steady_s();
  journal.reset();
  EXPECT_LT(system_clock().steady_s() - begin_s, 5);
}

TEST_F(JournalFaults, AFullDiskDegradesAndRecoversWithoutRestart) {
  auto journal = open();
  ASSERT_TRUE(journal);
  journal->append(decision(0));
  ASSERT_TRUE(journal->flush(10));

  // A limit on file size refuses writes as a full disk does, and can be lifted again.
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit tight = old;
  tight.rlim_cur = 64 << 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  for (int i = 1; i <= 600; ++i)
    journal->append(decision(i));
  const bool degraded = eventually([&] { return journal->stats().degraded; });
  const bool flushed = journal->flush(0.1);
  const JournalStats full = journal->stats();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, previous);
  EXPECT_TRUE(degraded);
  EXPECT_FALSE(flushed);
  EXPECT_GT(full.dropped, 0U);

  EXPECT_TRUE(eventually([&] { return journal->flush(0.1); }));
  const JournalStats stats = journal->stats();
  EXPECT_FALSE(stats.degraded);
  EXPECT_EQ(stats.written + stats.dropped, 601U) << "every row is accounted for";
  EXPECT_EQ(journal->query({.limit = 1000})->rows.size(), stats.written);
}

TEST_F(JournalFaults, ADamagedFileIsMovedAsideAndTold) {
  open().reset();
  std::ofstream(options_.path) << std::string(10000, 'z');
  auto journal = open();
  ASSERT_TRUE(journal);
  EXPECT_THAT(journal->stats().recovered_from, HasSubstr("journal.db.damaged-"));
  EXPECT_EQ(journal->stats().damaged, 1U);
  journal->append(decision(1));
  EXPECT_TRUE(journal->flush(10));
}

TEST_F(JournalFaults, ANewerSchemaIsRefused) {
  open().reset();
  {
    std::string ignored;
    Result<Database> database = Database::open_or_recover(
        {options_.path, std::vector<std::string>(10, "SELECT 1"), 1}, ignored);
    ASSERT_TRUE(database) << database.error().message;
  }
  Result<std::unique_ptr<Journal>> journal = Journal::open(options_);
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("run a newer Slackline"));
}

TEST_F(JournalFaults, ASecondDaemonOnTheFileIsToldWhoHasIt) {
  auto first = open();
  ASSERT_TRUE(first);
  Result<std::unique_ptr<Journal>> second = Journal::open(options_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_THAT(second.error().message,
              HasSubstr(options_.path + " is in use by process " + std::to_string(::getpid())));
  EXPECT_THAT(second.error().message, HasSubstr("store.path"));
  ASSERT_EQ(::symlink(options_.path.c_str(), folder_.file("link.db").c_str()), 0);
  second = Journal::open({.path = folder_.file("link.db")});
  ASSERT_FALSE(second) << "by a symbolic link it is the same file";
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  first.reset();
  EXPECT_TRUE(open());
}

// As SQLite makes them beside a file that is read-only for a while. Root may write them anyhow.
TEST_F(JournalFaults, WhatLiesBesideAFileThatMayBeWrittenAgainIsWritten) {
  open().reset();
  for (const char* suffix : {"-wal", "-shm"}) {
    std::ofstream(options_.path + suffix).close();
    ASSERT_EQ(::chmod((options_.path + suffix).c_str(), 0400), 0);
  }
  auto journal = open();
  ASSERT_TRUE(journal);
  EXPECT_FALSE(journal->stats().degraded) << journal->stats().problem;
  for (const char* suffix : {"-wal", "-shm"})
    EXPECT_EQ(std::filesystem::status(options_.path + suffix).permissions(),
              std::filesystem::perms(0600))
        << suffix;
}

// Somebody dropped the tables, or set the version back: history, which may be deleted at any time.
TEST_F(JournalFaults, TablesThatAreMissingNeverRefuseTheStart) {
  for (const char* harm : {"DROP TABLE decisions", "PRAGMA user_version=0",
                           "PRAGMA user_version=-5", "ALTER TABLE decisions DROP COLUMN reasons",
                           "DROP TABLE history", "DROP TABLE predictions"}) {
    open().reset();
    {
      Result<Database> database = Database::open_reader(options_.path, 1);
      ASSERT_TRUE(database->execute(std::string("PRAGMA query_only=OFF; ") + harm)) << harm;
    }
    auto journal = open();
    ASSERT_TRUE(journal) << harm;
    EXPECT_THAT(journal->stats().recovered_from, HasSubstr("journal.db.damaged-")) << harm;
    journal->append(decision(1));
    EXPECT_TRUE(journal->flush(10)) << harm;
    std::filesystem::remove(journal->stats().recovered_from);
  }
}

// As root every folder can be written: a folder in the way of the lock file stands for a disk that
// takes no new files.
TEST_F(JournalFaults, WhatTheDiskRefusesAtTheStartIsTriedAgain) {
  std::filesystem::create_directory(options_.path + ".lock");
  auto journal = open();
  ASSERT_TRUE(journal) << "scheduling goes on without history";
  EXPECT_TRUE(journal->stats().degraded);
  EXPECT_THAT(journal->stats().problem, HasSubstr(options_.path));
  EXPECT_THAT(journal->stats().problem, HasSubstr("free the disk"));
  const Result<JournalPage> page = journal->query({});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(journal->append(decision(1))) << "rows wait";
  std::filesystem::remove(options_.path + ".lock");
  EXPECT_TRUE(journal->flush(10));
  EXPECT_FALSE(journal->stats().degraded);
  EXPECT_EQ(journal->stats().problem, "");
  EXPECT_EQ(journal->query({})->rows.size(), 1U);
}

TEST_F(JournalFaults, AFullDiskAtTheStartLeavesNoWreckage) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit all{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &all), 0);
  const rlimit tiny{100, all.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
  auto journal = Journal::open(options_);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // several tries
  setrlimit(RLIMIT_FSIZE, &all);
  ASSERT_TRUE(journal) << journal.error().message;
  (*journal)->append(decision(1));
  EXPECT_TRUE((*journal)->flush(10));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find("damaged"), std::string::npos) << entry.path();
}

TEST_F(JournalFaults, OnlyItsOwnerReadsTheFiles) {
  auto journal = open();
  journal->append(decision(1));
  ASSERT_TRUE(journal->flush(10));
  using std::filesystem::perms;
  for (const char* suffix : {"", "-wal", "-shm", ".lock"})
    EXPECT_EQ(std::filesystem::status(options_.path + suffix).permissions(),
              perms::owner_read | perms::owner_write)
        << suffix;
}

TEST_F(JournalFaults, ADeletedFileIsBegunAnew) {
  auto journal = open();
  ASSERT_TRUE(journal);
  journal->append(decision(1));
  ASSERT_TRUE(journal->flush(10));
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(options_.path + suffix);
  journal->append(decision(2));
  ASSERT_TRUE(journal->flush(10));
  Result<JournalPage> page = journal->query({});
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->rows.size(), 1U);
  EXPECT_EQ(page->rows[0].pod_uid, Uid("uid-2"));
}

TEST_F(JournalFaults, SeveralThreadsMayAppendAndReadAtOnce) {
  options_.queue_limit = 100000;
  auto journal = open();
  ASSERT_TRUE(journal);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) {
        journal->append(decision(t * 1000 + i));
        if (i % 100 == 0) journal->record_outcome(Uid(format("uid-{}", t * 1000 + i)), {"n", 1});
        if (i % 250 == 0) {
          EXPECT_TRUE(journal->query({.limit = 10}));
        }
        if (i % 300 == 0) journal->stats();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  ASSERT_TRUE(journal->flush(30));
  EXPECT_EQ(journal->stats().written, 4000U);
}

// The hot path: append() must not wait for the disk, neither in order nor while it refuses.
double append_p99_us(Journal& journal, int rows) {
  std::vector<double> times_us;
  for (int i = 0; i < rows; ++i) {
    DecisionRow row = decision(i);
    const double begin_s = system_clock().steady_s();
    journal.append(std::move(row));
    times_us.push_back((system_clock().steady_s() - begin_s) * 1e6);
  }
  std::sort(times_us.begin(), times_us.end());
  return times_us[times_us.size() * 99 / 100];
}

TEST_F(JournalFaults, AppendNeverWaitsForTheDisk) {
  options_.queue_limit = 100000;
  auto journal = open();
  ASSERT_TRUE(journal);
  const double in_order_us = append_p99_us(*journal, 20000);
  ASSERT_TRUE(journal->flush(30));
  LockHolder holder(options_.path);
  ASSERT_TRUE(holder.locked());
  const double locked_us = append_p99_us(*journal, 20000);
  holder.release();
  RecordProperty("append_p99_us", std::to_string(in_order_us));
  RecordProperty("append_p99_us_locked", std::to_string(locked_us));
  // A commit with fsync takes 100 us to 10 ms; sanitizers and busy machines are given room.
  EXPECT_LT(in_order_us, 1000);
  EXPECT_LT(locked_us, 1000);
}

}  // namespace
}  // namespace slackline::store
