// JsonWriter: appends JSON to one string. There is no tree in between, so a reply with thousands of
// names costs about as much as copying them.
//
// Commas are placed by the writer; the caller opens and closes what it opened. Strings are escaped,
// and bytes that are not UTF-8 become U+FFFD, so the output is always valid JSON. Not-a-number and
// infinities are written as null.
//
// Thread-safety: one writer per thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace slackline::wire {

class JsonWriter {
 public:
  explicit JsonWriter(std::size_t reserve = 0) : out_(reserve, '\0') {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& string(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& unsigned_integer(std::uint64_t value);
  JsonWriter& number(double value);  // shortest form that reads back as the same value
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // a value that is JSON already

  // Into an open object: the members of a JSON object that is written already; "" has none.
  JsonWriter& members(std::string_view object);

  // key + value
  JsonWriter& field(std::string_view name, std::string_view value) {
    return key(name).string(value);
  }
  JsonWriter& field(std::string_view name, const char* value) { return key(name).string(value); }
  JsonWriter& field(std::string_view name, std::int64_t value) { return key(name).integer(value); }
  JsonWriter& field(std::string_view name, int value) { return key(name).integer(value); }
  JsonWriter& field(std::string_view name, std::uint64_t value) {
    return key(name).unsigned_integer(value);
  }
  JsonWriter& field(std::string_view name, double value) { return key(name).number(value); }
  JsonWriter& field(std::string_view name, bool value) { return key(name).boolean(value); }

  std::string_view str() const { return {out_.data(), used_}; }  // until the next write
  // Once, at the end.
  std::string take() {
    out_.resize(used_);
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kMargin = 128;

  // Appends this many characters for the caller to fill.
  char* grow(std::size_t count) {
    if (out_.size() - used_ < count)
      out_.resize(std::max(out_.size() * 2, used_ + count + kMargin));
    used_ += count;
    return out_.data() + used_ - count;
  }
  void put(char c) { *grow(1) = c; }
  void put(std::string_view text) { text.copy(grow(text.size()), text.size()); }
  void put_quoted(std::string_view text);
  void before_value() {
    if (comma_) put(',');
    comma_ = true;
  }

  std::string out_;  // as long as there is room; the first used_ characters are written
  std::size_t used_ = 0;
  bool comma_ = false;  // the next value or key follows another one
};

}  // namespace slackline::wire
