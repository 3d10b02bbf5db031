#include "store/journal.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include "obs/log.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/text.h"
#include "store/database.h"
#include "store/decision_table.h"
#include "store/history_table.h"
#include "store/store_lock.h"

namespace slackline::store {
namespace {

constexpr std::size_t kBatchRows = 200;
constexpr double kBatchWait_s = 0.2;
constexpr std::int64_t kPruneSlice = 1000;
constexpr double kFirstRetry_s = 0.1;
constexpr double kLongestRetry_s = 2.0;
constexpr double kPruneHistoryEvery_s = 60;
constexpr std::size_t kMaxQueryLimit = 1000;
constexpr std::string_view kRemedy =
    "free the disk or make it writable (the file, and those with -wal and -shm beside it), or end "
    "the process that locks the file; until then rows wait in memory and are dropped when the "
    "queue is full; scheduling is unaffected";

struct OutcomeUpdate {
  Uid pod;
  DecisionOutcome outcome;
};
struct Prediction {
  Uid task;
  double predicted_s = 0;
  double made_s = 0;
};
struct Measurement {
  Uid task;
  MeasuredUse use;
};
struct Shadowed {
  Uid task;
  ShadowRun run;
};
struct Restored {
  FinishedTask task;
};
struct RestoredDecision {
  DecisionRow row;
};
using Entry = std::variant<DecisionRow, OutcomeUpdate, FinishedTask, Restored, RestoredDecision,
                           Prediction, Measurement, Shadowed>;

bool is_history(const Entry& entry) {
  return std::holds_alternative<FinishedTask>(entry) || std::holds_alternative<Restored>(entry);
}

// In memory less is kept.
JournalOptions kept_within(JournalOptions options) {
  options.path = location_of(options.path);
  if (!in_memory(options.path)) return options;
  options.keep_rows = std::min(options.keep_rows, kMostRowsInMemory);
  options.keep_history_rows = std::min(options.keep_history_rows, kMostRowsInMemory);
  return options;
}

// Errors that may pass without action: the batch is kept and tried again.
bool passes_by_itself(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kResourceExhausted ||
         code == ErrorCode::kForbidden || code == ErrorCode::kNotFound;
}

}  // namespace

// Members that only the writer uses have no lock; the rest is guarded by mutex_.
class Journal::Impl {
 public:
  explicit Impl(const JournalOptions& options) : options_(kept_within(options)) {}

  // Before start(). After an error that may pass without action the journal is degraded, and it is
  // no error.
  Status open_first();
  void start() {
    writer_ = std::thread([this] { write_until_stopped(); });
  }

  ~Impl() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      work_.notify_one();
    }
    if (writer_.joinable()) writer_.join();
  }

  // Finished tasks have room of their own: a flood of decisions does not drop them.
  bool enqueue(Entry entry);
  bool flush(double timeout_s);
  JournalStats stats() const;
  // A connection for one question.
  Result<Database> reader() const;
  void tell_unreadable(const std::vector<Error>& rows);

 private:
  struct File {
    Database database;
    DecisionTable table;
    HistoryTable history;
  };

  void write_until_stopped();
  // Fills batch_ unless a failed one is still in it; false when it is time to end.
  bool next_batch();
  Status write_batch();
  Status write(const Entry& entry);
  void prune();
  // Accounts for batch_ after an attempt to write it.
  void settle(Status status);
  // Enters degraded mode; false if the journal stops and the batch must be dropped.
  bool keep_for_retry(const Error& error);
  Status open_file();
  Status open_file(bool used_before);  // with the lock
  Status reopen();

  const JournalOptions options_;
  std::optional<StoreLock> lock_;
  std::optional<File> file_;  // none while it could not be opened yet
  std::vector<Entry> batch_;
  std::vector<FinishedTask> recorded_;  // of batch_, once it is on disk
  bool prune_behind_ = false;
  double prune_history_at_s_ = 0;  // steady
  double retry_s_ = kFirstRetry_s;
  double retry_at_s_ = 0;

  mutable Mutex mutex_;
  CondVar work_;     // for the writer: rows, flush or stop
  CondVar settled_;  // for flush()
  std::deque<Entry> queue_ SLACKLINE_GUARDED_BY(mutex_);
  JournalStats stats_ SLACKLINE_GUARDED_BY(mutex_);
  std::uint64_t accepted_ SLACKLINE_GUARDED_BY(mutex_) = 0;  // entries ever taken into the queue
  std::uint64_t finished_ SLACKLINE_GUARDED_BY(mutex_) = 0;  // of those: written or given up
  std::uint64_t given_up_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  int flushers_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
  std::thread writer_;
};

bool Journal::Impl::enqueue(Entry entry) {
  MutexLock lock(mutex_);
  // Rows in the writer's hands count too: the limit bounds memory, also while the disk refuses.
  const std::size_t limit =
      options_.queue_limit + (is_history(entry) ? options_.history_queue_limit : 0);
  if (accepted_ - finished_ >= limit) {
    ++stats_.dropped;
    return false;
  }
  queue_.push_back(std::move(entry));
  ++accepted_;
  if (queue_.size() == 1 || queue_.size() == kBatchRows) work_.notify_one();
  return true;
}

bool Journal::Impl::flush(double timeout_s) {
  const double deadline_s = system_clock().steady_s() + timeout_s;
  MutexLock lock(mutex_);
  const std::uint64_t target = accepted_;
  const std::uint64_t given_up_before = given_up_;
  ++flushers_;
  work_.notify_one();
  while (finished_ < target) {
    const double left_s = deadline_s - system_clock().steady_s();
    if (left_s <= 0) break;
    settled_.wait_for_s(mutex_, left_s);
  }
  --flushers_;
  return finished_ >= target && given_up_ == given_up_before;
}

JournalStats Journal::Impl::stats() const {
  MutexLock lock(mutex_);
  JournalStats stats = stats_;
  stats.queued = accepted_ - finished_;
  return stats;
}

void Journal::Impl::write_until_stopped() {
  while (next_batch())
    settle(write_batch());
}

bool Journal::Impl::next_batch() {
  MutexLock lock(mutex_);
  if (stats_.degraded) {
    for (;;) {
      const double left_s = retry_at_s_ - system_clock().steady_s();
      if (left_s <= 0 || stopping_) break;
      work_.wait_for_s(mutex_, left_s);
    }
    return !stopping_ || !batch_.empty() || !queue_.empty();
  }
  while (queue_.empty() && !stopping_ && !prune_behind_)
    work_.wait(mutex_);
  const double deadline_s = system_clock().steady_s() + kBatchWait_s;
  while (queue_.size() < kBatchRows && !stopping_ && !prune_behind_ && flushers_ == 0) {
    const double left_s = deadline_s - system_clock().steady_s();
    if (left_s <= 0) break;
    work_.wait_for_s(mutex_, left_s);
  }
  const std::size_t count = std::min(queue_.size(), kBatchRows);
  for (std::size_t i = 0; i < count; ++i) {
    batch_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return count > 0 || !stopping_;
}

Status Journal::Impl::write_batch() {
  if (!file_ || !file_->database.still_in_place()) SLACKLINE_TRY(reopen());
  recorded_.clear();
  if (!batch_.empty()) {
    SLACKLINE_ASSIGN(Transaction transaction, Transaction::begin(file_->database));
    for (const Entry& entry : batch_)
      SLACKLINE_TRY(write(entry));
    SLACKLINE_TRY(transaction.commit());
  }
  prune();
  return {};
}

Status Journal::Impl::write(const Entry& entry) {
  if (const auto* row = std::get_if<DecisionRow>(&entry)) return file_->table.insert(*row);
  if (const auto* older = std::get_if<RestoredDecision>(&entry))
    return file_->table.restore(older->row);
  if (const auto* update = std::get_if<OutcomeUpdate>(&entry))
    return file_->table.set_outcome(update->pod, update->outcome);
  if (const auto* prediction = std::get_if<Prediction>(&entry))
    return file_->history.predict(prediction->task, prediction->predicted_s, prediction->made_s);
  if (const auto* measured = std::get_if<Measurement>(&entry))
    return file_->history.measure(measured->task, measured->use);
  if (const auto* shadowed = std::get_if<Shadowed>(&entry))
    return file_->history.shadow(shadowed->task, shadowed->run);
  const auto* restored = std::get_if<Restored>(&entry);
  const FinishedTask& task = restored ? restored->task : std::get<FinishedTask>(entry);
  if (task.finished_s < system_clock().wall_s() - options_.keep_history_s) return {};
  if (!restored) {
    SLACKLINE_ASSIGN(auto recorded, file_->history.insert(task));
    if (recorded) recorded_.push_back(*std::move(recorded));
    return {};
  }
  SLACKLINE_TRY(file_->history.restore(task));
  if (task.use) SLACKLINE_TRY(file_->history.measure(task.uid, *task.use));
  if (task.shadow) SLACKLINE_TRY(file_->history.shadow(task.uid, *task.shadow));
  return {};
}

// The rows are on disk: a failure to prune must not repeat the write.
void Journal::Impl::prune() {
  const auto warn = [this](const Error& error) {
    obs::log_warning("journal_prune_failed", {{"path", options_.path}, {"error", error.message}});
  };
  Result<bool> more = file_->table.prune(options_.keep_rows, kPruneSlice);
  prune_behind_ = more.value_or(false);
  if (!more) warn(more.error());
  const double now_s = system_clock().steady_s();
  if (now_s < prune_history_at_s_) return;
  prune_history_at_s_ = now_s + kPruneHistoryEvery_s;
  more = file_->history.prune(system_clock().wall_s() - options_.keep_history_s,
                              options_.keep_history_rows, kPruneSlice);
  if (!more) return warn(more.error());
  if (!*more) return;
  prune_behind_ = true;
  prune_history_at_s_ = now_s;
}

Status Journal::Impl::open_file() {
  return open_locked(lock_, options_.path,
                     [this](bool used_before) { return open_file(used_before); });
}

Status Journal::Impl::open_file(bool used_before) {
  std::string moved_aside;
  DatabaseOptions file = decision_file(options_.path, options_.busy_timeout_s);
  file.used_before = used_before;
  auto opened = Database::open_or_recover(file, moved_aside);
  if (!moved_aside.empty()) {
    obs::log_error("journal_damaged",
                   {{"path", options_.path},
                    {"moved_to", moved_aside},
                    {"remedy",
                     "history, decisions and reports begin anew; those before are in the file that "
                     "was moved; check the disk; scheduling is unaffected"}});
    MutexLock lock(mutex_);
    ++stats_.damaged;
    stats_.recovered_from = moved_aside;
  }
  SLACKLINE_ASSIGN(Database database, std::move(opened));
  SLACKLINE_ASSIGN(DecisionTable table, DecisionTable::prepare(database, options_.first_id));
  SLACKLINE_ASSIGN(HistoryTable history, HistoryTable::prepare(database));
  if (!file_) {
    file_.emplace(File{std::move(database), std::move(table), std::move(history)});
    return {};
  }
  // The old statements must go before their connection.
  file_->table = std::move(table);
  file_->history = std::move(history);
  file_->database = std::move(database);
  return {};
}

Status Journal::Impl::open_first() {
  Status opened = open_file();
  if (opened) return {};
  if (needs_a_person(opened.error().code)) return opened;
  static_cast<void>(keep_for_retry(opened.error()));
  return {};
}

// After damage at run time, when somebody deleted the file, or when it could not be opened before:
// the history is lost, the journal goes on.
Status Journal::Impl::reopen() {
  const bool begun_anew = file_.has_value();
  SLACKLINE_TRY(open_file());
  if (begun_anew) obs::log_error("journal_begun_anew", {{"path", options_.path}});
  return {};
}

void Journal::Impl::settle(Status status) {
  if (!status && status.error().code == ErrorCode::kDataLoss) {
    status = reopen();
    if (status) status = write_batch();
  }
  if (!status && (!file_ || passes_by_itself(status.error().code))) {
    if (keep_for_retry(status.error())) return;
  } else if (!status) {
    obs::log_error("journal_batch_refused",
                   {{"path", options_.path}, {"error", status.error().message}});
  }
  const std::vector<Entry> done = std::exchange(batch_, {});
  const auto rows = static_cast<std::uint64_t>(std::count_if(
      done.begin(), done.end(), [](const Entry& entry) { return entry.index() == 0; }));
  if (status && options_.finished)
    for (const FinishedTask& task : recorded_)
      options_.finished(task);
  recorded_.clear();
  bool recovered = false;
  {
    MutexLock lock(mutex_);
    finished_ += done.size();
    if (status) {
      stats_.written += rows;
      recovered = std::exchange(stats_.degraded, false);
      stats_.problem.clear();
    } else {
      stats_.dropped += done.size();
      given_up_ += done.size();
    }
    settled_.notify_all();
  }
  if (status) retry_s_ = kFirstRetry_s;
  if (recovered) obs::log_info("journal_recovered", {{"path", options_.path}});
}

bool Journal::Impl::keep_for_retry(const Error& error) {
  retry_at_s_ = system_clock().steady_s() + retry_s_;
  retry_s_ = std::min(retry_s_ * 2, kLongestRetry_s);
  bool newly_degraded = false;
  bool keep = true;
  {
    MutexLock lock(mutex_);
    newly_degraded = !std::exchange(stats_.degraded, true);
    stats_.problem = format("the decision journal {} cannot be written: {}; {}", options_.path,
                            error.message, kRemedy);
    if (stopping_) {
      // There will be no other attempt: everything that waits is part of this batch.
      batch_.insert(batch_.end(), std::make_move_iterator(queue_.begin()),
                    std::make_move_iterator(queue_.end()));
      queue_.clear();
      keep = false;
    }
  }
  if (newly_degraded)
    obs::log_error("journal_degraded",
                   {{"path", options_.path}, {"error", error.message}, {"remedy", kRemedy}});
  return keep;
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::open(const JournalOptions& options) {
  if (options.queue_limit == 0 || options.keep_rows <= 0)
    return fail(ErrorCode::kInvalidArgument, "the journal's queue_limit and keep_rows must be > 0");
  auto impl = std::make_unique<Impl>(options);
  SLACKLINE_TRY(impl->open_first());
  impl->start();
  return std::unique_ptr<Journal>(new Journal(std::move(impl)));
}

bool Journal::append(DecisionRow row) {
  return impl_->enqueue(std::move(row));
}

bool Journal::record_outcome(const Uid& pod, DecisionOutcome outcome) {
  if (pod.empty()) return false;
  return impl_->enqueue(OutcomeUpdate{pod, std::move(outcome)});
}

bool Journal::append(FinishedTask task) {
  return impl_->enqueue(std::move(task));
}

bool Journal::restore(FinishedTask task) {
  return impl_->enqueue(Restored{std::move(task)});
}

bool Journal::restore(DecisionRow row) {
  return impl_->enqueue(RestoredDecision{std::move(row)});
}

bool Journal::predict(const Uid& task, double predicted_s) {
  return impl_->enqueue(Prediction{task, predicted_s, system_clock().wall_s()});
}

bool Journal::measured(const Uid& task, const MeasuredUse& use) {
  return impl_->enqueue(Measurement{task, use});
}

bool Journal::shadowed(const Uid& task, const ShadowRun& run) {
  return impl_->enqueue(Shadowed{task, run});
}

Result<Database> Journal::Impl::reader() const {
  auto database = Database::open_reader(options_.path, options_.busy_timeout_s);
  if (const std::string problem = stats().problem; !database && !problem.empty())
    return fail(ErrorCode::kUnavailable, problem);
  return database;
}

void Journal::Impl::tell_unreadable(const std::vector<Error>& rows) {
  if (rows.empty()) return;
  obs::log_warning("journal_rows_unreadable", {{"path", options_.path},
                                               {"rows", static_cast<std::int64_t>(rows.size())},
                                               {"first", rows.front().message}});
  MutexLock lock(mutex_);
  stats_.unreadable += rows.size();
}

namespace {

Status check_limit(std::size_t limit) {
  if (limit >= 1 && limit <= kMaxQueryLimit) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("limit is {}; allowed are 1 to {}", limit, kMaxQueryLimit));
}

}  // namespace

Result<JournalPage> Journal::query(const JournalQuery& query) const {
  SLACKLINE_TRY(check_limit(query.limit));
  SLACKLINE_ASSIGN(Database database, impl_->reader());
  std::vector<Error> unreadable;
  Result<JournalPage> page = read_decisions(database, query, unreadable);
  impl_->tell_unreadable(unreadable);
  return page;
}

Result<HistoryPage> Journal::history(const HistoryQuery& query) const {
  SLACKLINE_TRY(check_limit(query.limit));
  SLACKLINE_ASSIGN(Database database, impl_->reader());
  return read_history(database, query);
}

JournalStats Journal::stats() const {
  return impl_->stats();
}

bool Journal::flush(double timeout_s) {
  return impl_->flush(timeout_s);
}

}  // namespace slackline::store
