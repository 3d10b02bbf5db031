// The rows of REST, each described once by its columns: JSON, table, wide table, CSV and schema
// follow from them.
//
// JSON: times are RFC 3339, durations seconds, keys camelCase; lists are written as Kubernetes
// does:
// {"items":[...],"metadata":{"continue":"..."}}.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "message/answer_views.h"
#include "message/calibration_view.h"
#include "message/model_views.h"
#include "message/portrait_views.h"
#include "message/queue_view.h"
#include "message/report_views.h"
#include "message/views.h"
#include "slackline/model/decision.h"
#include "slackline/model/finished_task.h"
#include "slackline/model/move_advice.h"
#include "slackline/model/progress.h"
#include "slackline/model/sample.h"
#include "slackline/model/share_ledger.h"
#include "wire/format/json_writer.h"
#include "wire/format/text_table.h"
#include "wire/rest/column.h"

namespace slackline::wire {

template <class Row>
struct Columns {
  std::string_view name;  // of its schema
  std::vector<Column<Row>> all;
};

// The columns of one kind of row that are told in parts.
template <class Row>
std::vector<Column<Row>> joined(std::initializer_list<std::vector<Column<Row>>> parts) {
  std::vector<Column<Row>> all;
  for (const std::vector<Column<Row>>& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

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
const Columns<GpuOccupantView>& columns<GpuOccupantView>();
template <>
const Columns<ListedNode>& columns<ListedNode>();
template <>
const Columns<ListedTask>& columns<ListedTask>();
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
const Columns<ShareLine>& columns<ShareLine>();
template <>
const Columns<SharedType>& columns<SharedType>();
template <>
const Columns<ShareLedger>& columns<ShareLedger>();
template <>
const Columns<ProgressNote>& columns<ProgressNote>();
template <>
const Columns<MovedRun>& columns<MovedRun>();
template <>
const Columns<MoveAdvice>& columns<MoveAdvice>();
template <>
const Columns<ResizeView>& columns<ResizeView>();
template <>
const Columns<AdviceView>& columns<AdviceView>();
template <>
const Columns<FinishedTask>& columns<FinishedTask>();
template <>
const Columns<Correction>& columns<Correction>();
template <>
const Columns<ModelTypeView>& columns<ModelTypeView>();
template <>
const Columns<ModelView>& columns<ModelView>();
template <>
const Columns<ThroughputSample>& columns<ThroughputSample>();
template <>
const Columns<SamplesAccepted>& columns<SamplesAccepted>();
template <>
const Columns<CalibrationRow>& columns<CalibrationRow>();
template <>
const Columns<PortraitUseView>& columns<PortraitUseView>();
template <>
const Columns<PortraitTimeView>& columns<PortraitTimeView>();
template <>
const Columns<PortraitView>& columns<PortraitView>();
template <>
const Columns<ReportRow>& columns<ReportRow>();
template <>
const Columns<ReportDay>& columns<ReportDay>();
template <>
const Columns<IdleHolder>& columns<IdleHolder>();
template <>
const Columns<ShadowRow>& columns<ShadowRow>();
template <>
const Columns<SpanView>& columns<SpanView>();
template <>
const Columns<CoverageView>& columns<CoverageView>();
template <>
const Columns<EtaView>& columns<EtaView>();
template <>
const Columns<ReliefView>& columns<ReliefView>();
template <>
const Columns<BlockerView>& columns<BlockerView>();
template <>
const Columns<NodeGroupView>& columns<NodeGroupView>();
template <>
const Columns<ChangeView>& columns<ChangeView>();
template <>
const Columns<ExplainView>& columns<ExplainView>();
template <>
const Columns<DelayView>& columns<DelayView>();
template <>
const Columns<QuoteRowView>& columns<QuoteRowView>();
template <>
const Columns<WhatIfRow>& columns<WhatIfRow>();
template <>
const Columns<CalendarRow>& columns<CalendarRow>();

// The members of a list besides its items.
template <>
const Columns<PlacementsView>& columns<PlacementsView>();
template <>
const Columns<ScoresView>& columns<ScoresView>();
template <>
const Columns<QueueView>& columns<QueueView>();
template <>
const Columns<CalibrationView>& columns<CalibrationView>();
template <>
const Columns<ReportView>& columns<ReportView>();
template <>
const Columns<ShadowReportView>& columns<ShadowReportView>();
template <>
const Columns<QuoteView>& columns<QuoteView>();
template <>
const Columns<WhatIfView>& columns<WhatIfView>();

// Name and schema of all of them but those of lists, for references.
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

// `facts`: an object whose members become members of the list; empty: none. `remaining`: how many
// items follow, where that is known.
template <class Row>
std::string encode_list(const std::vector<Row>& rows, const std::string& next,
                        std::string_view facts = {},
                        const std::optional<std::uint64_t>& remaining = std::nullopt) {
  JsonWriter out;
  out.begin_object().members(facts);
  write_value(out.key("items"), rows);
  out.key("metadata").begin_object().field("continue", next);
  if (remaining) write_value(out.key("remainingItemCount"), *remaining);
  out.end_object().end_object();
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
std::string preface_of(const CalibrationView& view);
std::string preface_of(const ShareLedger& ledger);
std::string preface_of(const ReportView& view);
std::string preface_of(const ShadowReportView& view);
std::string preface_of(const QuoteView& view);
std::string preface_of(const WhatIfView& view);

// Answers that are not lists, for people.
std::string text_of(const ClusterView& view);
std::string text_of(const ModelView& model);
std::string text_of(const SamplesAccepted& accepted);
std::string text_of(const ProgressNote& progress);
std::string text_of(const EtaView& eta);
std::string text_of(const ExplainView& view);

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
