// A table as JSON, for programs that render it themselves: `output=cells` of a list.
//
// {"preface": "...", "columns": [{"name", "right", "lesser", "wide"}], "items": [["cell", ...]],
// "metadata": {"continue": "..."}}. Cells are as in CSV: times in RFC 3339, UTC.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "wire/format/text_table.h"

namespace slackline::wire {

struct CellColumn {
  TableColumn column;
  bool wide = false;  // shown only where all columns are asked for
};

struct Cells {
  std::string preface;  // lines to stand above
  std::vector<CellColumn> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns
  bool more = false;                           // rows were left out
};

// The columns behind the first `narrow` ones are wide.
std::string encode_cells(const TextTable& table, std::size_t narrow, const std::string& preface,
                         const std::string& next);
Result<Cells> decode_cells(std::string_view json);

}  // namespace slackline::wire
