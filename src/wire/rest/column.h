// Column<Row>: one description of one part of a REST row, from which its JSON, its cells and its
// schema follow (rows.h).
//
// A column is a member of the JSON object, a cell of the tables, or both. A row lists its columns
// in the order of the object and of the tables; where these two differ, the member and the cell are
// two columns.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wire/rest/value.h"

namespace slackline::wire {

template <class Row>
class Column {
 public:
  using Text = std::function<std::string(const Row&)>;

  // A member: `get` returns its value (value.h); `about` is for the schema.
  template <class Get>
  Column(std::string_view key, Get get, std::string_view about = {}) : key_(key), about_(about) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Get, const Row&>>;
    schema_ = schema_of<Value>();
    required_ = !kIsOptional<Value>;
    text_ = [get](const Row& row) { return value_text<Value>(std::invoke(get, row)); };
    write_ = [key, get](JsonWriter& out, const Row& row) {
      const Value& value = std::invoke(get, row);
      if constexpr (kIsOptional<Value>) {
        if (value) write_value(out.key(key), *value);
      } else {
        write_value(out.key(key), value);
      }
    };
  }

  // Nothing but a cell; `text` returns it, or the value that it shows.
  template <class Get>
  static Column only_cell(std::string_view heading, Get get) {
    Column column("", std::move(get));
    return std::move(column).cell(heading);
  }

  // Also a cell, under a heading of TextTable: with the value as its text, or with `text`.
  Column cell(std::string_view heading, Text text = {}) && {
    heading_ = heading;
    if (text) text_ = std::move(text);
    return std::move(*this);
  }
  // The cell stands in the wide table and in CSV only, behind all others.
  Column wide() && {
    wide_ = true;
    return std::move(*this);
  }
  // A text that is one of these.
  Column one_of(const std::vector<std::string_view>& values) && {
    for (const std::string_view value : values)
      schema_ += format("{}\"{}\"", value == values.front() ? R"(,"enum":[)" : ",", value);
    schema_ += ']';
    return std::move(*this);
  }

  bool in_json() const { return !key_.empty(); }
  std::string_view key() const { return key_; }
  bool required() const { return required_; }
  void write(JsonWriter& out, const Row& row) const { write_(out, row); }
  // {"type":...,"description":...}
  std::string schema() const {
    JsonWriter about;
    if (!about_.empty()) about.string(about_);
    return "{" + schema_ + (about_.empty() ? "" : ",\"description\":" + about.take()) + "}";
  }

  bool in_table(bool wide) const { return !heading_.empty() && wide_ == wide; }
  std::string_view heading() const { return heading_; }
  std::string text(const Row& row) const { return text_(row); }

 private:
  std::string_view key_;
  std::string_view about_;
  std::string schema_;
  bool required_ = false;
  std::function<void(JsonWriter&, const Row&)> write_;
  std::string_view heading_;
  bool wide_ = false;
  Text text_;
};

}  // namespace slackline::wire
