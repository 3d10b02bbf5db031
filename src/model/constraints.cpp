#include "slackline/model/constraints.h"

#include <algorithm>

#include "slackline/base/text.h"

namespace slackline {
namespace {

bool compares(const MatchExpression& expression, const std::string& label) {
  if (expression.values.size() != 1) return false;
  const auto mine = parse_int(label);
  const auto bound = parse_int(expression.values.front());
  if (!mine || !bound) return false;
  return expression.op == MatchOperator::kGt ? *mine > *bound : *mine < *bound;
}

}  // namespace

bool has_labels(const Labels& labels, const Labels& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    const std::string* value = find_label(labels, label.first);
    return value != nullptr && *value == label.second;
  });
}

bool matches(const MatchExpression& expression, const Labels& labels, std::string_view node_name) {
  const std::string name(expression.key == "metadata.name" ? node_name : std::string_view{});
  const std::string* label =
      expression.key == "metadata.name" ? &name : find_label(labels, expression.key);
  const auto listed = [&] {
    return std::find(expression.values.begin(), expression.values.end(), *label) !=
           expression.values.end();
  };
  switch (expression.op) {
    case MatchOperator::kIn:
      return label != nullptr && listed();
    case MatchOperator::kNotIn:
      return label == nullptr || !listed();
    case MatchOperator::kExists:
      return label != nullptr;
    case MatchOperator::kDoesNotExist:
      return label == nullptr;
    case MatchOperator::kGt:
    case MatchOperator::kLt:
      break;
  }
  return label != nullptr && compares(expression, *label);
}

bool selects(const Labels& match_labels, const std::vector<MatchExpression>& match_expressions,
             const Labels& labels) {
  return has_labels(labels, match_labels) &&
         std::all_of(match_expressions.begin(), match_expressions.end(),
                     [&](const MatchExpression& each) { return matches(each, labels); });
}

}  // namespace slackline
