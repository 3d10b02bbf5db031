#include "store/kept_database.h"

#include <utility>

#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::store {

Result<KeptDatabase> KeptDatabase::open(DatabaseOptions options, std::string name) {
  KeptDatabase kept(std::move(options), std::move(name));
  const Status opened = kept.reopen();
  if (!opened && needs_a_person(opened.error().code)) return fail(opened.error());
  return kept;
}

Status KeptDatabase::reopen() {
  const auto closed = [this](const Error& error) {
    if (!database_) closed_ = error.message;
    return fail(error);
  };
  if (!lock_) {
    auto lock = StoreLock::take(options_.path);
    if (!lock) return closed(lock.error());
    lock_ = std::move(*lock);
  }
  MirroredDatabase::Recovery recovery;
  auto opened = MirroredDatabase::open(options_, recovery);
  if (!recovery.moved_aside.empty()) {
    const std::string moved_to = join(recovery.moved_aside, ", ");
    obs::log_error(name_ + "_damaged", {{"path", options_.path},
                                        {"moved_to", moved_to},
                                        {"restored_from_twin", recovery.restored}});
    ++(recovery.restored ? damage_.restored : damage_.lost);
    if (!recovery.restored) damage_.moved_to = moved_to;
  }
  if (!opened) return closed(opened.error());
  database_.reset();  // before its files are opened by the new one
  database_.emplace(std::move(*opened));
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
