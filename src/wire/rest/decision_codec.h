// The parts of a decision that the journal stores as JSON text, and lists of decisions as another
// replica answers them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/decision.h"

namespace slackline::wire {

using ReasonCounts = std::vector<std::pair<std::string, std::uint32_t>>;

// [{"node":"gpu-1","score":8,"features":{"cer":12.5}}]
std::string encode_candidates(const std::vector<DecisionCandidate>& candidates);
Result<std::vector<DecisionCandidate>> decode_candidates(std::string_view json);

// {"Pass":3,"HeldForOthers":1}, in the given order
std::string encode_reasons(const ReasonCounts& reasons);
Result<ReasonCounts> decode_reasons(std::string_view json);

// {"for":"team/train","gainSeconds":590,...}
std::string encode_stop(const DecisionStop& stop);
Result<DecisionStop> decode_stop(std::string_view json);

// What GET /v1/decisions answers.
Result<std::vector<DecisionRow>> read_listed_decisions(std::string_view json);

}  // namespace slackline::wire
