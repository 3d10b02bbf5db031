// DecisionTable: the journal's one table and the SQL that touches it.
//
// Rows are only appended and pruned from the old end, so ids are consecutive and never used again.
// Threads: as its Database, one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/decision.h"
#include "store/database.h"
#include "store/journal.h"

namespace slackline::store {

// The journal's file: its schema, and the required tables.
DatabaseOptions decision_file(std::string path, double busy_timeout_s);

class DecisionTable {
 public:
  // An empty table begins with the id `first_id`.
  static Result<DecisionTable> prepare(Database& database, std::int64_t first_id);

  Status insert(const DecisionRow& row);
  // Before all others, with its outcome; nothing where it is here already, or the oldest has the
  // id 1.
  Status restore(const DecisionRow& row);
  // It is not an error if no row can take the outcome: the pod was decided before this journal
  // began.
  Status set_outcome(const Uid& pod, const DecisionOutcome& outcome);
  // Deletes at most `slice` rows beyond the newest `keep_rows`; true when more are left to delete.
  // Later rows reuse freed pages: the file stops growing, it does not shrink.
  Result<bool> prune(std::int64_t keep_rows, std::int64_t slice);

 private:
  DecisionTable(Statement insert, Statement restore, Statement outcome, Statement extent,
                Statement prune);

  Statement insert_;
  Statement restore_;
  Statement outcome_;
  Statement extent_;
  Statement prune_;
};

// `query` must have a limit in 1..1000. Damaged rows are left out of the page and named in
// `unreadable`.
Result<JournalPage> read_decisions(Database& database, const JournalQuery& query,
                                   std::vector<Error>& unreadable);

}  // namespace slackline::store
