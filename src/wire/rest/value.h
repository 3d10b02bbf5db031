// The values of REST rows: how a value of each type is written as JSON and as a cell of a table,
// and its schema (OpenAPI 3.0).
//
// An empty optional is no value: its member is left out of the object, and its cell is empty.
// A struct that rows.h describes is an object; pairs of a name and a value are the members of one.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {

// A point in time: RFC 3339.
struct Time {
  double epoch_s = 0;
};

// A duration: a number in JSON, "1m30s" in a cell.
struct Seconds {
  double s = 0;
};

// null where it is not known.
struct Tristate {
  std::optional<bool> value;
};

inline std::optional<Time> time_of(const std::optional<double>& epoch_s) {
  return epoch_s ? std::optional(Time{*epoch_s}) : std::nullopt;
}

inline std::optional<Seconds> seconds_of(const std::optional<double>& s) {
  return s ? std::optional(Seconds{*s}) : std::nullopt;
}

// No value where the text or the list is empty.
template <class T>
std::optional<T> if_any(const T& value) {
  return value.empty() ? std::nullopt : std::optional(value);
}

// Objects: those that rows.h describes.
template <class Row>
void encode(JsonWriter& out, const Row& row);
template <class Row>
std::string reference_to();

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::vector<std::pair<std::string, T>>> = true;

// Names of their own type and shapes: anything that is written as its str().
template <class T>
concept Named = requires(const T& value) {
  { value.str() } -> std::convertible_to<std::string>;
};
template <class T>
concept Text = std::convertible_to<T, std::string_view>;

template <class T>
void write_value(JsonWriter& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.boolean(value);
  } else if constexpr (std::unsigned_integral<T>) {
    out.unsigned_integer(value);
  } else if constexpr (std::integral<T>) {
    out.integer(value);
  } else if constexpr (std::floating_point<T>) {
    out.number(value);
  } else if constexpr (Text<T>) {
    out.string(value);
  } else if constexpr (Named<T>) {
    out.string(value.str());
  } else if constexpr (std::is_same_v<T, Time>) {
    out.string(format_rfc3339(value.epoch_s));
  } else if constexpr (std::is_same_v<T, Seconds>) {
    out.number(value.s);
  } else if constexpr (std::is_same_v<T, Tristate>) {
    value.value ? out.boolean(*value.value) : out.null();
  } else if constexpr (kIsMap<T>) {
    out.begin_object();
    for (const auto& [name, member] : value) {
      out.key(name);
      write_value(out, member);
    }
    out.end_object();
  } else if constexpr (kIsList<T>) {
    out.begin_array();
    for (const auto& item : value)
      write_value(out, item);
    out.end_array();
  } else {
    encode(out, value);
  }
}

// Three significant digits, without exponents for usual numbers; "-" for 0 and what is not finite.
std::string figure(double value);

// "yes", "no" or, if unknown, "".
std::string yes_or_no(const std::optional<bool>& value);

// A cell of a table; empty for objects.
template <class T>
std::string value_text(const T& value) {
  if constexpr (kIsOptional<T>) {
    return value ? value_text(*value) : "";
  } else if constexpr (std::is_same_v<T, bool>) {
    return yes_or_no(value);
  } else if constexpr (std::integral<T>) {
    return std::to_string(value);
  } else if constexpr (std::floating_point<T>) {
    return figure(value);
  } else if constexpr (Text<T>) {
    return std::string(value);
  } else if constexpr (Named<T>) {
    return value.str();
  } else if constexpr (std::is_same_v<T, Time>) {
    return format_rfc3339(value.epoch_s);
  } else if constexpr (std::is_same_v<T, Seconds>) {
    return format_duration(value.s);
  } else if constexpr (std::is_same_v<T, Tristate>) {
    return yes_or_no(value.value);
  } else if constexpr (kIsList<T> && !kIsMap<T>) {
    std::vector<std::string> texts;
    for (const auto& item : value)
      texts.push_back(value_text(item));
    return join(texts, ",");
  } else {
    return {};
  }
}

// The members of the schema's object, without the braces.
template <class T>
std::string schema_of() {
  if constexpr (kIsOptional<T>)
    return schema_of<typename T::value_type>();
  else if constexpr (std::is_same_v<T, bool>)
    return R"("type":"boolean")";
  else if constexpr (std::integral<T>)
    return R"("type":"integer")";
  else if constexpr (std::floating_point<T> || std::is_same_v<T, Seconds>)
    return R"("type":"number")";
  else if constexpr (Text<T> || Named<T>)
    return R"("type":"string")";
  else if constexpr (std::is_same_v<T, Time>)
    return R"("type":"string","format":"date-time")";
  else if constexpr (std::is_same_v<T, Tristate>)
    return R"("type":"boolean","nullable":true)";
  else if constexpr (kIsMap<T>)
    return R"("type":"object","additionalProperties":{)" +
           schema_of<typename T::value_type::second_type>() + "}";
  else if constexpr (kIsList<T>)
    return R"("type":"array","items":{)" + schema_of<typename T::value_type>() + "}";
  else
    return reference_to<T>();
}

}  // namespace slackline::wire
