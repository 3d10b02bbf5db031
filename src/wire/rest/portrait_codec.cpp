#include "wire/rest/portrait_codec.h"

#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {

Result<std::vector<std::string>> read_posted_portraits(std::string_view json, std::size_t most) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const JsonView items = root["items"];
  if (!root.is_object() || !items.is_array())
    return fail(ErrorCode::kInvalidArgument,
                "items: is missing, or no list; send what GET /v1/portraits?packed=true answers");
  std::vector<std::string> packed;
  for (const JsonView item : items.items()) {
    if (packed.size() == most)
      return fail(ErrorCode::kInvalidArgument,
                  format("items: more than {}; send them in parts", most));
    if (!item["packed"].is_string())
      return fail(ErrorCode::kInvalidArgument,
                  format("items[{}].packed: is missing, or no text; only GET "
                         "/v1/portraits?packed=true answers it",
                         packed.size()));
    packed.emplace_back(item["packed"].text());
  }
  if (packed.empty())
    return fail(ErrorCode::kInvalidArgument, "items: is empty; there is nothing to store");
  return packed;
}

std::string write_posted_portraits(std::span<const std::string> packed) {
  JsonWriter out;
  out.begin_object().key("items").begin_array();
  for (const std::string& one : packed)
    out.begin_object().field("packed", one).end_object();
  out.end_array().end_object();
  return out.take();
}

}  // namespace slackline::wire
