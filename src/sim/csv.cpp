#include "sim/csv.h"

#include <cmath>

namespace slackline::sim {

tl::unexpected<Error> CsvRow::wrong(std::size_t column, std::string_view what) const {
  return fail(ErrorCode::kInvalidArgument,
              format("line {}: {} \"{}\": {}", line, (*columns)[column],
                     printable(cells[column], 40), what));
}

Result<double> CsvRow::number(std::size_t column, double least) const {
  const auto value = parse_number(cells[column]);
  if (!value || !std::isfinite(*value)) return wrong(column, "must be a number");
  if (*value < least) return wrong(column, format("must be at least {}", least));
  return *value;
}

Result<std::int64_t> CsvRow::integer(std::size_t column, std::int64_t least) const {
  const auto value = parse_int(cells[column]);
  if (!value) return wrong(column, "must be an integer");
  if (*value < least) return wrong(column, format("must be at least {}", least));
  return *value;
}

Result<std::vector<CsvRow>> parse_csv(std::string_view text,
                                      const std::vector<std::string_view>& columns) {
  std::vector<CsvRow> rows;
  const std::vector<std::string_view> lines = split(text, '\n');  // trims '\r' too
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CsvRow row{i + 1, split(lines[i], ','), &columns};
    if (i == 0) {
      if (row.cells == columns) continue;
      return fail(ErrorCode::kInvalidArgument,
                  format("line 1: the header must be {}", fmt::join(columns, ",")));
    }
    if (lines[i].empty()) continue;
    if (row.cells.size() != columns.size())
      return fail(ErrorCode::kInvalidArgument, format("line {}: {} cells, the header has {}",
                                                      row.line, row.cells.size(), columns.size()));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace slackline::sim
