#include "config/finding.h"

#include <algorithm>
#include <tuple>

#include "slackline/base/text.h"

namespace slackline::config {

std::string_view to_string(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

bool has_errors(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Severity::kError; });
}

void sort_by_line(Findings& findings) {
  const auto key = [](const Finding& f) { return std::tie(f.line, f.path, f.problem, f.remedy); };
  std::sort(findings.begin(), findings.end(),
            [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
  findings.erase(std::unique(findings.begin(), findings.end()), findings.end());
}

std::string to_string(const Finding& finding, std::string_view file) {
  std::string text(file);
  if (finding.line > 0) text += format(":{}", finding.line);
  text += format(": {}: ", to_string(finding.severity));
  if (!finding.path.empty()) text += finding.path + ": ";
  text += finding.problem;
  if (!finding.remedy.empty()) text += "; " + finding.remedy;
  return text;
}

std::string to_string(const Findings& findings, std::string_view file) {
  std::string text;
  for (const Finding& finding : findings)
    text += to_string(finding, file) + "\n";
  return text;
}

}  // namespace slackline::config
