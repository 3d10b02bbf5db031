#include "wire/rest/portrait_codec.h"

#include "slackline/base/text.h"
#include "wire/format/csv.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {

Result<std::vector<std::string>> read_listed_portraits(std::string_view json, std::size_t most) {
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
  return packed;
}

Result<std::vector<std::string>> read_posted_portraits(std::string_view json, std::size_t most) {
  auto packed = read_listed_portraits(json, most);
  if (packed && packed->empty())
    return fail(ErrorCode::kInvalidArgument, "items: is empty; there is nothing to store");
  return packed;
}

Result<std::string> packed_portraits_csv(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  std::string csv;
  append_csv_row(csv, {"namespace", "family", "packed"});
  for (const JsonView item : root["items"].items())
    append_csv_row(csv, {std::string(item["namespace"].text()), std::string(item["name"].text()),
                         std::string(item["packed"].text())});
  return csv;
}

Result<std::vector<std::string>> read_packed_portraits(std::string_view text, std::size_t most) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '{') return read_posted_portraits(text, most);
  SLACKLINE_ASSIGN(const CsvTable table, read_csv(text));
  const auto column = table.column("packed");
  if (!column)
    return fail(ErrorCode::kInvalidArgument,
                "the CSV has no column packed; `slackline portraits --packed -o csv` writes it");
  if (table.rows.empty() || table.rows.size() > most)
    return fail(ErrorCode::kInvalidArgument,
                format("{} portraits; expected 1 to {}", table.rows.size(), most));
  std::vector<std::string> packed;
  for (const CsvRow& row : table.rows)
    packed.emplace_back(row.cell(*column));
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
