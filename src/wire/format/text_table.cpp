#include "wire/format/text_table.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
#include "wire/format/csv.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMaxCell = 80;

// Columns on a screen, not bytes: continuation bytes of UTF-8 take none.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::vector<std::size_t> widths_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i]));
  return widths;
}

std::string painted(const std::string& cell, const Paint& paint) {
  const std::string_view colour = paint ? paint(cell) : std::string_view();
  return colour.empty() ? cell : format("\x1b[{}m{}\x1b[0m", colour, cell);
}

}  // namespace

TextTable::TextTable(const std::vector<std::string>& headings) {
  for (const std::string& heading : headings) {
    const std::size_t name = std::min(heading.find_first_not_of(">~"), heading.size());
    const std::string_view marks = std::string_view(heading).substr(0, name);
    columns_.push_back({heading.substr(name), marks.find('>') != std::string_view::npos,
                        marks.find('~') != std::string_view::npos});
  }
}

TextTable TextTable::of(std::vector<TableColumn> columns) {
  TextTable table;
  table.columns_ = std::move(columns);
  return table;
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::vector<std::string>> TextTable::shown() const {
  std::vector<std::vector<std::string>> shown(1);
  for (const TableColumn& column : columns_)
    shown.front().push_back(column.name);
  shown.insert(shown.end(), rows_.begin(), rows_.end());
  for (auto& row : shown)
    for (std::string& cell : row)
      cell = cell.empty() ? "-" : printable(cell, kMaxCell);
  return shown;
}

std::vector<std::size_t> TextTable::widths() const {
  return widths_of(shown());
}

std::string TextTable::str(const std::vector<std::size_t>& at_least, const Paint& paint) const {
  const std::vector<std::vector<std::string>> shown = this->shown();
  std::vector<std::size_t> widths = widths_of(shown);
  for (std::size_t i = 0; i < std::min(widths.size(), at_least.size()); ++i)
    widths[i] = std::max(widths[i], at_least[i]);
  std::string out;
  for (const auto& row : shown) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - width(row[i]), ' ');
      if (i > 0) line += "  ";
      const std::string cell = painted(row[i], paint);
      line += columns_[i].right ? gap + cell : cell + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string TextTable::csv() const {
  std::string out;
  std::vector<std::string> names;
  for (const TableColumn& column : columns_) {
    names.push_back(to_lower(column.name));
    std::replace(names.back().begin(), names.back().end(), ' ', '_');
  }
  append_csv_row(out, names);
  for (const std::vector<std::string>& row : rows_)
    append_csv_row(out, row);
  return out;
}

}  // namespace slackline::wire
