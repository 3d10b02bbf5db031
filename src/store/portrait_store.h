// PortraitStore: the portraits in SQLite, each as the bytes that core/portrait/packed.h makes.
//
// What a call has acknowledged is on disk twice (kept_database.h). Threads: one at a time. Errors
// as in database.h.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "store/kept_database.h"

namespace slackline::store {

struct StoredPortrait {
  std::string key;    // of the family
  double last_s = 0;  // the end of its last run, epoch seconds
  std::string bytes{};
};

class PortraitStore {
 public:
  // Errors as KeptDatabase::open().
  static Result<PortraitStore> open(const std::string& path, double busy_timeout_s = 5);

  const std::string& closed() const { return database_.closed(); }
  Status reopen() { return database_.reopen(); }
  const StoreDamage& damage() const { return database_.damage(); }

  // All or none: these replace what is there of their families, and `forgotten` families go.
  Status write(const std::vector<StoredPortrait>& portraits,
               const std::vector<std::string>& forgotten);
  // By key.
  Result<std::vector<StoredPortrait>> all();

 private:
  explicit PortraitStore(KeptDatabase database) : database_(std::move(database)) {}

  KeptDatabase database_;
};

}  // namespace slackline::store
