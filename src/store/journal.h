// Journal: the decision journal and the finished tasks, in SQLite. Only history lives here: it may
// be deleted at any time without a scheduling decision changing.
//
// Threads: one writer thread owns the writing connection; append(), predict(), measured(),
// shadowed() and record_outcome() only enqueue into a bounded queue and never wait (a full queue
// drops and counts). Each query opens its own connection. Everything here is thread-safe.
// Durability: WAL, synchronous=FULL, batches of at most 200 rows or 200 ms. While the disk is full
// or the file locked the journal is degraded: rows wait in the queue and are dropped when it is
// full; it recovers by itself. It may start degraded. A file that is damaged or deleted at run time
// is replaced by a new one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/decision.h"
#include "slackline/model/finished_task.h"

namespace slackline::store {

// Decisions, and finished tasks, of a journal in memory: some 40 MB.
inline constexpr std::int64_t kMostRowsInMemory = 20000;

struct JournalOptions {
  std::string path;                  // file, its folder must exist; kNoFile: in memory
  std::size_t queue_limit = 10000;   // rows waiting for the writer
  std::int64_t keep_rows = 1000000;  // older ones are deleted in slices
  double busy_timeout_s = 5;
  double keep_history_s = 90 * 86400.0;     // finished tasks; those that ended earlier are deleted
  std::int64_t keep_history_rows = 200000;  // and never more than these
  std::int64_t first_id =
      1;  // of the first decision of a new file; before it is room for restored ones
  std::size_t history_queue_limit = 50000;  // finished tasks waiting for the writer, besides rows
  // Called for each finished task once in the life of the file, when it is on disk, with its
  // predictions; on the writer's thread, so it must not block. May be empty.
  std::function<void(const FinishedTask&)> finished = {};
};

struct JournalStats {
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;
  std::uint64_t queued = 0;
  std::uint64_t unreadable = 0;  // damaged rows left out of answers, each time
  bool degraded = false;         // the disk refuses or the file is locked
  std::string problem;           // while degraded: which file, why, and the remedy
  std::uint64_t damaged = 0;     // times the file was found damaged
  std::string recovered_from;    // where a damaged file was moved last; empty = none
};

class Journal {
 public:
  // Opens or creates the file, checks it (quick_check; a damaged one is moved aside with a
  // timestamp), starts the writer. If the disk refuses, the journal is degraded. Errors: a newer
  // schema or another program's file (left untouched), no folder, another daemon on the same file.
  static Result<std::unique_ptr<Journal>> open(const JournalOptions& options);
  ~Journal();  // flushes and stops

  // False when the row was dropped.
  bool append(DecisionRow row);
  // A repeated task is ignored. One that ended before the kept time is left out. False if it was
  // dropped: report it again.
  bool append(FinishedTask task);
  // The same of a task that another replica has counted: nobody is told. Where the task is here
  // already, what either knows better is kept: an earlier start, more GPU-hours, a prediction, what
  // it used and how it would have gone.
  bool restore(FinishedTask task);
  // A decision of another replica that is older than all that are here; left out where it is
  // here already, and where there is no room before them. False when it was dropped.
  bool restore(DecisionRow row);
  // The predicted run time of the task, by its plan at the release; false if it was dropped.
  bool predict(const Uid& task, double predicted_s);
  // What a finished task used, in place of what was said before; false if it was dropped.
  bool measured(const Uid& task, const MeasuredUse& use);
  // How a finished task would have gone, likewise.
  bool shadowed(const Uid& task, const ShadowRun& run);
  // The outcome goes to the newest bind (or else filter) row of that pod without one.
  bool record_outcome(const Uid& pod, DecisionOutcome outcome);

  // Damaged rows are left out, logged and counted: a page may have fewer rows than its limit, even
  // none, and yet go on.
  Result<JournalPage> query(const JournalQuery& query) const;
  Result<HistoryPage> history(const HistoryQuery& query) const;
  JournalStats stats() const;
  // Waits until everything enqueued before is on disk, or the time is over.
  bool flush(double timeout_s);

 private:
  class Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::store
