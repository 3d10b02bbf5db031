#include "wire/format/yaml.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?, in a range that every reader accepts.
bool is_json_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at]))
      ++at;
    return at - begin;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool leading_zero = at < text.size() && text[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (at == text.size()) return parse_int(text).has_value();
  if (text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size() && parse_number(text).has_value();
}

bool holds_only_strings(std::string_view key) {
  return key == "annotations" || key == "labels" || key == "nodeSelector" || key == "matchLabels";
}

// Writes documents one behind another, separated by commas, while they are read. An anchored value
// is remembered as the JSON it became.
class JsonEmitter : public YamlSink {
 public:
  explicit JsonEmitter(std::size_t input_bytes)
      : out_(input_bytes), limit_(input_bytes * 8 + (std::size_t{1} << 20)) {}

  std::size_t documents() const { return documents_; }
  std::string take() { return out_.take(); }

  void begin_document() override { start_ = out_.str().size(); }
  void end_document() override {
    anchors_.clear();
    if (start_ < out_.str().size()) ++documents_;
  }

  void null(int, std::size_t anchor) override {
    if (levels_.empty()) return;  // an empty document
    value(anchor, [&] { strings_only() ? out_.string("") : out_.null(); });
  }

  void scalar(int, std::size_t anchor, const std::string& text, bool plain) override {
    value(anchor, [&] {
      if (plain && !strings_only() && (text == "true" || text == "false" || is_json_number(text)))
        out_.raw(text);
      else
        out_.string(text);
    });
  }

  void key(int line, const std::string& text) override {
    if (text == "<<")
      throw YamlProblem{line,
                        "merge keys (<<) are not read; write what they stand for, or let "
                        "`yq 'explode(.)'` do it"};
    if (!keys_[levels_.size() - 1].insert(text).second)
      throw YamlProblem{line,
                        format("\"{}\" is given twice; keep one of them", printable(text, 64))};
    out_.key(text);
    levels_.back().next_strings_only = holds_only_strings(text);
  }

  void begin_map(int, std::size_t anchor) override {
    open(anchor);
    if (keys_.size() < levels_.size()) keys_.resize(levels_.size());
    keys_[levels_.size() - 1].clear();
    out_.begin_object();
  }
  void end_map() override {
    out_.end_object();
    close();
  }
  void begin_list(int, std::size_t anchor) override {
    open(anchor);
    out_.begin_array();
  }
  void end_list() override {
    out_.end_array();
    close();
  }

  void alias(int line, std::size_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YamlProblem{line, "an alias inside its own anchor"};
    if (out_.str().size() + found->second.size() > limit_)
      throw YamlProblem{line, "aliases make it many times larger than it is"};
    out_.raw(found->second);
  }

 private:
  struct Level {
    std::size_t anchor = 0;
    std::size_t start = 0;           // where its JSON begins
    bool strings_only = false;       // its scalars are strings: a map of labels
    bool next_strings_only = false;  // so are those of the next value
  };

  bool strings_only() const { return !levels_.empty() && levels_.back().strings_only; }

  template <class Write>
  void value(std::size_t anchor, Write write) {
    const std::size_t start = out_.str().size();
    write();
    remember(anchor, start);
  }

  void open(std::size_t anchor) {
    const bool only = !levels_.empty() && levels_.back().next_strings_only;
    if (!levels_.empty()) levels_.back().next_strings_only = false;
    levels_.push_back({anchor, out_.str().size(), only, false});
  }

  void close() {
    const Level level = levels_.back();
    levels_.pop_back();
    remember(level.anchor, level.start);
  }

  void remember(std::size_t anchor, std::size_t start) {
    if (anchor == 0) return;
    std::string json(out_.str().substr(start));
    if (json.starts_with(',')) json.erase(0, 1);
    anchors_[anchor] = std::move(json);
  }

  JsonWriter out_;
  const std::size_t limit_;
  std::size_t start_ = 0;
  std::size_t documents_ = 0;
  std::vector<Level> levels_;
  std::vector<std::unordered_set<std::string>> keys_;  // of the map at each level
  std::map<std::size_t, std::string> anchors_;
};

bool looks_like_json(std::string_view text) {
  const std::string_view start = trim(text.substr(0, 1024));
  return start.starts_with('{') || start.starts_with('[');
}

bool has_twin_keys(JsonView value) {
  std::set<std::string_view> keys;
  for (const auto& [key, member] : value.fields())
    if (!keys.insert(key).second || has_twin_keys(member)) return true;
  for (const JsonView item : value.items())
    if (has_twin_keys(item)) return true;
  return false;
}

}  // namespace

Result<std::string> yaml_to_json(std::string_view yaml, const YamlLimits& limits) {
  if (looks_like_json(yaml) && yaml.size() <= limits.max_bytes)
    if (JsonDocument document; const auto root = document.parse(yaml))
      if (!has_twin_keys(*root)) return std::string(yaml);
  JsonEmitter emitter(std::min(yaml.size(), limits.max_bytes));
  if (const auto problem = read_yaml(yaml, limits, emitter))
    return fail(ErrorCode::kInvalidArgument,
                format("line {}: {}", problem->line, problem->message));
  if (emitter.documents() == 0) return fail(ErrorCode::kInvalidArgument, "it holds no document");
  if (emitter.documents() == 1) return emitter.take();
  return format(R"({{"apiVersion":"v1","kind":"List","items":[{}]}})", emitter.take());
}

}  // namespace slackline::wire
