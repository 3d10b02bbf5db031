// JsonWriter: appends JSON to one string. Nothing is built in between, so a reply with thousands of
// names costs about what copying them costs.
//
// Commas are placed by the writer; the caller opens and closes what it opened. Strings are escaped,
// and bytes that are no UTF-8 become U+FFFD, so the output is always valid JSON. Not-a-number and
// infinities are written as null.
//
// Thread-safety: one writer per thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slackline::wire {

class JsonWriter {
 public:
  explicit JsonWriter(std::size_t reserve = 0) { out_.reserve(reserve); }

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

  std::string take() { return std::move(out_); }
  const std::string& str() const { return out_; }

 private:
  void before_value() {
    if (comma_) out_.push_back(',');
    comma_ = true;
  }

  std::string out_;
  bool comma_ = false;  // the next value or key follows another one
};

// "text" with quotes, escaped, appended to out.
void append_json_string(std::string& out, std::string_view text);

}  // namespace slackline::wire
