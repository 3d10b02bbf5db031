#include <algorithm>

#include "slackline/base/text.h"
#include "slackline/base/visible.h"
#include "slackline/model/sample.h"
#include "wire/samples/import_formats.h"
#include "wire/samples/samples_csv.h"
#include "wire/telemetry/prometheus_codec.h"

namespace slackline::wire {
namespace {

// Median of the values above 0: a trainer that evaluates or saves reports nothing, or less, for a
// while. 0 without any.
double median_of(const Series& series) {
  std::vector<double> values;
  for (const SeriesPoint& point : series.points)
    if (point.value > 0) values.push_back(point.value);
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<double> number_label(const Series& series, std::string_view name, NumberRange range) {
  const auto value = parse_number(series.label(name));
  if (!value || !range.holds(*value)) return std::nullopt;
  return *value;
}

std::string name_label(const Series& series, std::string_view name, const std::string& given) {
  const std::string_view value = series.label(name);
  return value.empty() ? given : std::string(value);
}

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxName && !has_unprintable(name);
}

// The reason why a series is no sample; empty: it is one.
std::string read_series(const Series& series, const SampleNames& names, ThroughputSample& sample) {
  sample.model = name_label(series, "model", names.model);
  const std::string type = name_label(series, "gpu_type", names.gpu_type);
  if (!is_name(sample.model) || !is_name(type))
    return "no label model or gpu_type; give --model and --gpu-type";
  sample.gpu_type = GpuType(type);
  const auto batch = number_label(series, "batch", kBatches);
  if (!batch) return "no label batch, the global batch";
  sample.batch = *batch;
  const auto layout = parse_layout(series.label("placement"));
  if (!layout) return "no label placement, such as 2x8";
  sample.layout = *layout;
  if (!series.label("model_parallel").empty()) {
    const auto replica = parse_int(series.label("model_parallel"));
    if (!replica || *replica < 1 || *replica > kMostModelParallel)
      return "its label model_parallel is not a number of GPUs";
    sample.model_parallel = static_cast<int>(*replica);
    if (has_too_many_replicas(sample))
      return "batch x model_parallel is less than the GPUs of the placement";
  }
  const auto tokens = number_label(series, "tokens_per_sample", {1, 1e9});
  sample.throughput_samples_per_s = median_of(series) / tokens.value_or(1);
  if (!kThroughputs.holds(sample.throughput_samples_per_s)) return "no value above 0";
  return {};
}

}  // namespace

Result<SampleImport> import_prometheus(const SampleFile& file, const SampleNames& names) {
  SLACKLINE_ASSIGN(const QueryAnswer answer, decode_query_answer(file.text));
  SampleImport import;
  LeftOut left_out;
  for (const Series& series : answer.series) {
    ThroughputSample sample;
    if (std::string why = read_series(series, names, sample); !why.empty()) {
      left_out.add(std::move(why));
      continue;
    }
    sample.source = "Prometheus, median of a range";
    import.samples.push_back(std::move(sample));
  }
  import.left_out = left_out.list();
  return import;
}

}  // namespace slackline::wire
