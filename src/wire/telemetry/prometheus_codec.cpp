#include "wire/telemetry/prometheus_codec.h"

#include <cmath>
#include <optional>

#include "slackline/base/text.h"
#include "wire/format/json_view.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMostErrorBytes = 512;
constexpr double kLatestPoint_s = 253402300799;  // the end of the year 9999

Error not_an_answer(std::string_view what) {
  return {ErrorCode::kInvalidArgument, format("not an answer of a Prometheus: {}", what)};
}

Error too_many_series() {
  return {ErrorCode::kResourceExhausted, format("more than {} series", kMostSeries)};
}

// Before anything is made of them. A label's name is followed by a text, and quotes in a text are
// escaped: so this is only where a series begins, as a Prometheus writes it.
bool has_many_series(std::string_view body) {
  constexpr std::string_view kBegin = R"("metric":{)";
  std::size_t count = 0;
  for (std::size_t at = body.find(kBegin); at != body.npos; at = body.find(kBegin, at + 1))
    if (++count > kMostSeries) return true;
  return false;
}

// A pair of a time and a text. nullopt: it is something else.
std::optional<SeriesPoint> read_point(JsonView pair) {
  if (!pair.is_array() || pair.items().count() != 2) return std::nullopt;
  auto item = pair.items().begin();
  const auto time_s = (*item).number();
  const JsonView value = *++item;
  if (!time_s || !(*time_s >= 0 && *time_s <= kLatestPoint_s) || !value.is_string())
    return std::nullopt;
  const std::string_view text = value.text();
  if (text == "NaN" || text == "+Inf" || text == "-Inf") return SeriesPoint{*time_s, std::nan("")};
  const auto number = parse_number(text);
  if (!number) return std::nullopt;
  return SeriesPoint{*time_s, *number};
}

Status add_point(JsonView pair, Series& series, std::size_t& points) {
  if (++points > kMostPoints)
    return fail(ErrorCode::kResourceExhausted,
                format("more than {} points: ask for a shorter time", kMostPoints));
  const auto point = read_point(pair);
  if (!point) return fail(not_an_answer("a value is not [SECONDS, \"NUMBER\"]"));
  if (!series.points.empty() && point->time_s < series.points.back().time_s)
    return fail(not_an_answer("the values of a series are not in order of time"));
  if (std::isfinite(point->value)) series.points.push_back(*point);
  return {};
}

Status read_labels(JsonView metric, Series& series) {
  if (!metric.is_object()) return fail(not_an_answer("a series has no labels (\"metric\")"));
  for (const auto& [name, value] : metric.fields()) {
    if (!value.is_string()) return fail(not_an_answer("a label is not a text"));
    if (series.labels.size() == kMostLabels)
      return fail(ErrorCode::kResourceExhausted,
                  format("a series with more than {} labels", kMostLabels));
    series.labels.emplace_back(name, value.text());
  }
  return {};
}

Result<Series> read_series(JsonView item, bool matrix, std::size_t& points) {
  Series series;
  SLACKLINE_TRY(read_labels(item["metric"], series));
  if (!matrix) {
    SLACKLINE_TRY(add_point(item["value"], series, points));
    return series;
  }
  if (!item["values"].is_array()) return fail(not_an_answer("a series has no values"));
  for (const JsonView pair : item["values"].items())
    SLACKLINE_TRY(add_point(pair, series, points));
  return series;
}

std::vector<std::string> read_warnings(JsonView warnings) {
  std::vector<std::string> out;
  std::size_t bytes = 0;
  for (const JsonView warning : warnings.items()) {
    std::string text = printable(warning.text());
    bytes += text.size();
    if (bytes > kMostWarningBytes) break;
    if (!text.empty()) out.push_back(std::move(text));
  }
  return out;
}

}  // namespace

std::string_view Series::label(std::string_view name) const {
  for (const auto& [key, value] : labels)
    if (key == name) return value;
  return {};
}

Result<QueryAnswer> decode_query_answer(std::string_view body) {
  if (has_many_series(body)) return fail(too_many_series());
  JsonDocument document;
  const auto root = document.parse(body);
  if (!root) return fail(not_an_answer(root.error().message));
  if ((*root)["status"].text() != "success")
    return fail(not_an_answer("its status is not \"success\""));
  const JsonView data = (*root)["data"];
  const std::string_view type = data["resultType"].text();
  if (type != "vector" && type != "matrix")
    return fail(not_an_answer(
        format("its resultType is \"{}\", neither vector nor matrix", printable(type, 32))));
  if (!data["result"].is_array()) return fail(not_an_answer("it has no result"));
  QueryAnswer answer;
  std::size_t points = 0;
  for (const JsonView item : data["result"].items()) {
    if (answer.series.size() == kMostSeries) return fail(too_many_series());
    SLACKLINE_ASSIGN(Series series, read_series(item, type == "matrix", points));
    answer.series.push_back(std::move(series));
  }
  answer.warnings = read_warnings((*root)["warnings"]);
  return answer;
}

std::string decode_query_error(std::string_view body) {
  JsonDocument document;
  const auto root = document.parse(body);
  if (!root || (*root)["status"].text() != "error") return {};
  const std::string_view type = (*root)["errorType"].text();
  const std::string_view text = (*root)["error"].text();
  return format("{}: {}", printable(type, 64), printable(text, kMostErrorBytes));
}

}  // namespace slackline::wire
