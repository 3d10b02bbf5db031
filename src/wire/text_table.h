// A table for people, with aligned columns, or for spreadsheets, as CSV: what REST answers and the
// command line prints.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace slackline::wire {

// A heading that begins with '>' aligns its column to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings);
  // As many cells as headings; fewer are filled up with empty ones.
  void add(std::vector<std::string> cells);

  // One line per row, spaces trimmed at the end. Cells are made printable and cut at 80 characters;
  // an empty one is "-".
  std::string str() const { return str({}); }
  // With columns at least so wide: parts of one table fit below each other.
  std::string str(const std::vector<std::size_t>& at_least) const;
  // How wide the columns of str() are.
  std::vector<std::size_t> widths() const;
  // Cells as they are; headings in lower case, "_" for a space.
  std::string csv() const;

 private:
  std::vector<std::vector<std::string>> shown() const;

  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // the headings first
};

}  // namespace slackline::wire
