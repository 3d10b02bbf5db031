// HistoryTable: finished tasks, and the predictions of plans for tasks that have not ended.
//
// A task is kept once, however often it is reported: its uid is the key. Rows are deleted by the
// end of their task, the oldest first. Threads: as its Database, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/finished_task.h"
#include "store/database.h"

namespace slackline::store {

inline constexpr std::int64_t kMaxHistoryRows = 200000;

// The scripts that create the tables and, later, columns of what was used, of what became of it, of
// how it would have gone, of what it is and of how long it ran; and the required ones.
std::string_view history_schema();
std::string_view history_with_resizes();
std::string_view history_adds_use();
std::string_view history_adds_deletion();
std::string_view history_adds_shadow();
std::string_view history_adds_kind();
std::string_view history_adds_held();
std::string history_probe();

class HistoryTable {
 public:
  static Result<HistoryTable> prepare(Database& database);

  // The predicted run time of the task, by its plan; the last one counts.
  Status predict(const Uid& task, double predicted_s, double now_s);
  // The task with its predictions; nullopt if it is there already.
  Result<std::optional<FinishedTask>> insert(const FinishedTask& task);
  // The same of what another replica knows of the task; where it is there already, what either
  // knows better counts.
  Status restore(const FinishedTask& task);
  // What the task used, in place of what was said before; nothing if it is not there.
  Status measure(const Uid& task, const MeasuredUse& use);
  // How the task would have gone, in place of what was said before; nothing if it is not there.
  Status shadow(const Uid& task, const ShadowRun& run);
  // Deletes at most `slice` rows that ended before `before_s`, or are older than the newest
  // `keep_rows`; true when more are left to delete. Predictions made before then are deleted, too.
  Result<bool> prune(double before_s, std::int64_t keep_rows, std::int64_t slice);

 private:
  HistoryTable(Statement predict, Statement insert, Statement restore, Statement settle,
               Statement measure, Statement shadow, Statement beyond, Statement prune,
               Statement forget);

  Statement predict_;
  Statement insert_;
  Statement restore_;
  Statement settle_;
  Statement measure_;
  Statement shadow_;
  Statement beyond_;
  Statement prune_;
  Statement forget_;
};

// `query` must have a limit in 1..1000. kInvalidArgument: `continue_from` was not made by this
// table.
Result<HistoryPage> read_history(Database& database, const HistoryQuery& query);

}  // namespace slackline::store
