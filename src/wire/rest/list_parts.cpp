#include "wire/rest/list_parts.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace slackline::wire {
namespace {

using nlohmann::ordered_json;

Result<ordered_json> parse_list(const std::string& text) {
  ordered_json list = ordered_json::parse(text, nullptr, false);
  if (!list.is_object() || !list.contains("items") || !list["items"].is_array())
    return fail(ErrorCode::kInvalidArgument, "the answer is not a list of Slackline's REST API");
  return list;
}

}  // namespace

Result<std::string> join_list_parts(std::vector<std::string> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  if (parts.empty()) return fail(ErrorCode::kInvalidArgument, "a list without parts");
  SLACKLINE_ASSIGN(ordered_json all, parse_list(parts.front()));
  ordered_json& items = all["items"];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    SLACKLINE_ASSIGN(ordered_json part, parse_list(parts[i]));
    for (ordered_json& item : part["items"])
      items.push_back(std::move(item));
    all["metadata"] = part.value("metadata", ordered_json::object());
  }
  return all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace slackline::wire
