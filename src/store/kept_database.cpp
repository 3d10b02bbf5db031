#include "store/kept_database.h"

#include <utility>

#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::store {

Result<KeptDatabase> KeptDatabase::open(DatabaseOptions options, std::string name) {
  options.path = location_of(options.path);
  KeptDatabase kept(std::move(options), std::move(name));
  const Status opened = kept.reopen();
  if (!opened && needs_a_person(opened.error().code)) return fail(opened.error());
  return kept;
}

Status KeptDatabase::reopen() {
  MirroredDatabase::Recovery recovery;
  std::optional<MirroredDatabase> fresh;
  const Status opened = open_locked(lock_, options_.path, [&](bool used_before) -> Status {
    options_.used_before = used_before;
    SLACKLINE_ASSIGN(fresh, MirroredDatabase::open(options_, recovery));
    return {};
  });
  if (!recovery.moved_aside.empty()) {
    const std::string moved_to = join(recovery.moved_aside, ", ");
    obs::log_error(name_ + "_damaged", {{"path", options_.path},
                                        {"moved_to", moved_to},
                                        {"restored_from_twin", recovery.restored}});
    ++(recovery.restored ? damage_.restored : damage_.lost);
    if (!recovery.restored) damage_.moved_to = moved_to;
  }
  if (!opened) {
    if (!database_) closed_ = opened.error().message;
    return opened;
  }
  database_ = std::move(fresh);
  closed_.clear();
  return {};
}

Status KeptDatabase::write(const std::function<Status(Database&)>& change) {
  if (!database_ || !database_->still_in_place()) SLACKLINE_TRY(reopen());
  Status status = database_->write(change);
  if (status || status.error().code != ErrorCode::kDataLoss) return status;
  SLACKLINE_TRY(reopen());
  return database_->write(change);
}

Status each_row(Statement& query, const std::function<Status(const Statement&)>& row) {
  for (;;) {
    SLACKLINE_ASSIGN(const bool found, query.step());
    if (!found) return {};
    SLACKLINE_TRY(row(query));
  }
}

}  // namespace slackline::store
