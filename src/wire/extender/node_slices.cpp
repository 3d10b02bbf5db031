#include "wire/extender/node_slices.h"

#include <cstring>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

// Walks JSON that is known to be valid; every step stays inside the text nevertheless.
class SliceScanner {
 public:
  explicit SliceScanner(std::string_view text) : text_(text) {}

  char peek() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  // The text between the quotes, escapes as written.
  std::string_view string() {
    if (!take('"')) return {};
    const std::size_t begin = at_;
    skip_string_rest();
    return text_.substr(begin, at_ > begin ? at_ - begin - 1 : 0);
  }

  std::string_view value() {
    const char first = peek();
    const std::size_t begin = at_;
    if (first == '"') {
      ++at_;
      skip_string_rest();
    } else if (first == '{' || first == '[') {
      skip_brackets();
    } else {
      while (at_ < text_.size() && std::strchr(",]} \t\r\n", text_[at_]) == nullptr)
        ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  // Calls body(key) for every member; body must consume the value.
  template <class Body>
  void each_member(Body body) {
    if (!take('{')) return;
    while (peek() == '"') {
      const std::string_view key = string();
      if (!take(':')) return;
      body(key);
      if (!take(',')) break;
    }
    take('}');
  }

  template <class Body>
  void each_item(Body body) {
    if (!take('[')) return;
    while (peek() != ']' && peek() != '\0') {
      body(value());
      if (!take(',')) break;
    }
    take(']');
  }

 private:
  void skip_string_rest() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return;
      if (c == '\\') ++at_;
    }
    at_ = text_.size();
  }

  void skip_brackets() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') skip_string_rest();
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

NodeListSlices slice_nodes(std::string_view valid_json) {
  NodeListSlices out;
  SliceScanner scanner(valid_json);
  bool found = false;
  scanner.each_member([&](std::string_view key) {
    if (found || to_lower(key) != "nodes" || scanner.peek() != '{') {
      scanner.value();
      return;
    }
    found = true;
    scanner.each_member([&](std::string_view member) {
      if (member != "items")
        out.others.emplace_back(member, scanner.value());
      else if (out.items.empty() && scanner.peek() == '[')
        scanner.each_item([&](std::string_view item) { out.items.push_back(item); });
      else
        scanner.value();
    });
  });
  return out;
}

}  // namespace slackline::wire
