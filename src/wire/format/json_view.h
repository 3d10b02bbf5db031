// JsonDocument and JsonView: reading JSON, with simdjson kept behind one translation unit.
//
// A document is validated whole (UTF-8, syntax, at most 1024 levels) before anything is read from
// it. A view is a cheap handle on one value of it; looking up a key that is not there, or in a
// value that is not an object, gives an absent view, so that a chain of lookups needs no checks.
// Null counts as absent.
//
// Thread-safety: one document per thread. Views and their strings live until the next parse().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::wire {

class JsonItems;
class JsonFields;

class JsonView {
 public:
  // A place on simdjson's tape.
  struct Ref {
    const void* document = nullptr;
    std::size_t index = 0;
    friend bool operator==(const Ref&, const Ref&) = default;
  };

  JsonView() = default;  // absent
  explicit JsonView(Ref ref) : ref_(ref) {}

  bool present() const;  // there, and not null
  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_number() const;

  std::string_view text() const;                // empty if it is not a string
  bool is_true() const;                         // the literal true
  std::optional<std::int64_t> integer() const;  // whole numbers in range only
  std::optional<double> number() const;

  JsonView operator[](std::string_view key) const;
  JsonView find_any_case(std::string_view key) const;

  // Appends the strings of an array at once; false at the first item that is not a string.
  bool read_texts(std::vector<std::string_view>& out) const;

  JsonItems items() const;    // empty if it is not an array
  JsonFields fields() const;  // empty if it is not an object

 private:
  Ref ref_;
};

struct JsonField {
  std::string_view key;
  JsonView value;
};

// Range-for over an array.
class JsonItems {
 public:
  class Iterator {
   public:
    explicit Iterator(JsonView::Ref at) : at_(at) {}
    JsonView operator*() const { return JsonView(at_); }
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    JsonView::Ref at_;
  };

  JsonItems() = default;
  JsonItems(JsonView::Ref begin, JsonView::Ref end) : begin_(begin), end_(end) {}
  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }
  std::size_t count() const;

 private:
  JsonView::Ref begin_;
  JsonView::Ref end_;
};

// Range-for over an object, in document order.
class JsonFields {
 public:
  class Iterator {
   public:
    explicit Iterator(JsonView::Ref at) : at_(at) {}
    JsonField operator*() const;
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    JsonView::Ref at_;
  };

  JsonFields() = default;
  JsonFields(JsonView::Ref begin, JsonView::Ref end) : begin_(begin), end_(end) {}
  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  JsonView::Ref begin_;
  JsonView::Ref end_;
};

class JsonDocument {
 public:
  JsonDocument();
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;

  // The root. kInvalidArgument with the reason and, where known, the byte offset. Buffers that grew
  // beyond 1 MB for one document are given back at the next small one.
  Result<JsonView> parse(std::string_view json);

  // The bytes parsed last: a copy of the document's own.
  std::string_view source() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The byte offset where a text stops being JSON, if found; simdjson does not report it. Reads at
// most 4 MB: it runs on bad input only and must not cost more than decoding did.
std::optional<std::size_t> json_error_offset(std::string_view json);

}  // namespace slackline::wire
