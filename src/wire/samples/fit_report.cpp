#include "wire/samples/fit_report.h"

#include "slackline/base/text.h"
#include "wire/format/json_writer.h"
#include "wire/format/text_table.h"

namespace slackline::wire {
namespace {

void field(JsonWriter& out, std::string_view name, const std::optional<double>& value) {
  out.key(name);
  if (value)
    out.number(*value);
  else
    out.null();
}

std::string one_decimal(const std::optional<double>& value) {
  return value ? format("{:.1f}", *value) : "";
}

std::string row_json(const FitReportRow& row) {
  JsonWriter out;
  out.begin_object();
  out.field("model", row.model).field("gpu_type", row.gpu_type).field("points", row.points);
  out.key("kind");
  if (row.kind.empty())
    out.null();
  else
    out.string(row.kind);
  out.field("model_parallel", row.model_parallel);
  out.field("model_parallel_derived", row.model_parallel_derived);
  field(out, "in_sample_mape", row.in_sample_mape);
  field(out, "held_out_mape", row.held_out_mape);
  field(out, "held_out_median_ape", row.held_out_median_ape);
  field(out, "held_out_p90_ape", row.held_out_p90_ape);
  out.key("held_out_by");
  if (row.held_out_by.empty())
    out.null();
  else
    out.string(row.held_out_by);
  field(out, "noise_floor", row.noise_floor);
  field(out, "chosen_within_5pct", row.chosen_within_5pct);
  out.end_object();
  return out.take();
}

std::string outlier_json(const FitOutlier& outlier) {
  JsonWriter out;
  out.begin_object();
  out.field("model", outlier.model).field("gpu_type", outlier.gpu_type);
  out.key("batch").number(outlier.batch);
  out.field("placement", outlier.placement);
  out.key("measured").number(outlier.measured);
  out.key("predicted").number(outlier.predicted);
  out.field("source", outlier.source);
  out.end_object();
  return out.take();
}

}  // namespace

std::string fit_report_json(const std::vector<FitReportRow>& rows,
                            const std::vector<FitOutlier>& outliers) {
  std::vector<std::string> lines;
  for (const FitReportRow& row : rows)
    lines.push_back(row_json(row));
  std::vector<std::string> odd;
  for (const FitOutlier& outlier : outliers)
    odd.push_back(outlier_json(outlier));
  return "{\"models\":[\n" + join(lines, ",\n") + "\n],\"outliers\":[\n" + join(odd, ",\n") +
         "\n]}\n";
}

std::string fit_report_table(const std::vector<FitReportRow>& rows) {
  TextTable table({"MODEL", "GPU TYPE", ">POINTS", "KIND", ">IN-SAMPLE %", ">HELD-OUT %",
                   ">MEDIAN %", ">P90 %", ">NOISE %", ">CHOSE WITHIN 5 %"});
  for (const FitReportRow& row : rows)
    table.add({row.model, row.gpu_type, std::to_string(row.points), row.kind,
               one_decimal(row.in_sample_mape), one_decimal(row.held_out_mape),
               one_decimal(row.held_out_median_ape), one_decimal(row.held_out_p90_ape),
               one_decimal(row.noise_floor),
               row.chosen_within_5pct ? format("{:.0f} %", *row.chosen_within_5pct) : ""});
  return table.str();
}

}  // namespace slackline::wire
