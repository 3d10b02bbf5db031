// KeptDatabase: a mirrored database that stays in use whatever happens to its files (F30-F34).
//
// One daemon has it. A file that is damaged or deleted at run time is restored from its twin, and
// the change is repeated. If the disk refuses the files at the start, it is closed: writes try to
// open it, and report why they cannot.
//
// Threads: one at a time. Errors as in database.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "store/mirrored_database.h"
#include "store/store_lock.h"

namespace slackline::store {

// Damage found since open(), by whether the twin of the damaged file had everything.
struct StoreDamage {
  int restored = 0;
  int lost = 0;
  std::string moved_to;  // the lost files' new names: "a.damaged-1, b.damaged-1"
};

class KeptDatabase {
 public:
  // `name` begins the names of its log lines: "model_store_damaged". Errors: a newer schema or
  // another program's file (left untouched), no folder, another daemon on the same file. The path
  // kNoFile: in memory, without a twin.
  static Result<KeptDatabase> open(DatabaseOptions options, std::string name);

  bool is_open() const { return database_.has_value(); }
  // Why it is closed; empty while it is open.
  const std::string& closed() const { return closed_; }
  // Opens it again: closed before, or damaged.
  Status reopen();
  Status write(const std::function<Status(Database&)>& change);
  // While it is open.
  Database& primary() { return database_->primary(); }
  const StoreDamage& damage() const { return damage_; }

 private:
  KeptDatabase(DatabaseOptions options, std::string name)
      : options_(std::move(options)), name_(std::move(name)) {}

  DatabaseOptions options_;
  std::string name_;
  std::optional<StoreLock> lock_;
  std::optional<MirroredDatabase> database_;
  StoreDamage damage_;
  std::string closed_;
};

// Calls `row` for each row that the query finds.
Status each_row(Statement& query, const std::function<Status(const Statement&)>& row);

}  // namespace slackline::store
