#include "wire/format/csv.h"

#include <algorithm>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
constexpr std::size_t kMaxRows = 1'000'000;
constexpr std::size_t kMaxColumns = 1024;
constexpr std::size_t kListedProblems = 20;
constexpr std::int64_t kMaxCount = 1'000'000'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kUnquotedEnd = ",\r\n";

class CsvScanner {
 public:
  explicit CsvScanner(std::string_view text) : text_(text) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  // False at the end of the text. Blank lines are skipped.
  Result<bool> next(CsvRow& row) {
    while (skip_line_end()) {
    }
    if (at_ == text_.size()) return false;
    row.line = line_;
    row.cells.clear();
    do {
      if (row.cells.size() == kMaxColumns) return wrong(format("more than {} cells", kMaxColumns));
      SLACKLINE_ASSIGN(std::string cell, read_cell());
      row.cells.push_back(std::move(cell));
    } while (skip(','));
    return true;
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::kInvalidArgument, format("line {}: {}", line_, what));
  }

  bool skip(char c) {
    const bool here = at_ < text_.size() && text_[at_] == c;
    at_ += here ? 1 : 0;
    return here;
  }

  bool skip_line_end() {
    const bool carriage_return = skip('\r');
    const bool line_feed = skip('\n');
    line_ += carriage_return || line_feed ? 1 : 0;
    return carriage_return || line_feed;
  }

  void skip_spaces() {
    while (skip(' ') || skip('\t')) {
    }
  }

  Result<std::string> read_cell() {
    skip_spaces();
    if (skip('"')) return read_quoted();
    const std::size_t end = std::min(text_.find_first_of(kUnquotedEnd, at_), text_.size());
    const std::string_view cell = trim(text_.substr(at_, end - at_));
    at_ = end;
    return std::string(cell);
  }

  Result<std::string> read_quoted() {
    const int opened = line_;
    std::string cell;
    do {
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos)
        return fail(ErrorCode::kInvalidArgument,
                    format("line {}: a quote opens here and never closes", opened));
      const std::string_view piece = text_.substr(at_, end - at_);
      line_ += static_cast<int>(std::count(piece.begin(), piece.end(), '\n'));
      cell += piece;
      at_ = end + 1;
      if (at_ < text_.size() && text_[at_] == '"') cell += '"';
    } while (skip('"'));
    skip_spaces();
    if (at_ < text_.size() && kUnquotedEnd.find(text_[at_]) == std::string_view::npos)
      return wrong("text after a closing quote; write a quote inside a cell twice");
    return cell;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

Status check_header(const CsvTable& table) {
  for (std::size_t i = 0; i < table.header.size(); ++i)
    if (!table.header[i].empty() && *table.column(table.header[i]) != i)
      return fail(ErrorCode::kInvalidArgument,
                  format("the header names \"{}\" twice", printable(table.header[i], 64)));
  return {};
}

}  // namespace

std::string_view CsvRow::cell(std::size_t column) const {
  return column < cells.size() ? std::string_view(cells[column]) : std::string_view{};
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

Result<std::size_t> CsvTable::require(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  return fail(ErrorCode::kInvalidArgument, format("the header has no column \"{}\"; it names {}",
                                                  name, printable(join(header, ", "), 512)));
}

Result<CsvTable> read_csv(std::string_view text) {
  if (text.size() > kMaxBytes)
    return fail(ErrorCode::kResourceExhausted, format("more than {} MiB", kMaxBytes >> 20U));
  if (text.find('\0') != std::string_view::npos)
    return fail(ErrorCode::kInvalidArgument,
                "contains zero bytes, so it is not UTF-8 text (spreadsheets call UTF-16 "
                "\"Unicode\"); save it as CSV UTF-8");
  CsvScanner scanner(text);
  CsvTable table;
  CsvRow row;
  SLACKLINE_ASSIGN(bool more, scanner.next(row));
  if (!more) return fail(ErrorCode::kInvalidArgument, "is empty; the first line names the columns");
  table.header = std::move(row.cells);
  SLACKLINE_TRY(check_header(table));
  while (true) {
    SLACKLINE_ASSIGN(more, scanner.next(row));
    if (!more) return table;
    if (table.rows.size() == kMaxRows)
      return fail(ErrorCode::kResourceExhausted, format("more than {} rows", kMaxRows));
    table.rows.push_back(std::move(row));
  }
}

void append_csv_row(std::string& out, const std::vector<std::string>& cells) {
  const bool blank = cells.size() == 1 && cells[0].empty();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string& cell = cells[i];
    if (i > 0) out += ',';
    const bool plain = cell.find_first_of("\",\r\n") == std::string::npos &&
                       trim(cell).size() == cell.size() && !blank &&
                       !cell.starts_with(kByteOrderMark);
    if (plain) {
      out += cell;
      continue;
    }
    out += '"';
    for (const char c : cell)
      out.append(c == '"' ? 2 : 1, c);
    out += '"';
  }
  out += '\n';
}

std::string write_csv_with(const CsvTable& table, const std::vector<std::string>& names,
                           const std::vector<std::vector<std::string>>& cells) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table.header.size(); ++i)
    if (std::find(names.begin(), names.end(), table.header[i]) == names.end()) kept.push_back(i);
  const auto joined = [&kept](const auto& cell_of, const std::vector<std::string>& appended) {
    std::vector<std::string> row;
    for (const std::size_t i : kept)
      row.emplace_back(cell_of(i));
    row.insert(row.end(), appended.begin(), appended.end());
    return row;
  };
  std::string out;
  append_csv_row(out, joined([&](std::size_t i) { return table.header[i]; }, names));
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    append_csv_row(out, joined([&](std::size_t i) { return table.rows[r].cell(i); }, cells[r]));
  return out;
}

void RowProblems::add(int line, std::string_view field, std::string_view what) {
  if (++count_ <= kListedProblems) listed_ += format("\n  line {}: {}: {}", line, field, what);
}

Error RowProblems::error() const {
  const std::string more =
      count_ > kListedProblems ? format("\n  ... and {} more", count_ - kListedProblems) : "";
  return Error{ErrorCode::kInvalidArgument,
               format("{} {} wrong, so nothing was read:{}{}", count_,
                      count_ == 1 ? "value is" : "values are", listed_, more)};
}

std::optional<double> read_positive(const CsvTable& table, const CsvRow& row, std::size_t column,
                                    RowProblems& problems, NumberRange range) {
  const auto number = parse_number(row.cell(column));
  if (number && *number > 0 && range.holds(*number)) return *number;
  problems.add(
      row.line, table.header[column],
      format("\"{}\" must be a number {}", printable(row.cell(column), 64),
             range.most == kAnyRange.most ? "above 0"
                                          : format("from {:g} to {:g}", range.least, range.most)));
  return std::nullopt;
}

std::optional<int> read_count(const CsvTable& table, const CsvRow& row, std::size_t column,
                              RowProblems& problems) {
  const auto number = parse_int(row.cell(column));
  if (number && *number >= 1 && *number <= kMaxCount) return static_cast<int>(*number);
  problems.add(row.line, table.header[column],
               format("\"{}\" must be a whole number from 1", printable(row.cell(column), 64)));
  return std::nullopt;
}

}  // namespace slackline::wire
