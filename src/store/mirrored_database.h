// MirroredDatabase: two SQLite files with the same content, so that damage to one of them loses
// nothing that was acknowledged (F30-F33).
//
// Every change is one transaction on each file and raises a revision in both; write() returns when
// both are on disk. Opening moves a damaged file aside and copies the file of the higher revision
// over the other. A change that failed on one file only is copied before the next one: it was not
// acknowledged, but may be found later.
//
// Threads: one at a time. Errors as in database.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/database.h"

namespace slackline::store {

class MirroredDatabase {
 public:
  // `options.path` is the primary, the one that readers open; the mirror is PATH.mirror. In memory
  // there is no mirror.
  // `moved_aside` gets the new names of damaged files; `restored` is true if one of them was copied
  // from the other, or if that shows that nothing was written yet.
  struct Recovery {
    std::vector<std::string> moved_aside;
    bool restored = false;
  };
  static Result<MirroredDatabase> open(const DatabaseOptions& options, Recovery& recovery);

  Status write(const std::function<Status(Database&)>& change);
  Database& primary() { return primary_; }
  // False once one of the files was deleted or replaced while open.
  bool still_in_place() const {
    return primary_.still_in_place() && (!mirror_ || mirror_->still_in_place());
  }

 private:
  MirroredDatabase(Database primary, std::optional<Database> mirror)
      : primary_(std::move(primary)), mirror_(std::move(mirror)) {}
  Result<bool> reconcile();

  Database primary_;
  std::optional<Database> mirror_;  // none in memory
};

}  // namespace slackline::store
