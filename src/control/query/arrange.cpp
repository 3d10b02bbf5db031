#include "control/query/arrange.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "slackline/base/text.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/model/task.h"

namespace slackline::control {
namespace {

// Nothing: the row has no value.
using SortValue = std::optional<std::variant<double, std::string>>;

template <class Row>
struct SortKey {
  std::string_view name;
  SortValue (*of)(const Row&);
};

template <class Row>
struct StateRule {
  std::string_view name;
  bool (*holds)(const Row&);
};

TaskState state_in(const QueueRow& row) {
  return row.state;
}

TaskState state_in(const ListedTask& row) {
  return row.task.state;
}

template <class Row, TaskState kState>
StateRule<Row> in_state() {
  return {to_string(kState), [](const Row& row) { return state_in(row) == kState; }};
}

// How rows of one kind are arranged.
template <class Row>
struct Rules {
  std::vector<SortKey<Row>> keys;
  std::vector<StateRule<Row>> states;
  std::string (*words)(const Row&);  // that a search looks at
};

SortValue number_of(const std::optional<double>& value) {
  return value ? SortValue(*value) : std::nullopt;
}

SortValue count_of(std::int64_t value) {
  return static_cast<double>(value);
}

std::int64_t free_gpus(const ListedNode& node) {
  std::int64_t total = 0;
  for (const GpuUseView& use : node.gpus)
    total += std::max<std::int64_t>(use.free, 0);
  return total;
}

const Rules<QueueRow>& rules_of(const QueueRow*) {
  using R = const QueueRow&;
  static const Rules<QueueRow> kRules = {
      {{"name", [](R row) -> SortValue { return row.key.str(); }},
       {"class", [](R row) -> SortValue { return std::string(row.qos_class()); }},
       {"state", [](R row) -> SortValue { return std::string(to_string(row.state)); }},
       {"reason", [](R row) -> SortValue { return row.reason; }},
       {"deadline", [](R row) { return number_of(row.deadline_s); }},
       {"slack", [](R row) { return number_of(row.slack_s); }},
       {"margin", [](R row) { return number_of(row.margin_s); }},
       {"start", [](R row) { return number_of(row.start_s); }},
       {"finish", [](R row) { return number_of(row.finish_s); }},
       {"gpus", [](R row) { return count_of(row.gpus); }},
       {"age", [](R row) { return number_of(row.age_s); }}},
      {in_state<QueueRow, TaskState::kWaiting>(),
       in_state<QueueRow, TaskState::kStarting>(),
       in_state<QueueRow, TaskState::kRunning>(),
       {"late", [](R row) { return row.predicted_late(); }},
       {"blocked", [](R row) { return row.blocked; }}},
      [](R row) {
        return format("{} {} {} {} {} {} {}", row.key.str(), row.queue(), row.qos_class(),
                      row.intent->model.value_or(""), row.reason,
                      row.plan ? row.plan->gpu_type.str() : "", to_string(row.kind));
      }};
  return kRules;
}

const Rules<ListedTask>& rules_of(const ListedTask*) {
  using R = const ListedTask&;
  static const Rules<ListedTask> kRules = {
      {{"name", [](R row) -> SortValue { return row.task.key.str(); }},
       {"state", [](R row) -> SortValue { return std::string(to_string(row.task.state)); }},
       {"created", [](R row) { return number_of(row.task.created_s); }},
       {"started", [](R row) { return number_of(row.started_s()); }},
       {"deadline", [](R row) { return number_of(row.deadline_s); }},
       {"gpus", [](R row) { return count_of(row.task.all_gpus); }}},
      {in_state<ListedTask, TaskState::kWaiting>(),
       in_state<ListedTask, TaskState::kStarting>(),
       in_state<ListedTask, TaskState::kRunning>(),
       {"bound", [](R row) { return row.task.pods_bound > 0; }},
       {"unbound", [](R row) { return row.task.pods_bound == 0; }}},
      [](R row) {
        const Task& task = row.task;
        std::string nodes;
        for (const NodeName& node : task.nodes)
          nodes += " " + node.str();
        return format("{} {} {} {} {}{}", task.key.str(), task.kind_name(),
                      queue_of(task.intent, task.key.ns), task.intent.model.value_or(""),
                      to_string(task.state), nodes);
      }};
  return kRules;
}

const Rules<ListedNode>& rules_of(const ListedNode*) {
  using R = const ListedNode&;
  static const Rules<ListedNode> kRules = {
      {{"name", [](R row) -> SortValue { return row.node().name.str(); }},
       {"type", [](R row) -> SortValue { return row.node().gpu_type.str(); }},
       {"free", [](R row) { return count_of(free_gpus(row)); }}},
      {{"gpu", [](R row) { return !row.gpus.empty(); }},
       {"free", [](R row) { return core::is_usable(row.node()) && free_gpus(row) > 0; }},
       {"full", [](R row) { return !row.gpus.empty() && free_gpus(row) == 0; }},
       {"unusable", [](R row) { return !core::is_usable(row.node()); }}},
      [](R row) {
        return format("{} {} {} {} {}", row.node().name.str(), row.node().gpu_type.str(), row.block,
                      join(row.gpu_pods(), " "), join(row.taints(), " "));
      }};
  return kRules;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  const std::string lower = to_lower(text);
  for (std::size_t begin = 0; begin < lower.size();) {
    const std::size_t end = std::min(lower.find(' ', begin), lower.size());
    if (end > begin) words.push_back(lower.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

template <class Rule>
const Rule* find_rule(const std::vector<Rule>& rules, std::string_view name) {
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

template <class Rule>
std::vector<std::string_view> names_of_rules(const std::vector<Rule>& rules) {
  std::vector<std::string_view> names;
  for (const Rule& rule : rules)
    names.push_back(rule.name);
  return names;
}

template <class Rule>
tl::unexpected<Error> unknown(std::string_view parameter, const std::string& given,
                              const std::vector<Rule>& rules) {
  std::vector<std::string> known;
  for (const std::string_view name : names_of_rules(rules))
    known.emplace_back(name);
  return fail(ErrorCode::kInvalidArgument, format("{}=\"{}\": expected one of {}", parameter,
                                                  printable(given, 64), join(known, ", ")));
}

template <class Row>
void sort_rows(std::vector<Row>& rows, const SortKey<Row>& key, bool descending) {
  std::vector<std::pair<SortValue, std::size_t>> order;
  order.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    order.emplace_back(key.of(rows[i]), i);
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (!a.first || !b.first) return a.first.has_value() && !b.first.has_value();
    return descending ? *b.first < *a.first : *a.first < *b.first;
  });
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const auto& [value, at] : order)
    sorted.push_back(std::move(rows[at]));
  rows = std::move(sorted);
}

template <class Row>
Status arrange_by(const Rules<Row>& rules, std::vector<Row>& rows, const Arrangement& asked) {
  if (!asked.state.empty()) {
    const auto* rule = find_rule(rules.states, asked.state);
    if (rule == nullptr) return unknown("state", asked.state, rules.states);
    std::erase_if(rows, [&](const Row& row) { return !rule->holds(row); });
  }
  if (const auto words = words_of(asked.search); !words.empty())
    std::erase_if(rows, [&](const Row& row) {
      const std::string text = to_lower(rules.words(row));
      return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return text.find(word) == std::string::npos;
      });
    });
  if (asked.sort.empty()) return {};
  const bool descending = asked.sort.starts_with('-');
  const auto* key = find_rule(rules.keys, std::string_view(asked.sort).substr(descending ? 1 : 0));
  if (key == nullptr) return unknown("sort", asked.sort, rules.keys);
  sort_rows(rows, *key, descending);
  return {};
}

}  // namespace

Status arrange(std::vector<QueueRow>& rows, const Arrangement& asked) {
  return arrange_by(rules_of(rows.data()), rows, asked);
}

Status arrange(std::vector<ListedTask>& rows, const Arrangement& asked) {
  return arrange_by(rules_of(rows.data()), rows, asked);
}

Status arrange(std::vector<ListedNode>& rows, const Arrangement& asked) {
  return arrange_by(rules_of(rows.data()), rows, asked);
}

template <class Row>
const std::vector<std::string_view>& sort_keys_of() {
  static const std::vector<std::string_view> kNames =
      names_of_rules(rules_of(static_cast<const Row*>(nullptr)).keys);
  return kNames;
}

template <class Row>
const std::vector<std::string_view>& states_of() {
  static const std::vector<std::string_view> kNames =
      names_of_rules(rules_of(static_cast<const Row*>(nullptr)).states);
  return kNames;
}

template const std::vector<std::string_view>& sort_keys_of<QueueRow>();
template const std::vector<std::string_view>& sort_keys_of<ListedTask>();
template const std::vector<std::string_view>& sort_keys_of<ListedNode>();
template const std::vector<std::string_view>& states_of<QueueRow>();
template const std::vector<std::string_view>& states_of<ListedTask>();
template const std::vector<std::string_view>& states_of<ListedNode>();

}  // namespace slackline::control
