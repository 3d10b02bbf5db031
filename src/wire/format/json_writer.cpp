#include "wire/format/json_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace slackline::wire {
namespace {

bool plain(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

// Sixteen characters at once; signed, so that those beyond ASCII are less than any other.
using Block = signed char __attribute__((vector_size(16)));

// Copies a block. Zero where its characters are plain.
Block copy_block(const char* from, char* to) {
  Block block;
  std::memcpy(&block, from, sizeof block);
  std::memcpy(to, &block, sizeof block);
  return (block < 0x20) | (block == '"') | (block == '\\');
}

// Copies a text; false where some of it needs an escape, or may need one.
bool copy_plain(std::string_view text, char* to) {
  if (text.size() < sizeof(Block)) {
    std::copy(text.begin(), text.end(), to);
    return std::all_of(text.begin(), text.end(), plain);
  }
  // The last block overlaps the one before.
  const std::size_t last = text.size() - sizeof(Block);
  Block special = copy_block(text.data() + last, to + last);
  for (std::size_t at = 0; at < last; at += sizeof(Block))
    special |= copy_block(text.data() + at, to + at);
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(special);
  return (words[0] | words[1]) == 0;
}

// Bytes of the well-formed UTF-8 sequence at `at`, or 0 (Unicode, table 3-7).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(at);
  const unsigned second = byte(at + 1);
  if (first >= 0xC2 && first <= 0xDF) return continues(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (first == 0xE0 && second < 0xA0) return 0;
    if (first == 0xED && second > 0x9F) return 0;  // surrogates
    return continues(at + 1) && continues(at + 2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (first == 0xF0 && second < 0x90) return 0;
    if (first == 0xF4 && second > 0x8F) return 0;
    return continues(at + 1) && continues(at + 2) && continues(at + 3) ? 4 : 0;
  }
  return 0;
}

void append_control(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4U];
      out += kHex[c & 0xFU];
  }
}

// "text" with quotes, escaped.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  std::size_t copied = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (plain(c)) {
      ++at;
      continue;
    }
    if (const std::size_t length = c < 0x80 ? 0 : sequence_length(text, at); length > 0) {
      at += length;
      continue;
    }
    out.append(text.data() + copied, at - copied);
    if (c < 0x80)
      append_control(out, c);
    else
      out += "\xEF\xBF\xBD";
    copied = ++at;
  }
  out.append(text.data() + copied, text.size() - copied);
  return out += '"';
}

}  // namespace

void JsonWriter::put_quoted(std::string_view text) {
  char* to = grow(text.size() + 2);
  *to = '"';
  to[text.size() + 1] = '"';
  if (copy_plain(text, to + 1)) return;
  used_ -= text.size() + 2;
  put(quoted(text));
}

JsonWriter& JsonWriter::begin_object() {
  before_value();
  put('{');
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  put('}');
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  before_value();
  put('[');
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  put(']');
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  put_quoted(name);
  put(':');
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  before_value();
  put_quoted(value);
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) {
  std::array<char, 24> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return raw({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

JsonWriter& JsonWriter::unsigned_integer(std::uint64_t value) {
  std::array<char, 24> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return raw({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

JsonWriter& JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return raw({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

JsonWriter& JsonWriter::boolean(bool value) {
  return raw(value ? "true" : "false");
}

JsonWriter& JsonWriter::null() {
  return raw("null");
}

JsonWriter& JsonWriter::members(std::string_view object) {
  if (object.size() <= 2) return *this;
  before_value();
  put(object.substr(1, object.size() - 2));
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  put(json);
  return *this;
}

}  // namespace slackline::wire
