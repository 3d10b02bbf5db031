// The options of a policy as text: what each is called, takes and means. Private to src/core.
//
// A policy lists an OptionOf for every field of a struct of its own.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/policy.h"

namespace slackline::core {

inline constexpr double kNoUpperEnd = std::numeric_limits<double>::max();

// Finite, from 0 to `most`.
template <class O>
struct NumberField {
  double O::* field;
  double most = kNoUpperEnd;
};

// As a number; the word is nullopt.
template <class O>
struct NumberOrWordField {
  std::optional<double> O::* field;
  std::string_view word;
};

// Whole, from 0 on.
template <class O>
struct CountField {
  int O::* field;
};

// "on" or "off".
template <class O>
struct SwitchField {
  bool O::* field;
};

// A word of a list.
template <class O>
struct OptionWord {
  std::string_view text;
  void (*set)(O& options);
  bool (*is)(const O& options);
};
template <auto Field, auto Value, class O>
constexpr OptionWord<O> option_word(std::string_view text) {
  return {text, [](O& options) { options.*Field = Value; },
          [](const O& options) { return options.*Field == Value; }};
}
template <class O>
using WordField = std::span<const OptionWord<O>>;

template <class O>
struct OptionOf {
  std::string_view name;
  std::variant<NumberField<O>, NumberOrWordField<O>, CountField<O>, SwitchField<O>, WordField<O>>
      field;
  std::string_view description;
};

// Finite and not negative.
std::optional<double> read_number(std::string_view text, double most);
std::optional<int> read_count(std::string_view text);

// Overloads per kind of field: what it takes, its value as text, and setting it; false where the
// text is none of its values.
template <class O>
std::string field_allows(const NumberField<O>& field) {
  return field.most == kNoUpperEnd ? "a number from 0 on"
                                   : format("a number from 0 to {:g}", field.most);
}
template <class O>
std::string field_text(const NumberField<O>& field, const O& options) {
  return format("{:g}", options.*field.field);
}
template <class O>
bool set_field(const NumberField<O>& field, std::string_view text, O& options) {
  const auto number = read_number(text, field.most);
  if (number) options.*field.field = *number;
  return number.has_value();
}

template <class O>
std::string field_allows(const NumberOrWordField<O>& field) {
  return format("a number from 0 on, or {}", field.word);
}
template <class O>
std::string field_text(const NumberOrWordField<O>& field, const O& options) {
  const std::optional<double>& number = options.*field.field;
  return number ? format("{:g}", *number) : std::string(field.word);
}
template <class O>
bool set_field(const NumberOrWordField<O>& field, std::string_view text, O& options) {
  const auto number = read_number(text, kNoUpperEnd);
  if (!number && text != field.word) return false;
  options.*field.field = number;
  return true;
}

template <class O>
std::string field_allows(const CountField<O>&) {
  return "an integer from 0 on";
}
template <class O>
std::string field_text(const CountField<O>& field, const O& options) {
  return format("{}", options.*field.field);
}
template <class O>
bool set_field(const CountField<O>& field, std::string_view text, O& options) {
  const auto count = read_count(text);
  if (count) options.*field.field = *count;
  return count.has_value();
}

template <class O>
std::string field_allows(const SwitchField<O>&) {
  return "off or on";
}
template <class O>
std::string field_text(const SwitchField<O>& field, const O& options) {
  return options.*field.field ? "on" : "off";
}
template <class O>
bool set_field(const SwitchField<O>& field, std::string_view text, O& options) {
  if (text != "on" && text != "off") return false;
  options.*field.field = text == "on";
  return true;
}

template <class O>
std::string field_allows(const WordField<O>& words) {
  std::vector<std::string> texts;
  for (const OptionWord<O>& one : words)
    texts.emplace_back(one.text);
  return join(texts, " or ");
}
template <class O>
std::string field_text(const WordField<O>& words, const O& options) {
  for (const OptionWord<O>& one : words)
    if (one.is(options)) return std::string(one.text);
  return {};
}
template <class O>
bool set_field(const WordField<O>& words, std::string_view text, O& options) {
  for (const OptionWord<O>& one : words) {
    if (one.text != text) continue;
    one.set(options);
    return true;
  }
  return false;
}

// "margin=0.2" into its field of `known`. kInvalidArgument names the policy's options, or the
// values, that are allowed.
template <class O>
Status set_option(std::string_view policy, std::span<const OptionOf<O>> known,
                  std::string_view assignment, O& options) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = trim(assignment.substr(0, equals));
  const std::string_view value =
      equals == std::string_view::npos ? "" : trim(assignment.substr(equals + 1));
  std::vector<std::string> names;
  for (const OptionOf<O>& option : known) {
    names.emplace_back(option.name);
    if (option.name != name) continue;
    return std::visit(
        [&](const auto& field) -> Status {
          if (set_field(field, value, options)) return {};
          return fail(
              ErrorCode::kInvalidArgument,
              format("option {}={}: must be {}", name, printable(value, 40), field_allows(field)));
        },
        option.field);
  }
  if (known.empty())
    return fail(ErrorCode::kInvalidArgument, format("{} takes no options, but \"{}\" is given",
                                                    policy, printable(assignment, 40)));
  return fail(ErrorCode::kInvalidArgument, format("{} has no option \"{}\"; allowed: {}", policy,
                                                  printable(name, 40), join(names, ", ")));
}

template <class O>
std::vector<PolicyOption> list_options(std::span<const OptionOf<O>> known, const O& options) {
  std::vector<PolicyOption> listed;
  for (const OptionOf<O>& option : known)
    std::visit(
        [&](const auto& field) {
          listed.push_back(
              {option.name, field_text(field, options), field_allows(field), option.description});
        },
        option.field);
  return listed;
}

}  // namespace slackline::core
