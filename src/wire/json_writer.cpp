#include "wire/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace slackline::wire {
namespace {

constexpr std::uint64_t kLow = 0x0101010101010101ULL;
constexpr std::uint64_t kHigh = 0x8080808080808080ULL;

// Zero in the high bits when none of eight bytes is a control character, '"', '\\' or beyond ASCII.
std::uint64_t special8(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  const std::uint64_t quote = word ^ (kLow * '"');
  const std::uint64_t slash = word ^ (kLow * '\\');
  return (word - kLow * 0x20) | (quote - kLow) | (slash - kLow) | word;
}

// True when a text of at least eight bytes needs no escape; the last eight overlap those before.
bool plain(std::string_view text) {
  if (text.size() < 8) return false;
  std::uint64_t special = special8(text.data() + text.size() - 8);
  for (std::size_t at = 0; at + 8 < text.size(); at += 8)
    special |= special8(text.data() + at);
  return (special & kHigh) == 0;
}

bool plain(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
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
  if (!plain(text)) return put(quoted(text));
  char* to = grow(text.size() + 2);
  *to = '"';
  std::memcpy(to + 1, text.data(), text.size());
  to[text.size() + 1] = '"';
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

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  put(json);
  return *this;
}

}  // namespace slackline::wire
