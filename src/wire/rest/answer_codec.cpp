#include "wire/rest/answer_codec.h"

#include <array>
#include <cmath>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"

namespace slackline::wire {
namespace {

constexpr double kNow_s = 60;
constexpr std::array<std::string_view, 4> kStandings = {"starts", "waits", "misses", "unknown"};

Error no_answer() {
  return {ErrorCode::kInvalidArgument, "the answer is not one of this daemon"};
}

double time_in(JsonView value) {
  const auto time_s = parse_rfc3339_s(value.text());
  return time_s ? *time_s : 0;
}

// "20261124T120000Z"
std::string compact_time(double epoch_s) {
  std::string text = format_rfc3339(std::round(epoch_s));
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

// RFC 5545 section 3.3.11.
std::string escaped(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text, 64)) {
    if (c == ',' || c == ';' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string event_of(const CalendarRow& row, double now_s) {
  return format(
      "BEGIN:VEVENT\r\nUID:{}-{}@slackline\r\nDTSTAMP:{}\r\nDTSTART:{}\r\nDTEND:{}\r\n"
      "SUMMARY:{} of type {} free\\, {} for sure\r\nTRANSP:TRANSPARENT\r\nEND:VEVENT\r\n",
      compact_time(row.begins_s), escaped(row.gpu_type), compact_time(now_s),
      compact_time(row.begins_s), compact_time(row.ends_s), counted(row.free_p50, "GPU"),
      escaped(row.gpu_type), row.free_p90);
}

// "now", or "2026-11-24T12:00:00Z (in 2h5m)".
std::string moment(JsonView time, double now_s) {
  const double in_s = time_in(time) - now_s;
  if (in_s < kNow_s) return "now";
  return format("{} (in {})", time.text(), format_duration(in_s));
}

std::string in_time_text(double finish_s, double deadline_s, std::optional<double> chance) {
  const double left_s = deadline_s - finish_s;
  std::string text =
      format(", {} by {}", left_s >= 0 ? "in time" : "late", format_duration(std::abs(left_s)));
  if (chance) text += format(", chance to be in time {:.0f} %", 100 * *chance);
  return text;
}

AsWritten as_written(JsonView quote, JsonView row, double now_s) {
  if (quote["refusal"].present())
    return {format("would be refused: {}", quote["refusal"].text()), Standing::kTooLate};
  if (!row["start"]["p50"].present()) {
    const std::string_view why =
        row["reason"].present() ? row["reason"].text() : quote["reason"].text();
    return {format("does not start: {}", why.empty() ? "there is no forecast" : why),
            Standing::kTooLate};
  }
  AsWritten said{"starts " + moment(row["start"]["p50"], now_s), Standing::kInTime};
  if (row["cutShort"].is_true()) {
    said.text += format(", and is cut short: {}", row["reason"].text());
    said.standing = Standing::kTooLate;
    return said;
  }
  const auto chance = row["chance"].number();
  const JsonView finish = row["finish"];
  if (finish["p50"].present()) {
    said.text += ", is done " + moment(finish["p50"], now_s);
    if (finish["p90"].present()) said.text += format(", 9 times of 10 by {}", finish["p90"].text());
  } else {
    said.text += ", its run time is unknown";
  }
  if (quote["deadline"].present()) {
    if (finish["p50"].present())
      said.text += in_time_text(time_in(finish["p50"]), time_in(quote["deadline"]), chance);
    if (!chance) said.standing = Standing::kUnknown;
    if (chance.value_or(1) < kLikely) said.standing = Standing::kTooLate;
  }
  if (const auto before = quote["before"].integer().value_or(0); before > 0)
    said.text += ", behind " + counted(before, "task");
  if (const auto delayed = row["delayed"].integer().value_or(0); delayed > 0)
    said.text += format("; {} later for it", counted(delayed, "task ends", "tasks end"));
  return said;
}

}  // namespace

Result<std::string> standing_in_answer(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView answer, document.parse(json));
  const JsonView eta = answer["eta"].present() ? answer["eta"] : answer;
  for (const std::string_view standing : kStandings)
    if (eta["standing"].text() == standing) return std::string(standing);
  return fail(no_answer());
}

Result<std::string> standing_in_quote(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView answer, document.parse(json));
  if (!answer["items"].is_array()) return fail(no_answer());
  if (answer["refusal"].present()) return std::string("late");
  const bool has_deadline = answer["deadline"].present();
  bool starts = false;
  bool told = false;
  for (const JsonView row : answer["items"].items()) {
    if (!row["accepted"].is_true() || !row["start"]["p50"].present()) continue;
    if (row["cutShort"].is_true()) continue;
    starts = true;
    const auto chance = row["chance"].number();
    told = told || chance.has_value();
    if (!has_deadline || chance.value_or(0) >= kLikely) return std::string("in time");
  }
  return std::string(starts && !told ? "unknown" : "late");
}

Result<AsWritten> as_written_in_quote(std::string_view json, double now_s) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView quote, document.parse(json));
  for (const JsonView row : quote["items"].items())
    if (row["written"].is_true()) {
      AsWritten said = as_written(quote, row, now_s);
      said.note = quote["note"].text();
      for (const JsonView problem : quote["problems"].items())
        said.problems.emplace_back(problem.text());
      return said;
    }
  return fail(no_answer());
}

std::string to_icalendar(const std::vector<CalendarRow>& rows, double now_s) {
  std::string text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Slackline//calendar//EN\r\n";
  for (std::size_t i = 0; i < rows.size();) {
    CalendarRow stretch = rows[i];
    for (++i; i < rows.size() && rows[i].gpu_type == stretch.gpu_type &&
              rows[i].begins_s == stretch.ends_s && rows[i].free_p50 == stretch.free_p50 &&
              rows[i].free_p90 == stretch.free_p90;
         ++i)
      stretch.ends_s = rows[i].ends_s;
    if (stretch.free_p50 > 0) text += event_of(stretch, now_s);
  }
  return text + "END:VCALENDAR\r\n";
}

Result<std::vector<CalendarRow>> decode_calendar(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView list, document.parse(json));
  if (!list["items"].is_array()) return fail(no_answer());
  std::vector<CalendarRow> rows;
  for (const JsonView item : list["items"].items())
    rows.push_back({std::string(item["gpuType"].text()), time_in(item["begins"]),
                    time_in(item["ends"]), item["gpus"].integer().value_or(0),
                    item["freeP50"].integer().value_or(0), item["freeP90"].integer().value_or(0)});
  return rows;
}

}  // namespace slackline::wire
