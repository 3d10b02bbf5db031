#include "wire/kube/kube_common.h"

#include <algorithm>

#include "slackline/base/duration.h"
#include "slackline/base/quantity.h"
#include "slackline/base/text.h"
#include "slackline/model/placement.h"

namespace slackline::wire {
namespace {

// Lists are short in practice; the limits keep hostile ones cheap.
constexpr std::size_t kMaxNamedResources = 64;  // GPUs, and as many others
constexpr std::size_t kMaxProblems = 32;

// So does the API server, of resources with a domain in their name.
constexpr std::string_view kNotWhole = "must be an integer";
constexpr std::string_view kPartOfGpu =
    "; for a part of a GPU ask for a MIG slice, or name the type of a shared GPU";

}  // namespace

void add_problem(std::vector<std::string>& problems, std::string problem) {
  if (problems.size() < kMaxProblems) problems.push_back(std::move(problem));
}

ObjectKey read_key(JsonView metadata) {
  return {std::string(metadata["namespace"].text()), std::string(metadata["name"].text())};
}

Uid read_uid(JsonView metadata) {
  return Uid(metadata["uid"].text());
}

double read_time_s(JsonView value) {
  if (value.text().empty()) return 0;
  return parse_rfc3339_s(value.text()).value_or(0);
}

Labels read_labels(JsonView map) {
  TextPairs pairs = read_pairs(map);
  // The last value of a duplicate key wins, as in encoding/json.
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Labels labels;
  labels.reserve(pairs.size());
  for (const auto& [key, value] : pairs) {
    if (!labels.empty() && labels.back().first == key)
      labels.back().second = value;
    else
      labels.emplace_back(key, value);
  }
  return labels;
}

TextPairs read_pairs(JsonView map) {
  TextPairs pairs;
  for (const auto& [key, value] : map.fields())
    if (value.is_string()) pairs.emplace_back(key, value.text());
  return pairs;
}

std::optional<OwnerRef> read_owner(JsonView metadata) {
  for (const JsonView owner : metadata["ownerReferences"].items())
    if (owner["controller"].is_true())
      return OwnerRef{std::string(owner["kind"].text()), std::string(owner["name"].text()),
                      Uid(owner["uid"].text())};
  return std::nullopt;
}

MatchExpression never_matches() {
  return {"metadata.name", MatchOperator::kIn, {}};
}

std::vector<MatchExpression> read_match_expressions(JsonView list) {
  constexpr std::pair<std::string_view, MatchOperator> kOperators[] = {
      {"In", MatchOperator::kIn},         {"NotIn", MatchOperator::kNotIn},
      {"Exists", MatchOperator::kExists}, {"DoesNotExist", MatchOperator::kDoesNotExist},
      {"Gt", MatchOperator::kGt},         {"Lt", MatchOperator::kLt}};
  std::vector<MatchExpression> out;
  for (const JsonView item : list.items()) {
    const auto* op = std::find_if(std::begin(kOperators), std::end(kOperators), [&](const auto& o) {
      return o.first == item["operator"].text();
    });
    if (op == std::end(kOperators)) {
      out.push_back(never_matches());
      continue;
    }
    MatchExpression expression{std::string(item["key"].text()), op->second, {}};
    for (const JsonView value : item["values"].items())
      expression.values.emplace_back(value.text());
    out.push_back(std::move(expression));
  }
  return out;
}

bool is_other_resource(std::string_view name) {
  return name == "ephemeral-storage" || name.starts_with("hugepages-") ||
         name.find('/') != std::string_view::npos;
}

std::int64_t ResourceReader::amount(const JsonField& field, Unit unit, std::string_view path) {
  const JsonView value = field.value;
  std::string number;
  std::string_view text = value.text();
  if (value.is_number()) {
    number = value.integer() ? format("{}", *value.integer()) : format("{}", *value.number());
    text = number;
  }
  const Rounding rounding = capacity_ ? Rounding::kDown : Rounding::kUp;
  const auto parsed = unit == Unit::kThousandths ? parse_quantity_milli(text, rounding)
                                                 : parse_quantity(text, rounding);
  const bool gpus_there = capacity_ && unit == Unit::kGpus;
  const bool whole = capacity_ || field.key.find('/') == std::string_view::npos ||
                     parsed.value_or(0) == parse_quantity(text, Rounding::kDown).value_or(0);
  const std::int64_t most = gpus_there ? kMaxGpusPerNode : kMaxAmount;
  if (parsed && capacity_ && unit == Unit::kOthers) return std::min(*parsed, most);
  if (parsed && *parsed <= most && whole) return *parsed;
  std::string why = parsed ? format("\"{}\" {}", printable(text, 64),
                                    whole ? "is larger than any machine" : kNotWhole)
                           : parsed.error().message;
  if (parsed && !whole && unit == Unit::kGpus) why += kPartOfGpu;
  if (parsed && gpus_there) why += format(": no node has more than {}", kMaxGpusPerNode);
  add_problem(problems_, format("{}[{}]: {}", path, printable(field.key, 64), why));
  return parsed && *parsed <= most ? *parsed : 0;
}

void ResourceReader::set_named(ResourceAmounts& amounts, const JsonField& field, Unit unit,
                               std::string_view path) {
  const std::int64_t before = count_of(amounts, field.key);
  const std::int64_t count = amount(field, unit, path);
  if (count == before) return;
  if (amounts.size() < kMaxNamedResources || before != 0)
    set_count(amounts, field.key, count);
  else
    add_problem(problems_, format("{}: more than {} resources", path, kMaxNamedResources));
}

void ResourceReader::apply(JsonView list, std::string_view path, Resources& out) {
  const auto set = [&](std::int64_t& slot, const JsonField& field, Unit unit) {
    slot = amount(field, unit, path);
  };
  for (const JsonField field : list.fields()) {
    if (field.key == "cpu") {
      set(out.cpu_milli, field, Unit::kThousandths);
    } else if (field.key == "memory") {
      set(out.memory_bytes, field, Unit::kWhole);
    } else if (field.key == "pods") {
      set(out.pods, field, Unit::kWhole);
    } else if (field.key.find('/') != std::string_view::npos &&
               catalog_.resource(field.key) != nullptr) {
      set_named(out.gpus, field, Unit::kGpus, path);
    } else if (is_other_resource(field.key)) {
      set_named(out.others, field, Unit::kOthers, path);
    }
  }
}

}  // namespace slackline::wire
