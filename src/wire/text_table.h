// Aligned columns for people: what `Accept: text/plain` answers and the command line prints.
#pragma once

#include <string>
#include <vector>

namespace slackline::wire {

// Cells are made printable and cut at 80 characters; numbers are aligned by the caller's wish: a
// heading that begins with '>' aligns its column to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings);
  // As many cells as headings; fewer are filled up with "-".
  void add(std::vector<std::string> cells);
  std::string str() const;  // one line per row, spaces trimmed at the end

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // the headings first
};

}  // namespace slackline::wire
