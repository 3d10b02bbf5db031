#include "wire/text_table.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
#include "wire/csv.h"

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

}  // namespace

TextTable::TextTable(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
  rows_.push_back(std::move(headings));
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(right_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::vector<std::string>> TextTable::shown() const {
  std::vector<std::vector<std::string>> shown = rows_;
  for (auto& row : shown)
    for (std::string& cell : row)
      cell = cell.empty() ? "-" : printable(cell, kMaxCell);
  return shown;
}

std::vector<std::size_t> TextTable::widths() const {
  return widths_of(shown());
}

std::string TextTable::str(const std::vector<std::size_t>& at_least) const {
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
      line += right_[i] ? gap + row[i] : row[i] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string TextTable::csv() const {
  std::string out;
  std::vector<std::string> names = rows_.front();
  for (std::string& name : names) {
    name = to_lower(name);
    std::replace(name.begin(), name.end(), ' ', '_');
  }
  append_csv_row(out, names);
  for (std::size_t i = 1; i < rows_.size(); ++i)
    append_csv_row(out, rows_[i]);
  return out;
}

}  // namespace slackline::wire
