#include "sim/csv_rows.h"

#include <cmath>

#include "slackline/base/text.h"
#include "wire/format/csv.h"

namespace slackline::sim {

tl::unexpected<Error> CsvRow::wrong(std::size_t column, std::string_view what) const {
  return fail(ErrorCode::kInvalidArgument,
              format("line {}: {} \"{}\": {}", line, (*columns)[column],
                     printable(cells[column], 40), what));
}

Result<double> CsvRow::number(std::size_t column, double least, double most) const {
  const auto value = parse_number(cells[column]);
  if (!value || !std::isfinite(*value)) return wrong(column, "must be a number");
  if (*value < least) return wrong(column, format("must be at least {}", least));
  if (*value > most) return wrong(column, format("must be at most {}", most));
  return *value;
}

Result<double> CsvRow::positive(std::size_t column, double most) const {
  SLACKLINE_ASSIGN(const double value, number(column, -kAnyNumber, most));
  if (!(value > 0)) return wrong(column, "must be above 0");
  return value;
}

Result<std::int64_t> CsvRow::integer(std::size_t column, std::int64_t least) const {
  const auto value = parse_int(cells[column]);
  if (!value) return wrong(column, "must be an integer");
  if (*value < least) return wrong(column, format("must be at least {}", least));
  return *value;
}

Result<std::vector<CsvRow>> parse_csv(std::string_view text,
                                      const std::vector<std::string>& columns) {
  SLACKLINE_ASSIGN(wire::CsvTable table, wire::read_csv(text));
  if (table.header != columns)
    return fail(ErrorCode::kInvalidArgument,
                format("line 1: the header must be {}", join(columns, ",")));
  std::vector<CsvRow> rows;
  for (wire::CsvRow& row : table.rows) {
    if (row.cells.size() != columns.size())
      return fail(ErrorCode::kInvalidArgument, format("line {}: {} cells, the header has {}",
                                                      row.line, row.cells.size(), columns.size()));
    rows.push_back({row.line, std::move(row.cells), &columns});
  }
  return rows;
}

}  // namespace slackline::sim
