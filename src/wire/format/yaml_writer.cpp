#include "wire/format/yaml_writer.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

// Letters first, then letters, digits and what names are made of; never a word that YAML 1.1 takes
// for a boolean or null.
bool plain(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !letter(text.front())) return false;
  const bool harmless = std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
  });
  const std::string word = to_lower(text);
  for (const char* taken : {"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
    if (word == taken) return false;
  return harmless;
}

std::string as_json_string(std::string_view text) {
  JsonWriter out;
  out.string(text);
  return out.take();
}

std::string scalar(JsonView value) {
  if (value.is_string())
    return plain(value.text()) ? std::string(value.text()) : as_json_string(value.text());
  if (!value.present()) return "null";
  if (!value.is_number()) return value.is_true() ? "true" : "false";
  JsonWriter out;
  if (const auto whole = value.integer())
    out.integer(*whole);
  else
    out.number(value.number().value_or(0));
  return out.take();
}

class Writer {
 public:
  std::string write(JsonView root) {
    value(root, 0, "");
    return std::move(out_);
  }

 private:
  static bool is_block(JsonView value) {
    return (value.is_object() && value.fields().begin() != value.fields().end()) ||
           (value.is_array() && value.items().count() > 0);
  }

  // `lead` stands before the first line: what follows a dash begins on the dash's own line.
  void value(JsonView value, std::size_t indent, std::string lead) {
    if (!is_block(value)) {
      out_ += lead + (value.is_object() ? "{}" : value.is_array() ? "[]" : scalar(value)) + "\n";
      return;
    }
    const std::string margin(indent, ' ');
    const auto begin = [&] { return std::exchange(lead, margin); };
    if (lead.empty()) lead = margin;
    for (const JsonField& field : value.fields()) {
      const std::string key = plain(field.key) ? std::string(field.key) : as_json_string(field.key);
      member(begin() + key + ":", field.value, indent);
    }
    for (const JsonView item : value.items())
      this->value(item, indent + 2, begin() + "- ");
  }

  // A list stands under its key without further indent, as kubectl prints it.
  void member(std::string line, JsonView value, std::size_t indent) {
    if (!is_block(value)) return this->value(value, indent, std::move(line) + " ");
    out_ += line + "\n";
    this->value(value, value.is_array() ? indent : indent + 2, "");
  }

  std::string out_;
};

}  // namespace

Result<std::string> json_to_yaml(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  return Writer().write(root);
}

}  // namespace slackline::wire
