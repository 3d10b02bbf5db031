#include "store/decision_table.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
#include "store/history_table.h"
#include "wire/rest/decision_codec.h"

namespace slackline::store {
namespace {

constexpr std::size_t kMaxTextBytes = 1024;
constexpr int kBoundColumns = 16;  // of kDecisionColumns

// The order of these columns is the order in insert() and read_row().
constexpr std::string_view kDecisionColumns =
    "schema_version, time_s, verb, pod_uid, ns, pod, plan_id, policy, options_hash, "
    "snapshot_version, nodes_asked, result, reasons, candidates, duration_us, stop";

// by_pod and by_ns end in the rowid, hence in the order of the answer.
constexpr const char* kCreateDecisions = R"sql(
CREATE TABLE decisions(
  id INTEGER PRIMARY KEY,
  schema_version INTEGER NOT NULL,
  time_s REAL NOT NULL,
  verb TEXT NOT NULL,
  pod_uid TEXT NOT NULL,
  ns TEXT NOT NULL,
  pod TEXT NOT NULL,
  plan_id TEXT NOT NULL,
  policy TEXT NOT NULL,
  options_hash TEXT NOT NULL,
  snapshot_version INTEGER NOT NULL,
  nodes_asked INTEGER NOT NULL,
  result TEXT NOT NULL,
  reasons TEXT NOT NULL,
  candidates TEXT NOT NULL,
  duration_us REAL NOT NULL,
  outcome_node TEXT,
  outcome_s REAL
);
CREATE INDEX decisions_by_uid ON decisions(pod_uid);
CREATE INDEX decisions_by_pod ON decisions(pod, ns);
CREATE INDEX decisions_by_ns ON decisions(ns);
CREATE INDEX decisions_by_verb ON decisions(verb);
)sql";

// JSON; empty: the decision stopped nobody.
constexpr const char* kAddStop = "ALTER TABLE decisions ADD COLUMN stop TEXT NOT NULL DEFAULT ''";

// A pod is bound once, but seen bound as often as a daemon lists it.
constexpr std::string_view kSetOutcome =
    "UPDATE decisions SET outcome_node = ?2, outcome_s = ?3 WHERE id = ("
    "SELECT id FROM decisions WHERE pod_uid = ?1 AND verb IN ('bind', 'filter') "
    "ORDER BY verb = 'bind' DESC, id DESC LIMIT 1) AND NOT EXISTS ("
    "SELECT 1 FROM decisions WHERE pod_uid = ?1 AND outcome_node IS NOT NULL)";

std::string_view cut(const std::string& text) {
  return std::string_view(text).substr(0, kMaxTextBytes);
}

Result<Verb> read_verb(std::string_view text, ErrorCode otherwise) {
  if (const auto verb = parse_verb(text)) return *verb;
  return fail(otherwise,
              format("verb \"{}\" is unknown; one of {}", printable(text, 64), verb_names()));
}

Result<DecisionRow> read_row(const Statement& statement) {
  DecisionRow row;
  int column = 0;
  row.id = statement.integer(column++);
  row.schema_version = static_cast<int>(statement.integer(column++));
  row.time_s = statement.real(column++);
  SLACKLINE_ASSIGN(row.verb, read_verb(statement.text(column++), ErrorCode::kDataLoss));
  row.pod_uid = Uid(statement.text(column++));
  row.pod.ns = statement.text(column++);
  row.pod.name = statement.text(column++);
  row.plan_id = statement.text(column++);
  row.policy = statement.text(column++);
  row.options_hash = statement.text(column++);
  row.snapshot_version = static_cast<std::uint64_t>(statement.integer(column++));
  row.nodes_asked = static_cast<std::uint32_t>(statement.integer(column++));
  row.result = statement.text(column++);
  SLACKLINE_ASSIGN(row.reasons, wire::decode_reasons(statement.text(column++)));
  SLACKLINE_ASSIGN(row.candidates, wire::decode_candidates(statement.text(column++)));
  row.duration_us = statement.real(column++);
  if (const std::string stop = statement.text(column++); !stop.empty()) {
    SLACKLINE_ASSIGN(row.stop, wire::decode_stop(stop));
  }
  if (!statement.is_null(column))
    row.outcome = DecisionOutcome{statement.text(column), statement.real(column + 1)};
  return row;
}

std::string select_sql(const JournalQuery& query) {
  std::string where;
  const auto add = [&](bool wanted, std::string_view condition) {
    if (wanted) where += format("{}{}", where.empty() ? " WHERE " : " AND ", condition);
  };
  add(!query.ns.empty(), "ns = ?1");
  add(!query.pod.empty(), "pod = ?2");
  add(!query.verb.empty(), "verb = ?3");
  add(query.before_id > 0, "id < ?4");
  return format("SELECT id, {}, outcome_node, outcome_s FROM decisions{} ORDER BY id DESC LIMIT ?5",
                kDecisionColumns, where);
}

// All of kDecisionColumns.
Statement& bind_row(Statement& statement, const DecisionRow& row) {
  std::vector<DecisionCandidate> best;
  const bool too_many = row.candidates.size() > kMaxDecisionCandidates;
  if (too_many)
    best.assign(row.candidates.begin(), row.candidates.begin() + kMaxDecisionCandidates);
  return statement.bind_all(
      std::int64_t{row.schema_version}, row.time_s, to_string(row.verb), row.pod_uid.str(),
      row.pod.ns, row.pod.name, row.plan_id, row.policy, row.options_hash,
      static_cast<std::int64_t>(row.snapshot_version), std::int64_t{row.nodes_asked},
      cut(row.result), wire::encode_reasons(row.reasons),
      wire::encode_candidates(too_many ? best : row.candidates), row.duration_us,
      row.stop ? wire::encode_stop(*row.stop) : std::string());
}

}  // namespace

DatabaseOptions decision_file(std::string path, double busy_timeout_s) {
  DatabaseOptions file;
  file.path = std::move(path);
  file.migrations = {std::string(kCreateDecisions),
                     std::string(history_schema()),
                     kAddStop,
                     std::string(history_with_resizes()),
                     std::string(history_adds_use()),
                     std::string(history_adds_deletion()),
                     std::string(history_adds_shadow()),
                     std::string(history_adds_kind()),
                     std::string(history_adds_held())};
  file.busy_timeout_s = busy_timeout_s;
  file.probes = {
      format("SELECT id, {}, outcome_node, outcome_s FROM decisions LIMIT 1", kDecisionColumns),
      history_probe()};
  return file;
}

DecisionTable::DecisionTable(Statement insert, Statement restore, Statement outcome,
                             Statement extent, Statement prune)
    : insert_(std::move(insert)),
      restore_(std::move(restore)),
      outcome_(std::move(outcome)),
      extent_(std::move(extent)),
      prune_(std::move(prune)) {}

Result<DecisionTable> DecisionTable::prepare(Database& database, std::int64_t first_id) {
  constexpr std::string_view kValues = "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";
  SLACKLINE_ASSIGN(Statement insert,
                   database.prepare(format("INSERT INTO decisions(id, {}) VALUES("
                                           "(SELECT coalesce(max(id) + 1, {}) FROM decisions), {})",
                                           kDecisionColumns, first_id, kValues)));
  SLACKLINE_ASSIGN(
      Statement restore,
      database.prepare(format("INSERT INTO decisions(id, {0}, outcome_node, outcome_s) "
                              "SELECT oldest - 1, {1}, NULLIF(?, ''), ? FROM "
                              "(SELECT coalesce(min(id), {2}) AS oldest FROM decisions) "
                              "WHERE oldest > 1 AND NOT EXISTS (SELECT 1 FROM decisions "
                              "WHERE pod_uid = ?4 AND verb = ?3 AND snapshot_version = ?10 "
                              "AND duration_us = ?15)",
                              kDecisionColumns, kValues, first_id)));
  SLACKLINE_ASSIGN(Statement outcome, database.prepare(kSetOutcome));
  SLACKLINE_ASSIGN(Statement extent, database.prepare("SELECT (SELECT min(id) FROM decisions), "
                                                      "(SELECT max(id) FROM decisions)"));
  SLACKLINE_ASSIGN(Statement prune, database.prepare("DELETE FROM decisions WHERE id <= ?"));
  return DecisionTable(std::move(insert), std::move(restore), std::move(outcome), std::move(extent),
                       std::move(prune));
}

Status DecisionTable::insert(const DecisionRow& row) {
  return bind_row(insert_, row).run();
}

Status DecisionTable::restore(const DecisionRow& row) {
  bind_row(restore_, row)
      .bind(kBoundColumns + 1, row.outcome ? std::string_view(row.outcome->node) : "")
      .bind(kBoundColumns + 2, row.outcome ? std::optional(row.outcome->bound_s) : std::nullopt);
  return restore_.run();
}

Status DecisionTable::set_outcome(const Uid& pod, const DecisionOutcome& outcome) {
  return outcome_.bind_all(pod.str(), outcome.node, outcome.bound_s).run();
}

Result<bool> DecisionTable::prune(std::int64_t keep_rows, std::int64_t slice) {
  SLACKLINE_ASSIGN(const bool found, extent_.step());
  if (!found || extent_.is_null(0)) {
    extent_.reset();
    return false;
  }
  const std::int64_t oldest = extent_.integer(0);
  const std::int64_t last_to_go = extent_.integer(1) - keep_rows;
  extent_.reset();
  if (oldest > last_to_go) return false;
  const std::int64_t last_of_slice = std::min(last_to_go, oldest + slice - 1);
  SLACKLINE_TRY(prune_.bind(1, last_of_slice).run());
  return last_of_slice < last_to_go;
}

Result<JournalPage> read_decisions(Database& database, const JournalQuery& query,
                                   std::vector<Error>& unreadable) {
  if (!query.verb.empty()) {
    if (Result<Verb> verb = read_verb(query.verb, ErrorCode::kInvalidArgument); !verb)
      return fail(verb.error());
  }
  SLACKLINE_ASSIGN(Statement statement, database.prepare(select_sql(query)));
  if (!query.ns.empty()) statement.bind(1, query.ns);
  if (!query.pod.empty()) statement.bind(2, query.pod);
  if (!query.verb.empty()) statement.bind(3, query.verb);
  if (query.before_id > 0) statement.bind(4, query.before_id);
  // One more row than requested shows whether there is a next page.
  statement.bind(5, static_cast<std::int64_t>(query.limit) + 1);
  JournalPage page;
  std::int64_t last_id = 0;
  for (std::size_t seen = 0;; ++seen) {
    SLACKLINE_ASSIGN(const bool found, statement.step());
    if (!found) return page;
    if (seen == query.limit) {
      page.next_before_id = last_id;
      return page;
    }
    last_id = statement.integer(0);
    if (Result<DecisionRow> row = read_row(statement))
      page.rows.push_back(*std::move(row));
    else
      unreadable.push_back(row.error().with_context(format("decision {}", last_id)));
  }
}

}  // namespace slackline::store
