#include "wire/rest/progress_codec.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/kube/progress_note.h"

namespace slackline::wire {
namespace {

constexpr std::array<std::string_view, 5> kProgressKeys = {"iteration", "total", "loss", "time",
                                                           "phase"};
constexpr std::int64_t kMostIterations = 1'000'000'000'000'000;
constexpr double kLatestTime_s = 253402300799;  // the end of the year 9999

Error wrong(std::string_view field, std::string_view what) {
  return {ErrorCode::kInvalidArgument, format("{}: {}; nothing was noted", field, what)};
}

Status check_progress_keys(JsonView body) {
  if (!body.is_object())
    return fail(
        wrong("the body", "must be a JSON object, {\"iteration\": 1200, \"total\": 90000}"));
  for (const auto& [key, value] : body.fields())
    if (std::find(kProgressKeys.begin(), kProgressKeys.end(), key) == kProgressKeys.end())
      return fail(wrong(printable(key, 64),
                        format("unknown key; allowed: {}", fmt::join(kProgressKeys, ", "))));
  return {};
}

Status read_counts(JsonView body, ProgressReport& report) {
  const auto total = body["total"].integer();
  if (!total || *total < 1 || *total > kMostIterations)
    return fail(
        wrong("total", "must be a whole number from 1 to 10^15: the iterations of the task"));
  const auto iteration = body["iteration"].integer();
  if (!iteration || *iteration < 0 || *iteration > *total)
    return fail(wrong("iteration", format("must be a whole number from 0 to total, {}", *total)));
  report.iteration = *iteration;
  report.total = *total;
  return {};
}

Status read_moment(JsonView value, ProgressReport& report) {
  if (!value.present()) return {};
  auto time_s = value.number();
  if (!time_s)
    if (const auto written = parse_rfc3339_s(value.text())) time_s = *written;
  if (!time_s || !(*time_s > 0 && *time_s <= kLatestTime_s))
    return fail(wrong("time", "must be RFC 3339, \"2026-11-21T12:01:00Z\", or epoch seconds"));
  report.time_s = time_s;
  return {};
}

}  // namespace

Result<ProgressReport> read_posted_progress(std::string_view text) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView body, document.parse(text));
  SLACKLINE_TRY(check_progress_keys(body));
  ProgressReport report;
  SLACKLINE_TRY(read_counts(body, report));
  SLACKLINE_TRY(read_moment(body["time"], report));
  if (const JsonView loss = body["loss"]; loss.present()) {
    report.loss = loss.number();
    if (!report.loss || !std::isfinite(*report.loss))
      return fail(wrong("loss", "must be a number; leave it out where it is none"));
  }
  if (const JsonView phase = body["phase"]; phase.present()) {
    report.phase = std::string(phase.text());
    if (!is_phase(report.phase))
      return fail(wrong("phase", "must be 1 to 32 letters, digits, '.', '_' or '-'"));
  }
  return report;
}

}  // namespace slackline::wire
