#include "slackline/base/base64.h"

#include <cstddef>

namespace slackline {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    unsigned bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8U | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      out.push_back(i > group.size() ? '=' : kAlphabet[bits >> (18 - 6 * i) & 0x3FU]);
  }
  return out;
}

Result<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  unsigned buffer = 0;
  unsigned bits = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    if (c == '=') break;
    const auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return fail(ErrorCode::kInvalidArgument, "is not base64");
    buffer = (buffer << 6U) | static_cast<unsigned>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<char>((buffer >> bits) & 0xFFU));
    }
  }
  return bytes;
}

}  // namespace slackline
