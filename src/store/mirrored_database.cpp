#include "store/mirrored_database.h"

#include <optional>
#include <utility>

#include "slackline/base/file_kind.h"

namespace slackline::store {
namespace {

constexpr const char* kCreateRevision =
    "CREATE TABLE revision(value INTEGER NOT NULL); INSERT INTO revision VALUES(0)";

Result<Database> open_one(const DatabaseOptions& options, MirroredDatabase::Recovery& recovery) {
  std::string moved_aside;
  SLACKLINE_ASSIGN(Database database, Database::open_or_recover(options, moved_aside));
  if (!moved_aside.empty()) recovery.moved_aside.push_back(std::move(moved_aside));
  return database;
}

bool is_there(const std::string& path) {
  return file_kind(path) != FileKind::kNothing;
}

Result<std::int64_t> revision_of(Database& database) {
  return database.query_integer("SELECT value FROM revision");
}

}  // namespace

Result<MirroredDatabase> MirroredDatabase::open(const DatabaseOptions& options,
                                                Recovery& recovery) {
  DatabaseOptions both = options;
  both.migrations.insert(both.migrations.begin(), kCreateRevision);
  if (!in_memory(options.path)) SLACKLINE_TRY(check_place(options.path + ".mirror"));
  const bool both_there = is_there(options.path) && is_there(options.path + ".mirror");
  SLACKLINE_ASSIGN(Database primary, open_one(both, recovery));
  if (in_memory(options.path)) return MirroredDatabase(std::move(primary), std::nullopt);
  both.path += ".mirror";
  SLACKLINE_ASSIGN(Database mirror, open_one(both, recovery));
  MirroredDatabase database(std::move(primary), std::move(mirror));
  SLACKLINE_ASSIGN(const bool copied, database.reconcile());
  // One that is whole, and as new as the one that was begun again, has nothing to be copied.
  recovery.restored = copied || (both_there && recovery.moved_aside.size() == 1);
  return database;
}

Result<bool> MirroredDatabase::reconcile() {
  if (!mirror_) return false;
  SLACKLINE_ASSIGN(const std::int64_t primary, revision_of(primary_));
  SLACKLINE_ASSIGN(const std::int64_t mirror, revision_of(*mirror_));
  if (primary == mirror) return false;
  SLACKLINE_TRY(primary > mirror ? mirror_->copy_from(primary_) : primary_.copy_from(*mirror_));
  return true;
}

Status MirroredDatabase::write(const std::function<Status(Database&)>& change) {
  SLACKLINE_TRY(reconcile());
  std::vector<Database*> databases{&primary_};
  if (mirror_) databases.push_back(&*mirror_);
  std::vector<Transaction> transactions;
  transactions.reserve(databases.size());
  for (Database* database : databases) {
    SLACKLINE_ASSIGN(Transaction transaction, Transaction::begin(*database));
    transactions.push_back(std::move(transaction));
  }
  for (Database* database : databases) {
    SLACKLINE_TRY(change(*database));
    SLACKLINE_TRY(database->execute("UPDATE revision SET value = value + 1"));
  }
  for (Transaction& transaction : transactions)
    SLACKLINE_TRY(transaction.commit());
  return {};
}

}  // namespace slackline::store
