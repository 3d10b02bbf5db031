// The schemas of REST rows (OpenAPI 3.0).
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

template <class... Rows>
std::vector<std::pair<std::string_view, std::string>> schemas_of() {
  return {{columns<Rows>().name, object_schema(members_of<Rows>())}...};
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> rest_schemas() {
  return schemas_of<
      ClusterView, CacheView, GpuPoolView, GpuUseView, ListedNode, GpuOccupantView, ListedTask,
      PlacementRow, ScoreView, DecisionRow, DecisionCandidate, DecisionOutcome, DecisionStop,
      QueueRow, ShareLine, SharedType, ProgressNote, MoveAdvice, MovedRun, FinishedTask, ModelView,
      ModelTypeView, Correction, ThroughputSample, SamplesAccepted, CalibrationRow, PortraitView,
      PortraitUseView, PortraitTimeView, ResizeView, AdviceView, ReportRow, ReportDay, IdleHolder,
      ShadowRow, SpanView, CoverageView, EtaView, ReliefView, BlockerView, NodeGroupView,
      ChangeView, ExplainView, DelayView, QuoteRowView, WhatIfRow, CalendarRow>();
}

std::string object_schema(const Members& members) {
  std::string schema = R"({"type":"object",)";
  if (!members.required.empty()) schema += format(R"("required":[{}],)", members.required);
  return schema + format(R"("properties":{{{}}}}})", members.properties);
}

std::string list_schema(const std::string& row_reference, Members facts) {
  if (!facts.properties.empty()) facts.properties += ',';
  if (!facts.required.empty()) facts.required += ',';
  facts.properties += format(R"("items":{{"type":"array","items":{{{}}}}},)", row_reference);
  facts.properties +=
      R"("metadata":{"type":"object","required":["continue"],"properties":{"continue":{"type":"string",)"
      R"("description":"Where the list goes on; empty at its end"},)"
      R"("remainingItemCount":{"type":"integer","minimum":0,)"
      R"("description":"How many items follow; absent: not counted"}}})";
  facts.required += R"("items","metadata")";
  return object_schema(facts);
}

}  // namespace slackline::wire
