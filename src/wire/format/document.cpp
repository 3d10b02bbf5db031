#include "wire/format/document.h"

#include <map>

#include "slackline/base/text.h"
#include "wire/format/json_view.h"

namespace slackline::wire {
namespace {

constexpr YamlLimits kLimits{std::size_t{1} << 20, 32};
constexpr std::size_t kMaxValues = 100'000;

// Gives a copied subtree its new place.
void rebase(Document& node, std::string path, int line) {
  node.line = line;
  for (std::size_t i = 0; i < node.items.size(); ++i)
    rebase(node.items[i], format("{}[{}]", path, i), line);
  for (auto& [key, value] : node.fields)
    rebase(value, path.empty() ? key : format("{}.{}", path, key), line);
  node.path = std::move(path);
}

std::size_t values_in(const Document& node) {
  std::size_t count = 1;
  for (const Document& item : node.items)
    count += values_in(item);
  for (const auto& field : node.fields)
    count += values_in(field.value);
  return count;
}

// A YAML error about truncated JSON would not help.
bool begins_as_json_object(std::string_view text) {
  const std::string_view start = trim(text);
  return start.starts_with('{') && trim(start.substr(1)).starts_with('"');
}

// Builds the tree bottom up: a container is moved into its parent when it ends.
class Builder : public YamlSink {
 public:
  Document take() { return std::move(root_); }

  void begin_document() override {
    if (++documents_ > 1) throw YamlProblem{last_line_, "several documents; keep one in a file"};
  }
  void end_document() override {}

  void null(int line, std::size_t anchor) override {
    add(leaf(Document::Kind::kNull, line), anchor);
  }

  void scalar(int line, std::size_t anchor, const std::string& text, bool plain) override {
    Document node = leaf(Document::Kind::kScalar, line);
    node.scalar = text;
    node.quoted = !plain;
    add(std::move(node), anchor);
  }

  void key(int line, const std::string& text) override {
    last_line_ = line;
    open_.back().key = text;
    open_.back().key_line = line;
  }

  void begin_map(int line, std::size_t anchor) override {
    open(Document::Kind::kMap, line, anchor);
  }
  void begin_list(int line, std::size_t anchor) override {
    open(Document::Kind::kList, line, anchor);
  }
  void end_map() override { close(); }
  void end_list() override { close(); }

  void alias(int line, std::size_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YamlProblem{line, "an alias inside its own anchor"};
    count(values_in(found->second), line);
    Document copy = found->second;
    rebase(copy, next_path(), next_line(line));
    place(std::move(copy));
  }

 private:
  struct Open {
    Document node;
    std::size_t anchor = 0;
    std::string key;  // of the next value
    int key_line = 0;
  };

  void count(std::size_t values, int line) {
    last_line_ = line;
    values_ += values;
    if (values_ > kMaxValues) throw YamlProblem{line, format("more than {} values", kMaxValues)};
  }

  std::string next_path() const {
    if (open_.empty()) return {};
    const Open& parent = open_.back();
    if (parent.node.kind == Document::Kind::kList)
      return format("{}[{}]", parent.node.path, parent.node.items.size());
    return parent.node.path.empty() ? parent.key : format("{}.{}", parent.node.path, parent.key);
  }

  int next_line(int line) const {
    return open_.empty() || open_.back().node.kind == Document::Kind::kList ? line
                                                                            : open_.back().key_line;
  }

  Document leaf(Document::Kind kind, int line) {
    count(1, line);
    Document node;
    node.kind = kind;
    node.line = next_line(line);
    node.path = next_path();
    return node;
  }

  void open(Document::Kind kind, int line, std::size_t anchor) {
    open_.push_back({leaf(kind, line), anchor, {}, 0});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(Document node, std::size_t anchor) {
    if (anchor != 0) {
      // Copies count as values, too: nested anchors must not multiply unnoticed.
      count(values_in(node), last_line_);
      anchors_[anchor] = node;
    }
    place(std::move(node));
  }

  void place(Document node) {
    if (open_.empty())
      root_ = std::move(node);
    else if (open_.back().node.kind == Document::Kind::kList)
      open_.back().node.items.push_back(std::move(node));
    else
      open_.back().node.fields.push_back({std::move(open_.back().key), std::move(node)});
  }

  Document root_;
  std::vector<Open> open_;
  std::map<std::size_t, Document> anchors_;
  std::size_t documents_ = 0;
  std::size_t values_ = 0;
  int last_line_ = 1;
};

}  // namespace

const Document* Document::find(std::string_view key) const {
  for (const auto& [name, value] : fields)
    if (name == key) return &value;
  return nullptr;
}

tl::expected<Document, YamlProblem> read_document(std::string_view text) {
  Builder builder;
  if (auto problem = read_yaml(text, kLimits, builder)) {
    if (begins_as_json_object(text))
      if (const auto json = JsonDocument().parse(text); !json)
        problem->message = json.error().message;
    return tl::unexpected(*std::move(problem));
  }
  return builder.take();
}

}  // namespace slackline::wire
