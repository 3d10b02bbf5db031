// StrongId<Tag>: a string that names one kind of thing, so that a node name is never passed for a
// uid.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace slackline {

template <class Tag>
class StrongId {
 public:
  StrongId() = default;
  explicit StrongId(std::string value) : value_(std::move(value)) {}
  explicit StrongId(std::string_view value) : value_(value) {}
  explicit StrongId(const char* value) : value_(value) {}

  const std::string& str() const { return value_; }
  bool empty() const { return value_.empty(); }

  friend bool operator==(const StrongId&, const StrongId&) = default;
  friend std::strong_ordering operator<=>(const StrongId& a, const StrongId& b) {
    return a.value_.compare(b.value_) <=> 0;
  }

 private:
  std::string value_;
};

}  // namespace slackline

template <class Tag>
struct std::hash<slackline::StrongId<Tag>> {
  std::size_t operator()(const slackline::StrongId<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.str());
  }
};
