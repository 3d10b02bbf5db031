#include "slackline/base/quantity.h"

#include <cctype>
#include <limits>

#include "slackline/base/text.h"

namespace slackline {
namespace {

// 2^63 * 10^3 fits easily; intermediate products are capped far below the type's range.
__extension__ using Wide = __int128;

constexpr int kMaxDigits = 30;

struct Suffix {
  std::string_view text;
  int power_of_two = 0;
  int power_of_ten = 0;
};

constexpr Suffix kSuffixes[] = {
    {"Ki", 10, 0}, {"Mi", 20, 0}, {"Gi", 30, 0}, {"Ti", 40, 0}, {"Pi", 50, 0}, {"Ei", 60, 0},
    {"n", 0, -9},  {"u", 0, -6},  {"m", 0, -3},  {"", 0, 0},    {"k", 0, 3},   {"M", 0, 6},
    {"G", 0, 9},   {"T", 0, 12},  {"P", 0, 15},  {"E", 0, 18},
};

// digits x 2^power_of_two x 10^power_of_ten
struct Decimal {
  Wide digits = 0;
  int power_of_two = 0;
  int power_of_ten = 0;
};

tl::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(
      ErrorCode::kInvalidArgument,
      format("\"{}\" is not a quantity: {} (examples: 4, 500m, 1.5Gi)", printable(text, 64), why));
}

Result<Decimal> parse_suffix(std::string_view text, std::string_view rest, Decimal value) {
  // Suffixes first: "1E" and "1Ei" are suffixes, "1E3" is an exponent.
  for (const Suffix& suffix : kSuffixes) {
    if (rest != suffix.text) continue;
    value.power_of_two = suffix.power_of_two;
    value.power_of_ten += suffix.power_of_ten;
    return value;
  }
  if (rest.size() > 1 && (rest[0] == 'e' || rest[0] == 'E')) {
    const bool plus = rest[1] == '+';
    const std::string_view digits = rest.substr(plus ? 2 : 1);
    const auto exponent = parse_int(digits);
    if (!exponent || (plus && !is_digit(digits.front())) || *exponent < -99 || *exponent > 99)
      return bad(text, "exponent out of range");
    value.power_of_ten += static_cast<int>(*exponent);
    return value;
  }
  return bad(text, "unknown suffix");
}

Result<Decimal> parse_decimal(std::string_view text) {
  if (text.empty()) return bad(text, "it is empty");
  std::size_t at = 0;
  bool negative = false;
  if (text[at] == '+' || text[at] == '-') negative = text[at++] == '-';
  Decimal value;
  int digits = 0;
  bool fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    if (++digits > kMaxDigits) return bad(text, "too many digits");
    value.digits = value.digits * 10 + (text[at] - '0');
    if (fraction) --value.power_of_ten;
  }
  if (digits == 0) return bad(text, "it has no digits");
  if (negative && value.digits != 0) return bad(text, "it is negative");
  return parse_suffix(text, text.substr(at), value);
}

// value x 10^scale.
Result<std::int64_t> to_integer(std::string_view text, Decimal value, int scale,
                                Rounding rounding) {
  constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();
  constexpr Wide kRoom = kMax * (Wide{1} << 60);
  Wide number = value.digits;
  for (int i = 0; i < value.power_of_two && number != 0; ++i) {
    if (number > kRoom) return bad(text, "it is too large");
    number *= 2;
  }
  int power = value.power_of_ten + scale;
  for (; power > 0 && number != 0; --power) {
    if (number > kMax) return bad(text, "it is too large");
    number *= 10;
  }
  bool remainder = false;
  for (; power < 0 && number != 0; ++power) {
    remainder = remainder || number % 10 != 0;
    number /= 10;
  }
  if (remainder && rounding == Rounding::kUp) ++number;
  if (number > kMax) return bad(text, "it is too large");
  return static_cast<std::int64_t>(number);
}

}  // namespace

Result<std::int64_t> parse_quantity(std::string_view text, Rounding rounding) {
  SLACKLINE_ASSIGN(const Decimal value, parse_decimal(text));
  return to_integer(text, value, 0, rounding);
}

Result<std::int64_t> parse_quantity_milli(std::string_view text, Rounding rounding) {
  SLACKLINE_ASSIGN(const Decimal value, parse_decimal(text));
  return to_integer(text, value, 3, rounding);
}

}  // namespace slackline
