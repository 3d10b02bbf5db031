// Database, Statement, Transaction: SQLite as values that close themselves.
//
// Open rules (F33): WAL, synchronous=FULL, quick_check before use. A damaged file is moved aside
// together with its -wal and -shm as NAME.damaged-<UTC time>, and a new one begun. A file written
// by a newer schema, or by another program, is refused and left untouched, and so is all that is
// not a regular file. A file of Slackline that lacks its tables is damaged. New files are for their
// owner only (0600); the rights of others to an old one of Slackline's are removed.
//
// Threads: a Database and its statements belong to one thread at a time.
// Errors: kUnavailable = locked or the disk fails, kResourceExhausted = disk full, kForbidden = not
// writable; these three may pass without action. kDataLoss = damaged. Others are bugs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace slackline::store {

struct Bytes {
  std::string_view value;
};

class Statement {
 public:
  // Parameters count from 1. A failed bind comes back from the next step().
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view value);
  Statement& bind(int index, const std::optional<double>& value);  // NULL if there is none
  Statement& bind(int index, const Bytes& value);
  // All parameters, from 1 on.
  template <class... Values>
  Statement& bind_all(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }

  // True: there is a row. False: done, and the statement is ready for the next run.
  Result<bool> step();
  // Runs to the end, ignoring rows.
  Status run();
  void reset();

  // Columns count from 0, of the row that the last step() found.
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;  // or bytes
  bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  void note(int code);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_error_ = 0;
};

// Distinguishes Slackline's files from those of other programs, and the journal ("SLKL") from the
// models and the portraits.
inline constexpr std::int64_t kJournalFile = 0x534c4b4c;
inline constexpr std::int64_t kModelFile = 0x534c4b4d;
inline constexpr std::int64_t kPortraitFile = 0x534c4b50;

struct DatabaseOptions {
  std::string path;
  // Script i lifts user_version from i to i + 1; all run in one transaction with the version.
  std::vector<std::string> migrations;
  double busy_timeout_s = 5;
  std::int64_t application_id = kJournalFile;
  // Statements that the newest schema must support; else somebody dropped its tables.
  std::vector<std::string> probes{};
  int page_bytes = 4096;  // of a new file: rows of half a page waste the other half
  // A Slackline has had its store at this path: what is there is its own, readable or not.
  bool used_before = false;
};

// Where a store lives whose path was set to this: at the path, or for kNoFile at a name of its own
// in memory. That database is open to every connection of this process while one is open.
std::string location_of(const std::string& path);
bool in_memory(const std::string& path);

// Whether the files of a store may be made here, or are here. kInvalidArgument: something else is
// in their place. kNotFound, kForbidden: the folder.
Status check_place(const std::string& path);

class Database {
 public:
  // Opens or creates, checks and migrates; `moved_aside` gets the new name of a damaged file.
  static Result<Database> open_or_recover(const DatabaseOptions& options, std::string& moved_aside);
  // A second connection for queries to a file that is open elsewhere; refuses to write.
  static Result<Database> open_reader(const std::string& path, double busy_timeout_s);

  Status execute(const std::string& sql);
  // Replaces the content of this database with that of `source`, in one transaction.
  Status copy_from(Database& source);
  Result<Statement> prepare(std::string_view sql);
  Result<std::int64_t> query_integer(std::string_view sql);
  // False once the file was deleted or replaced under the connection; it is never so in memory.
  bool still_in_place() const;

 private:
  friend class Transaction;
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit Database(sqlite3* connection) : connection_(connection) {}
  static Result<Database> connect(const std::string& path, int flags, double busy_timeout_s);
  static Result<Database> open_checked(const DatabaseOptions& options, bool& ours);
  Result<bool> check_origin(const DatabaseOptions& options);
  Status check_integrity();
  Status check_tables(const DatabaseOptions& options);
  Status migrate(const DatabaseOptions& options);
  void remember_file(const std::string& path);

  std::unique_ptr<sqlite3, Close> connection_;
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

// Errors of opening that need a person: the file is a newer Slackline's or another program's, its
// folder is missing, or another daemon has it. After all other errors the caller goes on without
// the store, and tries again.
bool needs_a_person(ErrorCode code);

// Takes the write lock at begin, rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace slackline::store
