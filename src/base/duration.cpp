#include "slackline/base/duration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>

#include "slackline/base/text.h"

namespace slackline {
namespace {

constexpr double kMaxDuration_s = 10.0 * 365 * 86400;

struct Unit {
  std::string_view text;
  double seconds;
};

// Longer names first: "ms" must not be read as "m".
constexpr Unit kUnits[] = {{"ns", 1e-9}, {"us", 1e-6},  {"µs", 1e-6},   {"ms", 1e-3},   {"s", 1.0},
                           {"m", 60.0},  {"h", 3600.0}, {"d", 86400.0}, {"w", 604800.0}};

tl::unexpected<Error> bad_duration(std::string_view text) {
  return fail(ErrorCode::kInvalidArgument, format("\"{}\" is not a duration up to ten years: {}",
                                                  printable(text, 64), duration_advice(text)));
}

tl::unexpected<Error> bad_time(std::string_view text) {
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" is not an RFC 3339 time (example: 2026-11-21T12:00:00Z)",
                     printable(text, 64)));
}

// With its units, however long it is; infinite where it is too long to be counted.
std::optional<double> sum_s(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double total_s = 0;
  while (!text.empty()) {
    std::size_t length = 0;
    while (length < text.size() && (is_digit(text[length]) || text[length] == '.'))
      ++length;
    const auto number = parse_number(text.substr(0, length));
    if (!number) return std::nullopt;
    text.remove_prefix(length);
    const auto* const unit =
        std::find_if(std::begin(kUnits), std::end(kUnits),
                     [&](const auto& one) { return text.starts_with(one.text); });
    if (unit == std::end(kUnits)) return std::nullopt;
    total_s += *number * unit->seconds;
    text.remove_prefix(unit->text.size());
  }
  return total_s;
}

// Days since 1970-01-01 in the proleptic Gregorian calendar.
std::int64_t days_from_civil(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

struct CivilDate {
  std::int64_t year;
  int month;
  int day;
};

CivilDate civil_from_days(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_index = (5 * day_of_year + 2) / 153;
  const int day = static_cast<int>(day_of_year - (153 * month_index + 2) / 5 + 1);
  const int month = static_cast<int>(month_index < 10 ? month_index + 3 : month_index - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

// Reads exactly `count` digits at `at`, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

int days_in_month(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// "Z", "+02:00" or "-0530" style offsets in seconds.
Result<double> parse_offset_s(std::string_view text, std::string_view rest) {
  if (rest == "Z" || rest == "z") return 0.0;
  if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':')
    return bad_time(text);
  const int hours = digits(rest, 1, 2);
  const int minutes = digits(rest, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return bad_time(text);
  const double offset_s = hours * 3600.0 + minutes * 60.0;
  return rest[0] == '-' ? -offset_s : offset_s;
}

}  // namespace

Result<double> parse_duration_s(std::string_view text) {
  if (text == "0") return 0.0;
  const auto total_s = sum_s(text);
  if (!total_s || !(*total_s <= kMaxDuration_s)) return bad_duration(text);
  return *total_s;
}

std::string duration_advice(std::string_view text) {
  if (text.starts_with('-')) return "it must be above zero, as in 90s, 45m, 3h30m or 1d12h";
  if (sum_s(text) > kMaxDuration_s) return "it is too long: ten years (3650d) is the most";
  const auto seconds = parse_number(text);
  if (!seconds || !(*seconds > 0) || !(*seconds <= kMaxDuration_s))
    return "write it with units, as in 90s, 45m, 3h30m, 1d12h or 2w";
  std::string longer = format("{}m", text);
  for (const auto& [unit, unit_s] : {Unit{"m", 60}, Unit{"h", 3600}, Unit{"d", 86400}})
    if (std::fmod(*seconds, unit_s) == 0)
      longer = format("{}{}", static_cast<std::int64_t>(*seconds / unit_s), unit);
  return format("it has no unit: write {}s or {} (units: ms, s, m, h, d, w)", text, longer);
}

Result<double> parse_rfc3339_s(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' ||
      (text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':')
    return bad_time(text);
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return bad_time(text);
  std::size_t at = 19;
  double fraction_s = 0;
  if (at < text.size() && text[at] == '.') {
    if (at + 1 == text.size() || !is_digit(text[at + 1])) return bad_time(text);
    double unit = 0.1;
    for (++at; at < text.size() && is_digit(text[at]); ++at, unit /= 10)
      fraction_s += (text[at] - '0') * unit;
  }
  SLACKLINE_ASSIGN(const double offset_s, parse_offset_s(text, text.substr(at)));
  const auto days = static_cast<double>(days_from_civil(year, month, day));
  return days * 86400.0 + hour * 3600.0 + minute * 60.0 + second + fraction_s - offset_s;
}

std::string format_rfc3339(double epoch_s) {
  const auto total = static_cast<std::int64_t>(std::floor(epoch_s));
  std::int64_t days = total / 86400;
  std::int64_t rest = total % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  const CivilDate date = civil_from_days(days);
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", date.year, date.month, date.day,
                rest / 3600, rest / 60 % 60, rest % 60);
}

std::string format_duration(double seconds) {
  if (seconds < 0) return "-" + format_duration(-seconds);
  if (!(seconds < kMaxDuration_s)) return ">10y";
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  if (total < 60) return format("{}s", total);
  if (total < 3600) return format("{}m{:02}s", total / 60, total % 60);
  if (total < 86400) return format("{}h{:02}m", total / 3600, total / 60 % 60);
  return format("{}d{:02}h", total / 86400, total / 3600 % 24);
}

}  // namespace slackline
