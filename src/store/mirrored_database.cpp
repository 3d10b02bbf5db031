#include "store/mirrored_database.h"

#include <utility>

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

Result<std::int64_t> revision_of(Database& database) {
  return database.query_integer("SELECT value FROM revision");
}

}  // namespace

Result<MirroredDatabase> MirroredDatabase::open(const DatabaseOptions& options,
                                                Recovery& recovery) {
  DatabaseOptions both = options;
  both.migrations.insert(both.migrations.begin(), kCreateRevision);
  SLACKLINE_ASSIGN(Database primary, open_one(both, recovery));
  both.path += ".mirror";
  SLACKLINE_ASSIGN(Database mirror, open_one(both, recovery));
  MirroredDatabase database(std::move(primary), std::move(mirror));
  SLACKLINE_ASSIGN(recovery.restored, database.reconcile());
  return database;
}

Result<bool> MirroredDatabase::reconcile() {
  SLACKLINE_ASSIGN(const std::int64_t primary, revision_of(primary_));
  SLACKLINE_ASSIGN(const std::int64_t mirror, revision_of(mirror_));
  if (primary == mirror) return false;
  SLACKLINE_TRY(primary > mirror ? mirror_.copy_from(primary_) : primary_.copy_from(mirror_));
  return true;
}

Status MirroredDatabase::write(const std::function<Status(Database&)>& change) {
  SLACKLINE_TRY(reconcile());
  SLACKLINE_ASSIGN(Transaction first, Transaction::begin(primary_));
  SLACKLINE_ASSIGN(Transaction second, Transaction::begin(mirror_));
  for (Database* database : {&primary_, &mirror_}) {
    SLACKLINE_TRY(change(*database));
    SLACKLINE_TRY(database->execute("UPDATE revision SET value = value + 1"));
  }
  SLACKLINE_TRY(first.commit());
  return second.commit();
}

}  // namespace slackline::store
