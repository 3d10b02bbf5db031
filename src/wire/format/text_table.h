// A table for people, with aligned columns, or for spreadsheets, as CSV: what REST answers and the
// command line prints.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::wire {

struct TableColumn {
  std::string name;
  bool right = false;   // aligned to the right
  bool lesser = false;  // left out first if there is no room
};

// How a cell is painted: the parameters of SGR ("1;31"), or nothing.
using Paint = std::function<std::string_view(const std::string& cell)>;

// A heading that begins with '>' aligns its column to the right, with '~' makes it a lesser one.
class TextTable {
 public:
  explicit TextTable(const std::vector<std::string>& headings);
  static TextTable of(std::vector<TableColumn> columns);
  // As many cells as headings; fewer are filled up with empty ones.
  void add(std::vector<std::string> cells);

  // One line per row, spaces trimmed at the end. Cells are made printable and cut at 80 characters;
  // an empty one is "-".
  std::string str() const { return str({}); }
  // With columns at least so wide: parts of one table fit below each other.
  std::string str(const std::vector<std::size_t>& at_least, const Paint& paint = {}) const;
  // How wide the columns of str() are.
  std::vector<std::size_t> widths() const;
  // Cells as they are; headings in lower case, "_" for a space.
  std::string csv() const;

  const std::vector<TableColumn>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  TextTable() = default;
  std::vector<std::vector<std::string>> shown() const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace slackline::wire
