#include "wire/rest/decision_codec.h"

#include <nlohmann/json.hpp>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::kDataLoss,
              "stored " + std::string(what) + " are not as they were written");
}

std::string text_in(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

std::uint64_t count_in(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_number_unsigned() ? member->get<std::uint64_t>() : 0;
}

Result<double> time_in(const Json& object, const char* key) {
  const auto time_s = parse_rfc3339_s(text_in(object, key));
  if (time_s) return *time_s;
  return fail(ErrorCode::kInvalidArgument, format("{}: is missing, or no time", key));
}

Result<std::vector<DecisionCandidate>> candidates_of(const Json& list) {
  if (!list.is_array()) return damaged("candidates");
  std::vector<DecisionCandidate> candidates;
  for (const Json& item : list) {
    if (!item.is_object() || !item.contains("node") || !item["node"].is_string() ||
        !item.contains("score") || !item["score"].is_number_integer())
      return damaged("candidates");
    DecisionCandidate candidate{item["node"].get<std::string>(), item["score"].get<int>(), {}};
    if (item.contains("features") && item["features"].is_object())
      for (const auto& [name, value] : item["features"].items())
        if (value.is_number()) candidate.features.emplace_back(name, value.get<double>());
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Result<ReasonCounts> reasons_of(const Json& object) {
  if (!object.is_object()) return damaged("reasons");
  ReasonCounts reasons;
  for (const auto& [reason, nodes] : object.items()) {
    if (!nodes.is_number_unsigned()) return damaged("reasons");
    reasons.emplace_back(reason, nodes.get<std::uint32_t>());
  }
  return reasons;
}

Result<DecisionStop> stop_of(const Json& object) {
  if (!object.is_object()) return damaged("stops");
  DecisionStop stop;
  const auto number = [&](const char* key, double& value) {
    if (object.contains(key) && object[key].is_number()) value = object[key].get<double>();
  };
  const auto flag = [&](const char* key, bool& value) {
    if (object.contains(key) && object[key].is_boolean()) value = object[key].get<bool>();
  };
  number("gainSeconds", stop.gain_s);
  number("lostGpuSeconds", stop.lost_gpu_s);
  number("workLeft", stop.work_left);
  flag("savesDeadline", stop.saves_deadline);
  flag("risksDeadline", stop.risks_deadline);
  if (!object.contains("for")) return stop;
  if (!object["for"].is_string()) return damaged("stops");
  const auto asker = object["for"].get<std::string>();
  const std::size_t slash = asker.find('/');
  if (slash == std::string::npos) return damaged("stops");
  stop.asker = {asker.substr(0, slash), asker.substr(slash + 1)};
  return stop;
}

Result<DecisionRow> read_listed(const Json& item) {
  if (!item.is_object()) return fail(ErrorCode::kInvalidArgument, "is no object");
  const auto verb = parse_verb(text_in(item, "verb"));
  if (!verb) return fail(ErrorCode::kInvalidArgument, "verb: is missing, or unknown");
  DecisionRow row;
  row.verb = *verb;
  SLACKLINE_ASSIGN(row.time_s, time_in(item, "time"));
  row.schema_version = static_cast<int>(count_in(item, "schemaVersion"));
  row.pod_uid = Uid(text_in(item, "podUid"));
  row.pod = {text_in(item, "namespace"), text_in(item, "name")};
  row.plan_id = text_in(item, "plan");
  row.policy = text_in(item, "policy");
  row.options_hash = text_in(item, "optionsHash");
  row.snapshot_version = count_in(item, "snapshotVersion");
  row.nodes_asked = static_cast<std::uint32_t>(count_in(item, "nodesAsked"));
  row.result = text_in(item, "result");
  if (const auto us = item.find("durationMicroseconds"); us != item.end() && us->is_number())
    row.duration_us = us->get<double>();
  if (item.contains("reasons")) {
    SLACKLINE_ASSIGN(row.reasons, reasons_of(item["reasons"]));
  }
  if (item.contains("candidates")) {
    SLACKLINE_ASSIGN(row.candidates, candidates_of(item["candidates"]));
  }
  if (item.contains("stop")) {
    SLACKLINE_ASSIGN(row.stop, stop_of(item["stop"]));
  }
  if (!item.contains("outcome")) return row;
  DecisionOutcome outcome{text_in(item["outcome"], "node"), 0};
  SLACKLINE_ASSIGN(outcome.bound_s, time_in(item["outcome"], "boundAt"));
  row.outcome = std::move(outcome);
  return row;
}

}  // namespace

std::string encode_candidates(const std::vector<DecisionCandidate>& candidates) {
  JsonWriter out;
  write_value(out, candidates);
  return out.take();
}

Result<std::vector<DecisionCandidate>> decode_candidates(std::string_view json) {
  return candidates_of(Json::parse(json, nullptr, false));
}

std::string encode_reasons(const ReasonCounts& reasons) {
  JsonWriter out;
  write_value(out, reasons);
  return out.take();
}

Result<ReasonCounts> decode_reasons(std::string_view json) {
  return reasons_of(Json::parse(json, nullptr, false));
}

std::string encode_stop(const DecisionStop& stop) {
  JsonWriter out;
  write_value(out, stop);
  return out.take();
}

Result<DecisionStop> decode_stop(std::string_view json) {
  return stop_of(Json::parse(json, nullptr, false));
}

Result<std::vector<DecisionRow>> read_listed_decisions(std::string_view json) {
  const Json list = Json::parse(json, nullptr, false);
  if (!list.is_object() || !list.contains("items") || !list["items"].is_array())
    return fail(ErrorCode::kInvalidArgument,
                "items: is missing, or no list; expected what GET /v1/decisions answers");
  std::vector<DecisionRow> rows;
  for (const Json& item : list["items"]) {
    auto row = read_listed(item);
    if (!row) return fail(row.error().with_context(format("items[{}]", rows.size())));
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace slackline::wire
