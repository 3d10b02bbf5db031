#include "store/portrait_store.h"

#include <utility>

namespace slackline::store {
namespace {

constexpr const char* kCreatePortraits =
    "CREATE TABLE portraits(key TEXT PRIMARY KEY, last_s REAL NOT NULL, bytes BLOB NOT NULL)";
constexpr int kPageBytes = 16384;  // some eight portraits

}  // namespace

Result<PortraitStore> PortraitStore::open(const std::string& path, double busy_timeout_s) {
  DatabaseOptions options;
  options.path = path;
  options.migrations = {kCreatePortraits};
  options.busy_timeout_s = busy_timeout_s;
  options.application_id = kPortraitFile;
  options.probes = {"SELECT key, last_s, bytes FROM portraits", "SELECT value FROM revision"};
  options.page_bytes = kPageBytes;
  SLACKLINE_ASSIGN(KeptDatabase database, KeptDatabase::open(std::move(options), "portrait_store"));
  return PortraitStore(std::move(database));
}

Status PortraitStore::write(const std::vector<StoredPortrait>& portraits,
                            const std::vector<std::string>& forgotten) {
  return database_.write([&](Database& database) -> Status {
    SLACKLINE_ASSIGN(Statement put,
                     database.prepare("INSERT INTO portraits VALUES(?1, ?2, ?3) ON CONFLICT(key) "
                                      "DO UPDATE SET last_s = ?2, bytes = ?3"));
    for (const StoredPortrait& portrait : portraits)
      SLACKLINE_TRY(put.bind_all(portrait.key, portrait.last_s, Bytes{portrait.bytes}).run());
    SLACKLINE_ASSIGN(Statement forget, database.prepare("DELETE FROM portraits WHERE key = ?"));
    for (const std::string& key : forgotten)
      SLACKLINE_TRY(forget.bind_all(key).run());
    return {};
  });
}

Result<std::vector<StoredPortrait>> PortraitStore::all() {
  std::vector<StoredPortrait> portraits;
  if (!database_.is_open()) return portraits;
  SLACKLINE_ASSIGN(Statement query, database_.primary().prepare(
                                        "SELECT key, last_s, bytes FROM portraits ORDER BY key"));
  SLACKLINE_TRY(each_row(query, [&](const Statement& row) -> Status {
    portraits.push_back({row.text(0), row.real(1), row.text(2)});
    return {};
  }));
  return portraits;
}

}  // namespace slackline::store
