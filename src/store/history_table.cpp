#include "store/history_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "slackline/base/text.h"

namespace slackline::store {
namespace {

constexpr std::string_view kSchema = R"sql(
CREATE TABLE history(
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  ns TEXT NOT NULL,
  name TEXT NOT NULL,
  queue TEXT NOT NULL,
  qos_class TEXT NOT NULL,
  model TEXT NOT NULL,
  gpu_type TEXT NOT NULL,
  gpus INTEGER NOT NULL,
  created_s REAL NOT NULL,
  started_s REAL,
  finished_ms INTEGER NOT NULL,
  succeeded INTEGER NOT NULL,
  deadline_s REAL,
  predicted_s REAL,
  gpu_hours REAL NOT NULL
);
CREATE INDEX history_by_end ON history(finished_ms, id);
CREATE INDEX history_by_ns ON history(ns, finished_ms, id);
CREATE INDEX history_by_queue ON history(queue, finished_ms, id);
CREATE TABLE predictions(
  uid TEXT PRIMARY KEY,
  predicted_s REAL NOT NULL,
  made_s REAL NOT NULL
) WITHOUT ROWID;
)sql";

constexpr std::string_view kAddUse = R"sql(
ALTER TABLE history ADD COLUMN family TEXT NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN asked_gpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN pods INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN cpu_milli INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN gpu_share REAL;
ALTER TABLE history ADD COLUMN gpu_memory REAL;
ALTER TABLE history ADD COLUMN gpu_s REAL;
ALTER TABLE history ADD COLUMN cpu_cores REAL;
ALTER TABLE history ADD COLUMN cpu_s REAL;
)sql";

constexpr std::string_view kAddDeleted =
    "ALTER TABLE history ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0";

constexpr std::string_view kAddShadow = R"sql(
ALTER TABLE history ADD COLUMN shadow_started_s REAL;
ALTER TABLE history ADD COLUMN shadow_finished_s REAL;
ALTER TABLE history ADD COLUMN shadow_gpus INTEGER;
)sql";

constexpr std::string_view kAddKind =
    "ALTER TABLE history ADD COLUMN kind TEXT NOT NULL DEFAULT 'Job'";

constexpr std::string_view kAddHeld = R"sql(
ALTER TABLE history ADD COLUMN held_s REAL NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN stops INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN gang TEXT NOT NULL DEFAULT '';
CREATE INDEX history_by_name ON history(ns, name);
)sql";

constexpr std::string_view kHistoryColumns =
    "uid, ns, name, queue, qos_class, model, gpu_type, gpus, created_s, started_s, finished_ms, "
    "succeeded, deadline_s, predicted_s, gpu_hours, resized_from, family, asked_gpus, pods, "
    "cpu_milli, deleted, gpu_share, gpu_memory, gpu_s, cpu_cores, cpu_s, shadow_started_s, "
    "shadow_finished_s, shadow_gpus, kind, held_s, stops, gang";

// A recorded prediction of the task wins over the task's own. A gang is known by its first pod:
// what later ones of it tell of the time of a run that is here is the same run. (A second of
// rounding.)
constexpr std::string_view kInsert =
    "INSERT INTO history(uid, ns, name, queue, qos_class, model, gpu_type, gpus, created_s, "
    "started_s, finished_ms, succeeded, deadline_s, predicted_s, gpu_hours, resized_from, family, "
    "asked_gpus, pods, cpu_milli, deleted, kind, held_s, stops, gang) SELECT ?1, ?2, ?3, ?4, ?5, "
    "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
    "coalesce((SELECT predicted_s FROM predictions WHERE uid = ?1), ?14), ?15, ?16, ?17, ?18, ?19, "
    "?20, ?21, ?22, ?23, ?24, ?25 WHERE ?22 = 'Job' OR NOT EXISTS (SELECT 1 FROM history WHERE "
    "ns = ?2 AND name = ?3 AND kind = ?22 AND gang = ?25 AND uid != ?1 AND "
    "finished_ms >= ?11 - 1000 AND started_s <= ?10 + 1) ";

constexpr std::string_view kOnce = "ON CONFLICT(uid) DO NOTHING RETURNING predicted_s";

// Whoever saw more of it knows better: one that was replaced has seen only its end.
constexpr std::string_view kOfBoth =
    "ON CONFLICT(uid) DO UPDATE SET "
    "started_s = coalesce(min(started_s, excluded.started_s), started_s, excluded.started_s), "
    "gpu_hours = max(gpu_hours, excluded.gpu_hours), held_s = max(held_s, excluded.held_s), "
    "stops = max(stops, excluded.stops), "
    "predicted_s = coalesce(predicted_s, excluded.predicted_s), "
    "deadline_s = coalesce(deadline_s, excluded.deadline_s), "
    "gpu_type = CASE gpu_type WHEN '' THEN excluded.gpu_type ELSE gpu_type END "
    "RETURNING predicted_s";

std::int64_t to_ms(double time_s) {
  return std::llround(time_s * 1000);
}

std::optional<double> real_or_null(const Statement& statement, int column) {
  return statement.is_null(column) ? std::nullopt : std::optional(statement.real(column));
}

// Where a page goes on: behind the task that ended at this millisecond and has this id.
struct Place {
  std::int64_t finished_ms = 0;
  std::int64_t id = 0;
};

Result<Place> read_place(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    const auto finished_ms = parse_int(text.substr(0, dot));
    const auto id = parse_int(text.substr(dot + 1));
    if (finished_ms && id) return Place{*finished_ms, *id};
  }
  return fail(ErrorCode::kInvalidArgument,
              format("continue=\"{}\": expected metadata.continue of the page before",
                     printable(text, 64)));
}

FinishedTask read_finished(const Statement& statement) {
  FinishedTask task;
  int column = 1;  // behind the id
  task.uid = Uid(statement.text(column++));
  task.key.ns = statement.text(column++);
  task.key.name = statement.text(column++);
  task.queue = statement.text(column++);
  task.qos_class = statement.text(column++);
  task.model = statement.text(column++);
  task.gpu_type = GpuType(statement.text(column++));
  task.gpus = statement.integer(column++);
  task.created_s = statement.real(column++);
  task.started_s = real_or_null(statement, column++);
  task.finished_s = static_cast<double>(statement.integer(column++)) / 1000;
  task.succeeded = statement.integer(column++) != 0;
  task.deadline_s = real_or_null(statement, column++);
  task.predicted_s = real_or_null(statement, column++);
  task.gpu_hours = statement.real(column++);
  task.resized_from = statement.text(column++);
  task.family = statement.text(column++);
  task.asked_gpus = statement.integer(column++);
  task.pods = statement.integer(column++);
  task.cpu_milli = statement.integer(column++);
  task.deleted = statement.integer(column++) != 0;
  if (!statement.is_null(column))
    task.use =
        MeasuredUse{statement.real(column), statement.real(column + 1), statement.real(column + 2),
                    statement.real(column + 3), statement.real(column + 4)};
  column += 5;
  if (!statement.is_null(column))
    task.shadow = ShadowRun{statement.real(column), statement.real(column + 1),
                            statement.integer(column + 2)};
  column += 3;
  task.kind = statement.text(column++);
  task.held_s = statement.real(column++);
  task.stops = statement.integer(column++);
  task.gang = statement.text(column);
  return task;
}

// Of kInsert.
Statement& bind_task(Statement& statement, const FinishedTask& task) {
  return statement.bind_all(
      task.uid.str(), task.key.ns, task.key.name, task.queue, task.qos_class, task.model,
      task.gpu_type.str(), task.gpus, task.created_s, task.started_s, to_ms(task.finished_s),
      std::int64_t{task.succeeded}, task.deadline_s, task.predicted_s, task.gpu_hours,
      task.resized_from, task.family, task.asked_gpus, task.pods, task.cpu_milli,
      std::int64_t{task.deleted}, task.kind, task.held_s, task.stops, task.gang);
}

std::string select_sql(const HistoryQuery& query) {
  std::string where = "finished_ms >= ?1";
  if (!query.ns.empty()) where += " AND ns = ?2";
  if (!query.queue.empty()) where += " AND queue = ?3";
  if (!query.continue_from.empty()) where += " AND (finished_ms, id) < (?4, ?5)";
  if (!query.name.empty()) where += " AND name = ?7";
  // SQLite would go through the namespace by time, for the order, until it meets the name.
  const bool by_name = !query.ns.empty() && !query.name.empty();
  return format("SELECT id, {} FROM history{} WHERE {} ORDER BY finished_ms DESC, id DESC LIMIT ?6",
                kHistoryColumns, by_name ? " INDEXED BY history_by_name" : "", where);
}

}  // namespace

std::string_view history_schema() {
  return kSchema;
}

std::string_view history_with_resizes() {
  return "ALTER TABLE history ADD COLUMN resized_from TEXT NOT NULL DEFAULT ''";
}

std::string_view history_adds_use() {
  return kAddUse;
}

std::string_view history_adds_deletion() {
  return kAddDeleted;
}

std::string_view history_adds_shadow() {
  return kAddShadow;
}

std::string_view history_adds_kind() {
  return kAddKind;
}

std::string_view history_adds_held() {
  return kAddHeld;
}

std::string history_probe() {
  return format(
      "SELECT id, {}, (SELECT max(predicted_s + made_s) FROM predictions WHERE uid = '') "
      "FROM history LIMIT 1",
      kHistoryColumns);
}

HistoryTable::HistoryTable(Statement predict, Statement insert, Statement restore, Statement settle,
                           Statement measure, Statement shadow, Statement beyond, Statement prune,
                           Statement forget)
    : predict_(std::move(predict)),
      insert_(std::move(insert)),
      restore_(std::move(restore)),
      settle_(std::move(settle)),
      measure_(std::move(measure)),
      shadow_(std::move(shadow)),
      beyond_(std::move(beyond)),
      prune_(std::move(prune)),
      forget_(std::move(forget)) {}

Result<HistoryTable> HistoryTable::prepare(Database& database) {
  SLACKLINE_ASSIGN(
      Statement predict,
      database.prepare("INSERT INTO predictions(uid, predicted_s, made_s) VALUES(?1, ?2, ?3) "
                       "ON CONFLICT(uid) DO UPDATE SET predicted_s = ?2, made_s = ?3"));
  SLACKLINE_ASSIGN(Statement insert, database.prepare(format("{}{}", kInsert, kOnce)));
  SLACKLINE_ASSIGN(Statement restore, database.prepare(format("{}{}", kInsert, kOfBoth)));
  SLACKLINE_ASSIGN(Statement settle, database.prepare("DELETE FROM predictions WHERE uid = ?1"));
  SLACKLINE_ASSIGN(
      Statement measure,
      database.prepare("UPDATE history SET gpu_share = ?2, gpu_memory = ?3, gpu_s = ?4, "
                       "cpu_cores = ?5, cpu_s = ?6 WHERE uid = ?1"));
  SLACKLINE_ASSIGN(
      Statement shadow,
      database.prepare("UPDATE history SET shadow_started_s = ?2, shadow_finished_s = ?3, "
                       "shadow_gpus = ?4 WHERE uid = ?1"));
  SLACKLINE_ASSIGN(
      Statement beyond,
      database.prepare("SELECT finished_ms FROM history ORDER BY finished_ms DESC, id DESC "
                       "LIMIT 1 OFFSET ?1"));
  SLACKLINE_ASSIGN(Statement prune,
                   database.prepare("DELETE FROM history WHERE id IN (SELECT id FROM history "
                                    "WHERE finished_ms <= ?1 ORDER BY finished_ms, id LIMIT ?2) "
                                    "RETURNING id"));
  SLACKLINE_ASSIGN(Statement forget, database.prepare("DELETE FROM predictions WHERE made_s < ?1"));
  return HistoryTable(std::move(predict), std::move(insert), std::move(restore), std::move(settle),
                      std::move(measure), std::move(shadow), std::move(beyond), std::move(prune),
                      std::move(forget));
}

Status HistoryTable::predict(const Uid& task, double predicted_s, double now_s) {
  return predict_.bind_all(task.str(), predicted_s, now_s).run();
}

Result<std::optional<FinishedTask>> HistoryTable::insert(const FinishedTask& task) {
  SLACKLINE_ASSIGN(const bool inserted, bind_task(insert_, task).step());
  if (!inserted) return std::optional<FinishedTask>();
  FinishedTask kept = task;
  kept.predicted_s = real_or_null(insert_, 0);
  insert_.reset();
  SLACKLINE_TRY(settle_.bind_all(task.uid.str()).run());
  return std::optional(std::move(kept));
}

Status HistoryTable::restore(const FinishedTask& task) {
  SLACKLINE_TRY(bind_task(restore_, task).step());
  restore_.reset();
  return settle_.bind_all(task.uid.str()).run();
}

Status HistoryTable::measure(const Uid& task, const MeasuredUse& use) {
  return measure_
      .bind_all(task.str(), use.gpu_share, use.gpu_memory, use.gpu_s, use.cpu_cores, use.cpu_s)
      .run();
}

Status HistoryTable::shadow(const Uid& task, const ShadowRun& run) {
  return shadow_.bind_all(task.str(), run.started_s, run.finished_s, run.gpus).run();
}

Result<bool> HistoryTable::prune(double before_s, std::int64_t keep_rows, std::int64_t slice) {
  std::int64_t last_to_go_ms = to_ms(before_s) - 1;
  SLACKLINE_ASSIGN(const bool too_many, beyond_.bind(1, keep_rows).step());
  if (too_many) last_to_go_ms = std::max(last_to_go_ms, beyond_.integer(0));
  beyond_.reset();
  prune_.bind_all(last_to_go_ms, slice);
  std::int64_t gone = 0;
  for (;;) {
    SLACKLINE_ASSIGN(const bool one_more, prune_.step());
    if (!one_more) break;
    ++gone;
  }
  SLACKLINE_TRY(forget_.bind(1, before_s).run());
  return gone == slice;
}

Result<HistoryPage> read_history(Database& database, const HistoryQuery& query) {
  Place place;
  if (!query.continue_from.empty()) {
    SLACKLINE_ASSIGN(place, read_place(query.continue_from));
  }
  SLACKLINE_ASSIGN(Statement statement, database.prepare(select_sql(query)));
  statement.bind(1, to_ms(query.since_s));
  if (!query.ns.empty()) statement.bind(2, query.ns);
  if (!query.queue.empty()) statement.bind(3, query.queue);
  if (!query.continue_from.empty()) statement.bind(4, place.finished_ms).bind(5, place.id);
  // One more row than requested shows whether there is a next page.
  statement.bind(6, static_cast<std::int64_t>(query.limit) + 1);
  if (!query.name.empty()) statement.bind(7, query.name);
  HistoryPage page;
  for (;;) {
    SLACKLINE_ASSIGN(const bool found, statement.step());
    if (!found) return page;
    if (page.rows.size() == query.limit) {
      page.next = format("{}.{}", place.finished_ms, place.id);
      return page;
    }
    page.rows.push_back(read_finished(statement));
    place = {to_ms(page.rows.back().finished_s), statement.integer(0)};
  }
}

}  // namespace slackline::store
