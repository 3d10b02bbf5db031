#include "wire/rest/decision_codec.h"

#include <nlohmann/json.hpp>

#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::kDataLoss,
              "stored " + std::string(what) + " are not as they were written");
}

}  // namespace

std::string encode_candidates(const std::vector<DecisionCandidate>& candidates) {
  JsonWriter out;
  write_value(out, candidates);
  return out.take();
}

Result<std::vector<DecisionCandidate>> decode_candidates(std::string_view json) {
  const Json list = Json::parse(json, nullptr, false);
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

std::string encode_reasons(const ReasonCounts& reasons) {
  JsonWriter out;
  write_value(out, reasons);
  return out.take();
}

Result<ReasonCounts> decode_reasons(std::string_view json) {
  const Json object = Json::parse(json, nullptr, false);
  if (!object.is_object()) return damaged("reasons");
  ReasonCounts reasons;
  for (const auto& [reason, nodes] : object.items()) {
    if (!nodes.is_number_unsigned()) return damaged("reasons");
    reasons.emplace_back(reason, nodes.get<std::uint32_t>());
  }
  return reasons;
}

std::string encode_stop(const DecisionStop& stop) {
  JsonWriter out;
  write_value(out, stop);
  return out.take();
}

Result<DecisionStop> decode_stop(std::string_view json) {
  const Json object = Json::parse(json, nullptr, false);
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

}  // namespace slackline::wire
