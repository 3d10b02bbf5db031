#include "store/database.h"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slackline/base/clock.h"
#include "slackline/base/file_kind.h"
#include "slackline/base/text.h"

namespace slackline::store {
namespace {

constexpr std::string_view kMemory = "file:/slackline-memory-";
constexpr int kCheckpointBytes = 4'096'000;  // SQLite's own 1,000 pages of 4,096

ErrorCode error_code(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL:
      return ErrorCode::kUnavailable;
    case SQLITE_FULL:
      return ErrorCode::kResourceExhausted;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return ErrorCode::kForbidden;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kDataLoss;
    default:
      return ErrorCode::kInternal;
  }
}

tl::unexpected<Error> sqlite_failure(sqlite3* connection, int code) {
  const char* text = connection == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection);
  return fail(error_code(code), format("SQLite: {} ({})", text, code));
}

// SQLite's own message for a folder that cannot be written is only "unable to open database file".
Status check_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, error))
    return fail(ErrorCode::kNotFound,
                format("the folder {} does not exist; create it or set another store path",
                       folder.string()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(
        ErrorCode::kForbidden,
        format("the folder {} cannot be written by user {}; SQLite keeps its -wal file there",
               folder.string(), ::geteuid()));
  return {};
}

Status check_kind(const std::string& file) {
  const FileKind kind = file_kind(file);
  if (kind == FileKind::kNothing || kind == FileKind::kRegular) return {};
  if (kind == FileKind::kFolder)
    return fail(ErrorCode::kInvalidArgument,
                format("{} is a folder; name a file in it, e.g. {}/slackline.db", file, file));
  return fail(ErrorCode::kInvalidArgument,
              format("{} is {}, and was left as it is: a store is a regular file; name another, or "
                     "--store {}, which writes no file",
                     file, to_string(kind), kNoFile));
}

// -wal and -shm first: if the process dies in between, the database still looks damaged and is
// moved next time.
Result<std::string> move_aside(const std::string& path) {
  const std::time_t now = static_cast<std::time_t>(system_clock().wall_s());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  std::string target = format("{}.damaged-{}", path, stamp);
  std::error_code error;
  for (int i = 2; std::filesystem::exists(target, error); ++i)
    target = format("{}.damaged-{}-{}", path, stamp, i);
  for (const char* suffix : {"-wal", "-shm", ""}) {
    if (std::rename((path + suffix).c_str(), (target + suffix).c_str()) != 0 && errno != ENOENT)
      return fail(ErrorCode::kForbidden,
                  format("{}{} is damaged and cannot be moved to {}: {}", path, suffix, target,
                         std::generic_category().message(errno)));
  }
  return target;
}

// SQLite makes -wal and -shm with the rights of the file itself.
void make_private(const std::string& path) {
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) ::close(made);
}

// Of a file that Slackline wrote, maybe with the rights of an older version.
void take_rights_of_others(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const char* suffix : {"", "-wal", "-shm"})
    if (file_kind(path + suffix) == FileKind::kRegular)
      fs::permissions(path + suffix, fs::perms::others_all, fs::perm_options::remove, error);
}

// SQLite makes -wal and -shm with the rights that the file has then: of one that was read-only for
// a while they stay so, and keep it from being written.
void let_owner_write_beside(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr fs::perms kWrite = fs::perms::owner_write;
  std::error_code error;
  if ((fs::status(path, error).permissions() & kWrite) == fs::perms::none) return;
  for (const char* suffix : {"-wal", "-shm"})
    if (file_kind(path + suffix) == FileKind::kRegular)
      fs::permissions(path + suffix, kWrite, fs::perm_options::add, error);
}

// A file that could not be created on a full disk must not look damaged the next time.
void remove_beginnings(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm", ""})
    static_cast<void>(::unlink((path + suffix).c_str()));
}

bool exists_but_empty(const std::string& path) {
  std::error_code error;
  return file_kind(path) == FileKind::kRegular && std::filesystem::file_size(path, error) == 0;
}

}  // namespace

std::string location_of(const std::string& path) {
  static std::atomic<int> stores{0};
  return path == kNoFile ? format("{}{}?vfs=memdb", kMemory, ++stores) : path;
}

bool in_memory(const std::string& path) {
  return path.starts_with(kMemory);
}

Status check_place(const std::string& path) {
  SLACKLINE_TRY(check_folder(path));
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    SLACKLINE_TRY(check_kind(path + suffix));
  return {};
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::note(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

Statement& Statement::bind(int index, std::int64_t value) {
  note(sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

Statement& Statement::bind(int index, double value) {
  note(sqlite3_bind_double(statement_.get(), index, value));
  return *this;
}

Statement& Statement::bind(int index, const std::optional<double>& value) {
  if (value) return bind(index, *value);
  note(sqlite3_bind_null(statement_.get(), index));
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  const char* data = value.empty() ? "" : value.data();
  note(sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_TRANSIENT,
                           SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int index, const Bytes& bytes) {
  const char* data = bytes.value.empty() ? "" : bytes.value.data();
  note(sqlite3_bind_blob64(statement_.get(), index, data, bytes.value.size(), SQLITE_TRANSIENT));
  return *this;
}

Result<bool> Statement::step() {
  sqlite3* connection = sqlite3_db_handle(statement_.get());
  const int code = bind_error_ != SQLITE_OK ? bind_error_ : sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  Result<bool> failure = sqlite_failure(connection, code);
  reset();
  return failure;
}

Status Statement::run() {
  for (;;) {
    SLACKLINE_ASSIGN(const bool more, step());
    if (!more) return {};
  }
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  bind_error_ = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const bool bytes = sqlite3_column_type(statement_.get(), column) == SQLITE_BLOB;
  const void* data = bytes ? sqlite3_column_blob(statement_.get(), column)
                           : sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr) return {};
  return std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

Result<Database> Database::connect(const std::string& path, int flags, double busy_timeout_s) {
  sqlite3* connection = nullptr;
  if (in_memory(path)) flags |= SQLITE_OPEN_URI;
  const int code = sqlite3_open_v2(path.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(connection);
  if (code != SQLITE_OK) return sqlite_failure(connection, code);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, static_cast<int>(busy_timeout_s * 1000));
  return database;
}

Result<Database> Database::open_checked(const DatabaseOptions& options, bool& ours) {
  const bool is_file = !in_memory(options.path);
  if (is_file) make_private(options.path);
  if (is_file && ours) let_owner_write_beside(options.path);
  SLACKLINE_ASSIGN(
      Database database,
      connect(options.path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, options.busy_timeout_s));
  // Until the file is known to be Slackline's, closing must not checkpoint into it.
  sqlite3* connection = database.connection_.get();
  sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  SLACKLINE_ASSIGN(const bool written_by_us, database.check_origin(options));
  ours = ours || written_by_us;
  SLACKLINE_TRY(database.check_integrity());
  if (is_file && written_by_us) take_rights_of_others(options.path);
  SLACKLINE_TRY(database.execute(format("PRAGMA page_size={}", options.page_bytes)));
  SLACKLINE_TRY(
      database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                       "PRAGMA foreign_keys=ON"));
  SLACKLINE_TRY(database.execute(
      format("PRAGMA wal_autocheckpoint={}", kCheckpointBytes / options.page_bytes)));
  SLACKLINE_TRY(database.migrate(options));
  SLACKLINE_TRY(database.check_tables(options));
  sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  if (is_file) database.remember_file(options.path);
  return database;
}

Result<Database> Database::open_or_recover(const DatabaseOptions& options,
                                           std::string& moved_aside) {
  const auto context = [&](const Error& error) {
    return fail(error.with_context(format("opening the store {}", options.path)));
  };
  bool ours = options.used_before;
  if (in_memory(options.path)) return open_checked(options, ours);
  if (Status place = check_place(options.path); !place) return context(place.error());
  if (!ours || !exists_but_empty(options.path)) {
    const bool there = file_kind(options.path) != FileKind::kNothing;
    ours = ours || !there;
    Result<Database> database = open_checked(options, ours);
    if (database) return database;
    if (!there) remove_beginnings(options.path);
    if (database.error().code == ErrorCode::kUnavailable)
      return context(database.error().with_context("is another process holding it?"));
    if (database.error().code != ErrorCode::kDataLoss) return context(database.error());
    if (!ours)
      return context(Error{ErrorCode::kInvalidArgument,
                           format("the file is not a store that Slackline made, or its .lock is "
                                  "gone; it was left untouched; move it away, or set another store "
                                  "path ({})",
                                  database.error().message)});
  }
  Result<std::string> target = move_aside(options.path);
  if (!target) return context(target.error());
  moved_aside = *target;
  Result<Database> fresh = open_checked(options, ours);
  if (fresh) return fresh;
  remove_beginnings(options.path);
  return context(fresh.error());
}

Result<Database> Database::open_reader(const std::string& path, double busy_timeout_s) {
  if (!in_memory(path)) SLACKLINE_TRY(check_kind(path));
  // Not SQLITE_OPEN_READONLY: a reader of a WAL file must be able to create the shared memory.
  SLACKLINE_ASSIGN(Database database, connect(path, SQLITE_OPEN_READWRITE, busy_timeout_s));
  SLACKLINE_TRY(database.execute("PRAGMA query_only=ON"));
  return database;
}

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return sqlite_failure(connection_.get(), code);
  return {};
}

Status Database::copy_from(Database& source) {
  sqlite3_backup* backup =
      sqlite3_backup_init(connection_.get(), "main", source.connection_.get(), "main");
  if (backup == nullptr)
    return sqlite_failure(connection_.get(), sqlite3_errcode(connection_.get()));
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) return sqlite_failure(nullptr, code);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) return sqlite_failure(connection_.get(), code);
  return Statement(statement);
}

Result<std::int64_t> Database::query_integer(std::string_view sql) {
  SLACKLINE_ASSIGN(Statement statement, prepare(sql));
  SLACKLINE_ASSIGN(const bool found, statement.step());
  return found ? statement.integer(0) : 0;
}

Result<bool> Database::check_origin(const DatabaseOptions& options) {
  const auto newest = static_cast<std::int64_t>(options.migrations.size());
  SLACKLINE_ASSIGN(const std::int64_t application, query_integer("PRAGMA application_id"));
  SLACKLINE_ASSIGN(const std::int64_t version, query_integer("PRAGMA user_version"));
  SLACKLINE_ASSIGN(const std::int64_t objects, query_integer("SELECT count(*) FROM sqlite_schema"));
  if (application != options.application_id && (application != 0 || version != 0 || objects != 0))
    return fail(ErrorCode::kInvalidArgument,
                "the file is a database of another program or purpose; it was left untouched; set "
                "another store "
                "path");
  if (version > newest)
    return fail(ErrorCode::kInvalidArgument,
                format("the file has schema version {}, this program knows up to {}; it was left "
                       "untouched; run a newer Slackline or set another store path",
                       version, newest));
  if (version < 0 || (version == 0 && objects > 0))
    return fail(ErrorCode::kDataLoss,
                format("it has schema version {}, which no Slackline wrote", version));
  return application == options.application_id;
}

Status Database::check_integrity() {
  SLACKLINE_ASSIGN(Statement statement, prepare("PRAGMA quick_check(1)"));
  SLACKLINE_ASSIGN(const bool found, statement.step());
  const std::string answer = found ? statement.text(0) : "no answer";
  if (answer != "ok") return fail(ErrorCode::kDataLoss, format("quick_check: {}", answer));
  return {};
}

Status Database::check_tables(const DatabaseOptions& options) {
  for (const std::string& probe : options.probes)
    if (const auto statement = prepare(probe); !statement) {
      if (statement.error().code != ErrorCode::kInternal) return fail(statement.error());
      return fail(ErrorCode::kDataLoss,
                  format("its tables are not those of Slackline: {}", statement.error().message));
    }
  return {};
}

Status Database::migrate(const DatabaseOptions& options) {
  const std::size_t newest = options.migrations.size();
  SLACKLINE_ASSIGN(const std::int64_t version, query_integer("PRAGMA user_version"));
  if (static_cast<std::size_t>(version) == newest) return {};
  SLACKLINE_ASSIGN(Transaction transaction, Transaction::begin(*this));
  for (auto step = static_cast<std::size_t>(version); step < newest; ++step)
    SLACKLINE_TRY(execute(options.migrations[step]));
  SLACKLINE_TRY(execute(
      format("PRAGMA application_id={}; PRAGMA user_version={}", options.application_id, newest)));
  return transaction.commit();
}

void Database::remember_file(const std::string& path) {
  path_ = path;
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0) return;
  device_ = file.st_dev;
  inode_ = file.st_ino;
}

bool Database::still_in_place() const {
  if (path_.empty()) return true;
  struct stat file{};
  return ::stat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_;
}

bool needs_a_person(ErrorCode code) {
  return code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound ||
         code == ErrorCode::kConflict;
}

Result<Transaction> Transaction::begin(Database& database) {
  SLACKLINE_TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(other.database_) {
  other.database_ = nullptr;
}

Transaction::~Transaction() {
  // SQLite itself has rolled back after some errors; then there is nothing left to do.
  if (database_ != nullptr && sqlite3_get_autocommit(database_->connection_.get()) == 0)
    static_cast<void>(database_->execute("ROLLBACK"));
}

Status Transaction::commit() {
  SLACKLINE_TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace slackline::store
