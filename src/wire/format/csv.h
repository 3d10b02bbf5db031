// CSV (RFC 4180) with a header row: sample files, public data sets, traces.
//
// Tolerated: a UTF-8 byte order mark, CRLF, blank lines, spaces around cells without quotes, quoted
// cells with commas, line breaks and escaped quotes, an unnamed column. Refused, with the line: a
// quote that never closes, text behind a closing quote, a column name given twice, no header, bytes
// that are not text. A row may have more or fewer cells than the header: the reader of the format
// says what that means.
//
// Limits: 64 MiB, 1,000,000 rows, 1,024 columns.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::wire {

struct CsvRow {
  int line = 0;  // from 1, where the row begins
  std::vector<std::string> cells;

  // Empty where the row is too short.
  std::string_view cell(std::size_t column) const;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  std::optional<std::size_t> column(std::string_view name) const;
  // A required column; the error names it and lists those of the file.
  Result<std::size_t> require(std::string_view name) const;
};

Result<CsvTable> read_csv(std::string_view text);

// The cells with commas between, "\n" behind, quotes where they are needed: read_csv() gives the
// same cells back.
void append_csv_row(std::string& out, const std::vector<std::string>& cells);

// The table with columns of these names behind its own, which they replace where the names are the
// same; `cells` has as many rows as the table and a cell per name.
std::string write_csv_with(const CsvTable& table, const std::vector<std::string>& names,
                           const std::vector<std::vector<std::string>>& cells);

// The problems of a file's rows, reported together, so that one repair suffices.
class RowProblems {
 public:
  void add(int line, std::string_view field, std::string_view what);
  bool empty() const { return count_ == 0; }
  // kInvalidArgument: the number of problems, then the first 20, one a line.
  Error error() const;

 private:
  std::size_t count_ = 0;
  std::string listed_;
};

// The range of a number, both ends included.
struct NumberRange {
  double least;
  double most;
  bool holds(double number) const { return number >= least && number <= most; }
};

// The cell as a number > 0 in the range, or as a whole number from 1 to 1e9; else nullopt and a
// problem.
inline constexpr NumberRange kAnyRange{0, std::numeric_limits<double>::max()};
std::optional<double> read_positive(const CsvTable& table, const CsvRow& row, std::size_t column,
                                    RowProblems& problems, NumberRange range = kAnyRange);
std::optional<int> read_count(const CsvTable& table, const CsvRow& row, std::size_t column,
                              RowProblems& problems);

}  // namespace slackline::wire
