#include "slackline/base/visible.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "slackline/base/text.h"

namespace slackline {
namespace {

// Of a valid sequence.
std::uint32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  std::uint32_t code = lead & (0x7fU >> sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i)
    code = (code << 6U) | (static_cast<unsigned char>(sequence[i]) & 0x3fU);
  return code;
}

bool is_unprintable(std::uint32_t code) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kRanges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x061c, 0x061c},
      {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
      {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
  return std::any_of(std::begin(kRanges), std::end(kRanges), [code](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  if (lead >= 0xc2 && lead <= 0xdf) length = 2;
  if (lead >= 0xe0 && lead <= 0xef) length = 3;
  if (lead >= 0xf0 && lead <= 0xf4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

bool has_unprintable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_unprintable(code_point(text.substr(0, length)))) return true;
    text.remove_prefix(length);
  }
  return false;
}

std::string printable(std::string_view text, std::size_t max_length) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= max_length) return out + "...";
    const std::size_t length = std::max(utf8_length(text), std::size_t{1});
    const std::string_view sequence = text.substr(0, length);
    text.remove_prefix(length);
    if (utf8_length(sequence) == 0) {
      out += format("\\x{:02x}", static_cast<unsigned char>(sequence[0]));
    } else if (const std::uint32_t code = code_point(sequence); !is_unprintable(code)) {
      out += sequence;
    } else {
      out += code < 0x80 ? format("\\x{:02x}", code) : format("\\u{:04x}", code);
    }
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += printable(text.substr(0, end), std::string::npos);
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace slackline
