// Finding: something wrong in a configuration file: where, what, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slackline::config {

// kError: it will not start or will do harm. kWarning: it works worse than it could.
enum class Severity { kError, kWarning };
std::string_view to_string(Severity severity);

struct Finding {
  Severity severity = Severity::kError;
  int line = 0;      // from 1; 0 = the file as a whole
  std::string path;  // "extenders[0].httpTimeout"
  std::string problem;
  std::string remedy;
  friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

bool has_errors(const Findings& findings);

// Sorts by line, path and text; removes duplicates.
void sort_by_line(Findings& findings);

// "slackline.yaml:12: error: scoring.theta: is -1; it must be >= 0", as compilers write it.
std::string to_string(const Finding& finding, std::string_view file);
// One finding a line, each line ended.
std::string to_string(const Findings& findings, std::string_view file);

}  // namespace slackline::config
