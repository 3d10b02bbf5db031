#include "slackline/base/dns_name.h"

#include <algorithm>
#include <string>

#include "slackline/base/text.h"

namespace slackline {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_label_of_any_length(std::string_view text) {
  return !text.empty() && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

}  // namespace

bool is_dns_label(std::string_view text) {
  return text.size() <= kMaxLabel && is_label_of_any_length(text);
}

bool is_label_value(std::string_view text) {
  const std::string lower = to_lower(text);
  return !lower.empty() && lower.size() <= kMaxLabel && is_letter_or_digit(lower.front()) &&
         is_letter_or_digit(lower.back()) && std::all_of(lower.begin(), lower.end(), [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > kMaxSubdomain) return false;
  for (;;) {
    const auto dot = text.find('.');
    if (!is_label_of_any_length(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace slackline
