// The rows of REST, each described once by its columns: JSON, table, wide table, CSV and schema
// follow from them.
//
// JSON: times are RFC 3339, durations seconds, keys camelCase; lists are written as Kubernetes
// does:
// {"items":[...],"metadata":{"continue":"..."}}.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "message/model_views.h"
#include "message/queue_view.h"
#include "message/views.h"
#include "slackline/model/decision.h"
#include "slackline/model/finished_task.h"
#include "slackline/model/move_advice.h"
#include "slackline/model/progress.h"
#include "wire/format/json_writer.h"
#include "wire/format/text_table.h"
#include "wire/rest/column.h"

namespace slackline::wire {

template <class Row>
struct Columns {
  std::string_view name;  // of its schema
  std::vector<Column<Row>> all;
};

// Every kind of object: one specialization here, and one line in rest_schemas().
template <class Row>
const Columns<Row>& columns();
template <>
const Columns<GpuUseView>& columns<GpuUseView>();
template <>
const Columns<GpuPoolView>& columns<GpuPoolView>();
template <>
const Columns<CacheView>& columns<CacheView>();
template <>
const Columns<ClusterView>& columns<ClusterView>();
template <>
const Columns<NodeView>& columns<NodeView>();
template <>
const Columns<TaskView>& columns<TaskView>();
template <>
const Columns<PlacementRow>& columns<PlacementRow>();
template <>
const Columns<ScoreView>& columns<ScoreView>();
template <>
const Columns<DecisionCandidate>& columns<DecisionCandidate>();
template <>
const Columns<DecisionOutcome>& columns<DecisionOutcome>();
template <>
const Columns<DecisionStop>& columns<DecisionStop>();
template <>
const Columns<DecisionRow>& columns<DecisionRow>();
template <>
const Columns<QueueRow>& columns<QueueRow>();
template <>
const Columns<ProgressNote>& columns<ProgressNote>();
template <>
const Columns<MovedRun>& columns<MovedRun>();
template <>
const Columns<MoveAdvice>& columns<MoveAdvice>();
template <>
const Columns<FinishedTask>& columns<FinishedTask>();
template <>
const Columns<Correction>& columns<Correction>();
template <>
const Columns<ModelTypeView>& columns<ModelTypeView>();
template <>
const Columns<ModelView>& columns<ModelView>();
template <>
const Columns<SamplesAccepted>& columns<SamplesAccepted>();

// The members of a list besides its items.
template <>
const Columns<PlacementsView>& columns<PlacementsView>();
template <>
const Columns<ScoresView>& columns<ScoresView>();
template <>
const Columns<QueueView>& columns<QueueView>();

// Name and schema of all of them but the last three, for references.
std::vector<std::pair<std::string_view, std::string>> rest_schemas();

template <class Row>
void encode(JsonWriter& out, const Row& row) {
  out.begin_object();
  for (const Column<Row>& column : columns<Row>().all)
    if (column.in_json()) column.write(out, row);
  out.end_object();
}

template <class Row>
std::string encode_one(const Row& row) {
  JsonWriter out;
  encode(out, row);
  return out.take();
}

// `facts`: an object whose members become members of the list; empty: none.
template <class Row>
std::string encode_list(const std::vector<Row>& rows, const std::string& next,
                        std::string_view facts = {}) {
  JsonWriter out;
  out.begin_object().members(facts);
  write_value(out.key("items"), rows);
  out.key("metadata").begin_object().field("continue", next).end_object();
  out.end_object();
  return out.take();
}

enum class Width { kNarrow, kWide };

template <class Row>
TextTable table_of(const std::vector<Row>& rows, Width width = Width::kNarrow) {
  std::vector<const Column<Row>*> shown;
  for (const bool wide : {false, true})
    for (const Column<Row>& column : columns<Row>().all)
      if (column.in_table(wide) && (!wide || width == Width::kWide)) shown.push_back(&column);
  std::vector<std::string> headings;
  for (const Column<Row>* column : shown)
    headings.emplace_back(column->heading());
  TextTable table(headings);
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    for (const Column<Row>* column : shown)
      cells.push_back(column->text(row));
    table.add(std::move(cells));
  }
  return table;
}
// One row for each GPU type of each model.
template <>
TextTable table_of(const std::vector<ModelView>& models, Width width);

// What a person needs to know above the table: nothing, or lines.
std::string preface_of(const QueueView& view);

// Answers that are not lists, for people.
std::string text_of(const ClusterView& view);
std::string text_of(const ModelView& model);
std::string text_of(const SamplesAccepted& accepted);
std::string text_of(const ProgressNote& progress);

// "properties" and "required" of a schema.
struct Members {
  std::string properties;  // "a":{...},"b":{...}
  std::string required;    // "a","b"
};

template <class Row>
Members members_of() {
  Members members;
  for (const Column<Row>& column : columns<Row>().all) {
    if (!column.in_json()) continue;
    members.properties +=
        format("{}\"{}\":{}", members.properties.empty() ? "" : ",", column.key(), column.schema());
    if (column.required())
      members.required += format("{}\"{}\"", members.required.empty() ? "" : ",", column.key());
  }
  return members;
}

// Without the braces, as schema_of().
template <class Row>
std::string reference_to() {
  return format("\"$ref\":\"#/components/schemas/{}\"", columns<Row>().name);
}

std::string object_schema(const Members& members);

// The schema of a list of rows whose other members are those of `facts`.
std::string list_schema(const std::string& row_reference, Members facts);

}  // namespace slackline::wire
