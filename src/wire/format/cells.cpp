#include "wire/format/cells.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

using nlohmann::json;

bool flag(const json& object, const char* key) {
  return object.contains(key) && object[key].is_boolean() && object[key].get<bool>();
}

std::string text(const json& object, const char* key) {
  if (!object.contains(key) || !object[key].is_string()) return {};
  return object[key].get<std::string>();
}

}  // namespace

std::string encode_cells(const TextTable& table, std::size_t narrow, const std::string& preface,
                         const std::string& next) {
  JsonWriter out;
  out.begin_object().field("preface", preface).key("columns").begin_array();
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const TableColumn& column = table.columns()[i];
    out.begin_object()
        .field("name", column.name)
        .field("right", column.right)
        .field("lesser", column.lesser)
        .field("wide", i >= narrow)
        .end_object();
  }
  out.end_array().key("items").begin_array();
  for (const std::vector<std::string>& row : table.rows()) {
    out.begin_array();
    for (const std::string& cell : row)
      out.string(cell);
    out.end_array();
  }
  out.end_array().key("metadata").begin_object().field("continue", next).end_object().end_object();
  return out.take();
}

Result<Cells> decode_cells(std::string_view document) {
  const json table = json::parse(document, nullptr, false);
  const auto list = [&table](const char* key) -> const json* {
    return table.is_object() && table.contains(key) && table[key].is_array() ? &table[key]
                                                                             : nullptr;
  };
  const json* columns = list("columns");
  const json* items = list("items");
  if (columns == nullptr || items == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the answer is not a table of Slackline's REST API");
  Cells cells;
  cells.preface = text(table, "preface");
  for (const json& column : *columns)
    if (column.is_object())
      cells.columns.push_back(
          {{text(column, "name"), flag(column, "right"), flag(column, "lesser")},
           flag(column, "wide")});
  for (const json& item : *items) {
    std::vector<std::string> row;
    if (item.is_array())
      for (const json& cell : item)
        row.push_back(cell.is_string() ? cell.get<std::string>() : "");
    row.resize(cells.columns.size());
    cells.rows.push_back(std::move(row));
  }
  const auto metadata = table.find("metadata");
  cells.more =
      metadata != table.end() && metadata->is_object() && !text(*metadata, "continue").empty();
  return cells;
}

}  // namespace slackline::wire
