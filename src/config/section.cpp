#include "config/section.h"

#include <algorithm>

#include "slackline/base/duration.h"
#include "slackline/base/quantity.h"
#include "slackline/base/text.h"

namespace slackline::config {

using wire::Document;

namespace {

std::string_view describe(const Document& tree) {
  switch (tree.kind) {
    case Document::Kind::kNull:
      return "nothing";
    case Document::Kind::kScalar:
      return "a single value";
    case Document::Kind::kList:
      return "a list";
    case Document::Kind::kMap:
      break;
  }
  return "a mapping";
}

}  // namespace

Finding unreadable(const wire::YamlProblem& problem) {
  return {Severity::kError, problem.line, "", problem.message, "correct the YAML"};
}

Section::Section(const Document& tree, std::string path, Findings& findings)
    : tree_(tree), path_(std::move(path)), findings_(findings) {
  if (tree.kind != Document::Kind::kMap && tree.kind != Document::Kind::kNull)
    problem("", format("is {}", describe(tree)), "it must be a mapping of keys to values");
}

Section::~Section() {
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : tree_.fields) {
    const Severity error = Severity::kError;
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      findings_.push_back({error, value.line, path_of(key), "is given twice", "keep one of them"});
    else if (std::find(known_.begin(), known_.end(), key) == known_.end())
      findings_.push_back({error, value.line, path_of(printable(key, 64)), "is not a known key",
                           format("allowed here: {}", join(known_, ", "))});
    seen.push_back(key);
  }
}

std::string Section::path_of(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : format("{}.{}", path_, key);
}

void Section::problem(std::string_view key, std::string problem, std::string remedy) {
  note(Severity::kError, key, std::move(problem), std::move(remedy));
}

void Section::warning(std::string_view key, std::string problem, std::string remedy) {
  note(Severity::kWarning, key, std::move(problem), std::move(remedy));
}

void Section::note(Severity severity, std::string_view key, std::string problem,
                   std::string remedy) {
  int line = tree_.line;
  for (const auto& [name, value] : tree_.fields)
    if (name == key) line = value.line;
  findings_.push_back({severity, line, path_of(key), std::move(problem), std::move(remedy)});
}

std::vector<std::string> Section::keys() const {
  std::vector<std::string> keys;
  for (const auto& [name, value] : tree_.fields)
    keys.push_back(name);
  return keys;
}

const Document* Section::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  for (const auto& [name, value] : tree_.fields)
    if (name == key) return value.kind == Document::Kind::kNull ? nullptr : &value;
  return nullptr;
}

const std::string* Section::scalar(std::string_view key, std::string_view wanted) {
  const Document* value = find(key);
  if (value == nullptr) return nullptr;
  if (value->kind == Document::Kind::kScalar) return &value->scalar;
  problem(key, format("is {}", describe(*value)), format("it must be {}", wanted));
  return nullptr;
}

void Section::text(std::string_view key, std::string& target) {
  if (const std::string* value = scalar(key, "a text")) target = *value;
}

void Section::flag(std::string_view key, bool& target) {
  const std::string* value = scalar(key, "true or false");
  if (value == nullptr) return;
  if (*value == "true" || *value == "false")
    target = *value == "true";
  else
    problem(key, format("is \"{}\"", printable(*value, 64)), "allowed: true, false");
}

void Section::number(std::string_view key, double& target, double least, bool least_is_allowed) {
  const std::string wanted = format("a number {} {}", least_is_allowed ? ">=" : ">", least);
  const std::string* value = scalar(key, wanted);
  if (value == nullptr) return;
  const Result<double> parsed = parse_number(*value);
  if (parsed && (*parsed > least || (least_is_allowed && *parsed == least)))
    target = *parsed;
  else
    problem(key, format("is \"{}\"", printable(*value, 64)), format("it must be {}", wanted));
}

void Section::integer(std::string_view key, std::int64_t& target, std::int64_t least,
                      std::int64_t most) {
  const bool bounded = most < std::numeric_limits<std::int64_t>::max();
  const std::string wanted = bounded ? format("a whole number of {} to {}", least, most)
                                     : format("a whole number >= {}", least);
  const std::string* value = scalar(key, wanted);
  if (value == nullptr) return;
  const Result<std::int64_t> parsed = parse_int(*value);
  if (parsed && *parsed >= least && *parsed <= most)
    target = *parsed;
  else
    problem(key, format("is \"{}\"", printable(*value, 64)), format("it must be {}", wanted));
}

void Section::size(std::string_view key, std::int64_t& target, std::int64_t least,
                   std::int64_t most) {
  const std::string wanted = format("a size of {}Ki to {}Mi, e.g. 16Mi", least >> 10, most >> 20);
  const std::string* value = scalar(key, wanted);
  if (value == nullptr) return;
  const Result<std::int64_t> parsed = parse_quantity(*value);
  if (parsed && *parsed >= least && *parsed <= most)
    target = *parsed;
  else
    problem(key, format("is \"{}\"", printable(*value, 64)), format("it must be {}", wanted));
}

void Section::duration(std::string_view key, double& target_s, bool may_be_zero) {
  const std::string wanted =
      format("a duration {} 0 such as 90s, 10m or 1h30m", may_be_zero ? ">=" : ">");
  const std::string* value = scalar(key, wanted);
  if (value == nullptr) return;
  const Result<double> parsed = parse_duration_s(*value);
  if (parsed && (*parsed > 0 || (may_be_zero && *parsed == 0)))
    target_s = *parsed;
  else
    problem(key, format("is \"{}\"", printable(*value, 64)),
            parse_number(*value) ? duration_advice(*value) : format("it must be {}", wanted));
}

void Section::texts(std::string_view key, std::vector<std::string>& target) {
  const Document* value = find(key);
  if (value == nullptr) return;
  const auto is_text = [](const Document& item) {
    return item.kind == Document::Kind::kScalar && !item.scalar.empty();
  };
  if (value->kind != Document::Kind::kList ||
      !std::all_of(value->items.begin(), value->items.end(), is_text)) {
    problem(key, format("is {}", describe(*value)),
            "it must be a list of texts, none of them empty");
    return;
  }
  target.clear();
  for (const Document& item : value->items)
    target.push_back(item.scalar);
}

void Section::section(std::string_view key, const std::function<void(Section&)>& read) {
  const Document* value = find(key);
  if (value == nullptr) return;
  Section inner(*value, path_of(key), findings_);
  read(inner);
}

bool Section::sections(std::string_view key, const std::function<void(Section&)>& read) {
  const Document* value = find(key);
  if (value == nullptr) return false;
  if (value->kind != Document::Kind::kList) {
    problem(key, format("is {}", describe(*value)), "it must be a list");
    return false;
  }
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    Section item(value->items[i], format("{}[{}]", path_of(key), i), findings_);
    read(item);
  }
  return true;
}

std::size_t Section::choose(std::string_view key, const std::vector<std::string>& names) {
  const std::string allowed = join(names, ", ");
  const std::string* value = scalar(key, format("one of {}", allowed));
  if (value == nullptr) return names.size();
  const auto at = std::find(names.begin(), names.end(), *value);
  if (at == names.end())
    problem(key, format("is \"{}\"", printable(*value, 64)), format("allowed: {}", allowed));
  return static_cast<std::size_t>(at - names.begin());
}

}  // namespace slackline::config
