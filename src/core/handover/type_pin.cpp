#include "type_pin.h"

#include <algorithm>

namespace slackline::core {

std::optional<MatchExpression> type_requirement(const ClusterSnapshot& snapshot,
                                                const GpuCatalog& catalog,
                                                const std::vector<NodeIndex>& of_type,
                                                const std::vector<NodeIndex>& planned) {
  const auto label_of = [&](NodeIndex node, const std::string& key) {
    const std::string* value = find_label(snapshot.node(node).node->labels, key);
    return value != nullptr && catalog.names_type(key, *value) ? value : nullptr;
  };
  for (const std::string& key : catalog.type_labels) {
    const bool shared = std::all_of(planned.begin(), planned.end(),
                                    [&](NodeIndex node) { return label_of(node, key) != nullptr; });
    if (!shared) continue;
    MatchExpression in{key, MatchOperator::kIn, {}};
    for (const NodeIndex node : of_type)
      if (const std::string* value = label_of(node, key)) in.values.push_back(*value);
    std::sort(in.values.begin(), in.values.end());
    in.values.erase(std::unique(in.values.begin(), in.values.end()), in.values.end());
    return in;
  }
  return std::nullopt;
}

std::vector<NodeSelectorTerm> narrowed(std::vector<NodeSelectorTerm> terms,
                                       const MatchExpression& type) {
  if (terms.empty()) terms.emplace_back();
  for (NodeSelectorTerm& term : terms)
    term.push_back(type);
  return terms;
}

bool is_narrowed(const std::vector<NodeSelectorTerm>& terms, const MatchExpression& type) {
  const auto keeps_type = [&](const MatchExpression& expression) {
    return expression.key == type.key && expression.op == MatchOperator::kIn &&
           std::includes(type.values.begin(), type.values.end(), expression.values.begin(),
                         expression.values.end());
  };
  return !terms.empty() &&
         std::all_of(terms.begin(), terms.end(), [&](const NodeSelectorTerm& term) {
           return std::any_of(term.begin(), term.end(), keeps_type);
         });
}

}  // namespace slackline::core
