#include "sim/job_table.h"

#include <chrono>
#include <cmath>

#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

// The two or four digits at `at`, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  const auto number =
      text.size() < at + count ? Result<std::int64_t>(-1) : parse_int(text.substr(at, count));
  return number && *number >= 0 ? static_cast<int>(*number) : -1;
}

// "2017-10-03 07:10:26..."
std::optional<double> parse_date_time(std::string_view text) {
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' ||
      (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  if (year < 0 || month < 0 || day < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86400 + hour * 3600 + minute * 60 + second;
}

}  // namespace

std::optional<std::size_t> JobTable::find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names)
    if (const auto column = table_.column(name)) return column;
  return std::nullopt;
}

Result<std::size_t> JobTable::require(std::initializer_list<std::string_view> names) const {
  if (const auto column = find(names)) return *column;
  return fail(ErrorCode::kInvalidArgument,
              format("line 1: there is no column {}; there are {}", fmt::join(names, " or "),
                     printable(join(table_.header, ", "))));
}

double JobTable::number(const wire::CsvRow& row, std::size_t column, double least) {
  const auto value = parse_number(row.cell(column));
  if (value && std::isfinite(*value) && *value >= least && *value <= kMostTime_s) return *value;
  problem(row, column, format("must be a number of {} or more", least));
  return 0;
}

std::optional<double> JobTable::optional_number(const wire::CsvRow& row,
                                                std::optional<std::size_t> column, double least) {
  if (!column || row.cell(*column).empty()) return std::nullopt;
  return number(row, *column, least);
}

double JobTable::time(const wire::CsvRow& row, std::size_t column) {
  if (const auto seconds = parse_date_time(row.cell(column))) return *seconds;
  const auto value = parse_number(row.cell(column));
  if (value && *value >= 0 && *value <= kMostTime_s) return *value;
  problem(row, column, "must be seconds, or a date and time such as 2017-10-03 07:10:26");
  return 0;
}

std::string_view JobTable::text(const wire::CsvRow& row, std::optional<std::size_t> column) const {
  return column ? row.cell(*column) : std::string_view{};
}

void JobTable::problem(const wire::CsvRow& row, std::size_t column, std::string_view what) {
  problems_.add(row.line, table_.header[column],
                format("\"{}\" {}", printable(row.cell(column), 40), what));
}

Result<std::vector<RecordedJob>> JobTable::finish(std::vector<RecordedJob> jobs) const {
  if (!problems_.empty()) return fail(problems_.error());
  return jobs;
}

}  // namespace slackline::sim
