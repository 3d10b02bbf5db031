#include "store/database.h"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace slackline::store {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseOptions options() const {
    DatabaseOptions options{
        path_, {"CREATE TABLE t(x INTEGER, y TEXT)", "CREATE TABLE u(z REAL)"}, 0.2};
    options.used_before = true;
    return options;
  }
  Result<Database> open() { return Database::open_or_recover(options(), moved_aside_); }

  // A file with enough rows to spread over many pages, closed again.
  void fill() {
    Result<Database> database = open();
    ASSERT_TRUE(database) << database.error().message;
    Result<Transaction> transaction = Transaction::begin(*database);
    ASSERT_TRUE(transaction);
    Result<Statement> insert = database->prepare("INSERT INTO t VALUES(?, ?)");
    ASSERT_TRUE(insert);
    for (int i = 0; i < 2000; ++i)
      ASSERT_TRUE(insert->bind_all(std::int64_t{i}, std::string(100, 'x')).run());
    ASSERT_TRUE(transaction->commit());
  }

  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  void expect_fresh_start(const std::string& damaged_bytes) {
    Result<Database> database = open();
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_THAT(moved_aside_, StartsWith(path_ + ".damaged-2"));
    EXPECT_EQ(fs::file_size(moved_aside_), damaged_bytes.size()) << "the evidence is kept";
    EXPECT_EQ(*database->query_integer("SELECT count(*) FROM t"), 0);
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
  std::string moved_aside_;
};

TEST_F(DatabaseTest, ANewFileHasTheNewestSchemaAndIsDurable) {
  Result<Database> database = open();
  ASSERT_TRUE(database) << database.error().message;
  EXPECT_EQ(*database->query_integer("PRAGMA user_version"), 2);
  EXPECT_EQ(*database->query_integer("PRAGMA synchronous"), 2) << "FULL";
  EXPECT_EQ(*database->query_integer("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(*database->query_integer("SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
  EXPECT_TRUE(moved_aside_.empty());
}

TEST_F(DatabaseTest, AnOlderSchemaIsLiftedAndKeepsItsRows) {
  {
    DatabaseOptions old = options();
    old.migrations.pop_back();
    Result<Database> database = Database::open_or_recover(old, moved_aside_);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("INSERT INTO t VALUES(7, 'seven')"));
  }
  Result<Database> database = open();
  ASSERT_TRUE(database) << database.error().message;
  EXPECT_EQ(*database->query_integer("PRAGMA user_version"), 2);
  EXPECT_EQ(*database->query_integer("SELECT x FROM t"), 7);
  EXPECT_EQ(*database->query_integer("SELECT count(*) FROM u"), 0);
}

TEST_F(DatabaseTest, AMigrationThatFailsLeavesTheOldSchema) {
  {
    ASSERT_TRUE(open());
  }
  DatabaseOptions broken = options();
  broken.migrations.push_back("CREATE TABLE v(x); CREATE TABLE nonsense");
  EXPECT_FALSE(Database::open_or_recover(broken, moved_aside_));
  Result<Database> database = open();
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->query_integer("SELECT count(*) FROM sqlite_schema WHERE name = 'v'"), 0);
}

TEST_F(DatabaseTest, ANewerSchemaIsRefusedAndTheFileUntouched) {
  fill();
  const std::string before = content();
  DatabaseOptions older_program = options();
  older_program.migrations.pop_back();
  Result<Database> database = Database::open_or_recover(older_program, moved_aside_);
  ASSERT_FALSE(database);
  EXPECT_THAT(database.error().message, HasSubstr("schema version 2, this program knows up to 1"));
  EXPECT_EQ(content(), before);
  EXPECT_TRUE(moved_aside_.empty());
}

TEST_F(DatabaseTest, ADatabaseOfAnotherProgramIsRefusedAndUntouched) {
  fill();
  {
    Result<Database> database = open();
    ASSERT_TRUE(database->execute("PRAGMA application_id=42; PRAGMA user_version=0"));
  }
  const std::string before = content();
  Result<Database> database = open();
  ASSERT_FALSE(database);
  EXPECT_THAT(database.error().message, HasSubstr("another program"));
  EXPECT_EQ(content(), before);
}

TEST_F(DatabaseTest, FlippedBytesAnywhereGiveAFreshStart) {
  fill();
  const std::string good = content();
  ASSERT_GT(good.size(), 100000U);
  for (const std::size_t at : {std::size_t{0}, std::size_t{4096}, good.size() / 2}) {
    SCOPED_TRACE(at);
    std::string bad = good;
    for (std::size_t i = at; i < at + 1024; ++i)
      bad[i] = static_cast<char>(~bad[i]);
    write(bad);
    expect_fresh_start(bad);
  }
}

TEST_F(DatabaseTest, ATruncatedFileGivesAFreshStart) {
  fill();
  const std::string bad = content().substr(0, content().size() / 2 + 100);
  write(bad);
  expect_fresh_start(bad);
}

TEST_F(DatabaseTest, AFileOfZeroLengthGivesAFreshStartThatIsTold) {
  fill();
  write("");
  expect_fresh_start("");
}

TEST_F(DatabaseTest, TheWriteAheadLogMovesWithItsFile) {
  write("this is not SQLite, but there is something to lose in it");
  std::ofstream(path_ + "-wal") << "log";
  ASSERT_TRUE(open());
  EXPECT_TRUE(fs::exists(moved_aside_ + "-wal"));
}

TEST_F(DatabaseTest, AMissingFolderIsAClearError) {
  path_ = folder_.file("absent/store.db");
  Result<Database> database = open();
  ASSERT_FALSE(database);
  EXPECT_THAT(database.error().message, HasSubstr("absent does not exist; create it"));
}

TEST_F(DatabaseTest, AFolderInPlaceOfTheFileIsAClearError) {
  path_ = folder_.path();
  Result<Database> database = open();
  ASSERT_FALSE(database);
  EXPECT_THAT(database.error().message, HasSubstr("is a folder; name a file in it"));
}

TEST_F(DatabaseTest, AFolderThatCannotBeWrittenIsAClearError) {
  // Root may write everywhere but into kernel file systems.
  if (::geteuid() == 0) {
    path_ = "/proc/store.db";
  } else {
    ::chmod(folder_.path().c_str(), 0500);
  }
  Result<Database> database = open();
  ::chmod(folder_.path().c_str(), 0700);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, ErrorCode::kForbidden) << database.error().message;
}

TEST_F(DatabaseTest, AReaderCannotWrite) {
  fill();
  Result<Database> reader = Database::open_reader(path_, 0.1);
  ASSERT_TRUE(reader);
  EXPECT_EQ(*reader->query_integer("SELECT count(*) FROM t"), 2000);
  EXPECT_FALSE(reader->execute("DELETE FROM t"));
}

TEST_F(DatabaseTest, ATransactionNotCommittedIsRolledBack) {
  Result<Database> database = open();
  ASSERT_TRUE(database);
  {
    Result<Transaction> transaction = Transaction::begin(*database);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(database->execute("INSERT INTO t VALUES(1, 'lost')"));
  }
  EXPECT_EQ(*database->query_integer("SELECT count(*) FROM t"), 0);
}

TEST_F(DatabaseTest, TheFilesDisappearanceIsNoticed) {
  Result<Database> database = open();
  ASSERT_TRUE(database);
  EXPECT_TRUE(database->still_in_place());
  fs::remove(path_);
  EXPECT_FALSE(database->still_in_place());
}

}  // namespace
}  // namespace slackline::store
