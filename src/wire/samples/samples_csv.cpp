#include "wire/samples/samples_csv.h"

#include <array>
#include <charconv>

#include "slackline/base/text.h"
#include "slackline/base/visible.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kThroughput = "throughput_samples_per_s";
constexpr std::string_view kTokenThroughput = "throughput_tokens_per_s";
constexpr std::string_view kTokensPerSample = "tokens_per_sample";
constexpr std::string_view kModelParallel = "model_parallel";
constexpr NumberRange kTokens{1, 1e9};

struct SampleColumns {
  std::size_t model = 0;
  std::size_t gpu_type = 0;
  std::size_t batch = 0;
  std::size_t placement = 0;
  std::optional<std::size_t> throughput;  // absent from questions
  std::optional<std::size_t> source;
  std::optional<std::size_t> model_parallel;
  std::optional<std::size_t> tokens_per_sample;
  bool in_tokens = false;  // the throughput is tokens per second
};

Result<SampleColumns> find_columns(const CsvTable& table, SampleRows rows) {
  SampleColumns columns;
  SLACKLINE_ASSIGN(columns.model, table.require("model"));
  SLACKLINE_ASSIGN(columns.gpu_type, table.require("gpu_type"));
  SLACKLINE_ASSIGN(columns.batch, table.require("batch"));
  SLACKLINE_ASSIGN(columns.placement, table.require("placement"));
  if (rows == SampleRows::kMeasured) {
    columns.throughput = table.column(kThroughput);
    columns.tokens_per_sample = table.column(kTokensPerSample);
    if (!columns.throughput && table.column(kTokenThroughput)) {
      columns.in_tokens = true;
      columns.throughput = table.column(kTokenThroughput);
      SLACKLINE_ASSIGN(columns.tokens_per_sample, table.require(kTokensPerSample));
    }
    if (!columns.throughput) {
      SLACKLINE_ASSIGN(columns.throughput, table.require(kThroughput));
    }
  }
  columns.model_parallel = table.column(kModelParallel);
  columns.source = table.column("source");
  return columns;
}

std::string read_name(const CsvTable& table, const CsvRow& row, std::size_t column,
                      RowProblems& problems) {
  const std::string_view name = row.cell(column);
  if (name.empty()) problems.add(row.line, table.header[column], "is missing");
  if (name.size() > kMaxName)
    problems.add(row.line, table.header[column], format("is longer than {} bytes", kMaxName));
  if (has_unprintable(name))
    problems.add(row.line, table.header[column],
                 "contains control characters or invisible characters");
  return std::string(name);
}

// GPUs of a replica; an empty cell states none.
int read_replica(const CsvTable& table, const CsvRow& row, const SampleColumns& columns,
                 RowProblems& problems) {
  if (row.cell(*columns.model_parallel).empty()) return 0;
  const int gpus = read_count(table, row, *columns.model_parallel, problems).value_or(0);
  if (gpus <= kMostModelParallel) return gpus;
  problems.add(row.line, kModelParallel, format("is more than {}", kMostModelParallel));
  return 0;
}

ThroughputSample read_row(const CsvTable& table, const CsvRow& row, const SampleColumns& columns,
                          RowProblems& problems) {
  ThroughputSample sample;
  sample.model = read_name(table, row, columns.model, problems);
  sample.gpu_type = GpuType(read_name(table, row, columns.gpu_type, problems));
  const auto batch = read_positive(table, row, columns.batch, problems, kBatches);
  sample.batch = batch.value_or(0);
  const auto layout = parse_layout(row.cell(columns.placement));
  if (layout)
    sample.layout = *layout;
  else
    problems.add(row.line, "placement", layout.error().message);
  if (columns.model_parallel) sample.model_parallel = read_replica(table, row, columns, problems);
  if (columns.throughput) {
    const double tokens =
        columns.in_tokens
            ? read_positive(table, row, *columns.tokens_per_sample, problems, kTokens).value_or(1)
            : 1;
    sample.throughput_samples_per_s =
        read_positive(table, row, *columns.throughput, problems, kThroughputs).value_or(1) / tokens;
    if (!kThroughputs.holds(sample.throughput_samples_per_s))
      problems.add(row.line, kTokenThroughput, "is too few samples per second");
  }
  if (columns.source) sample.source = row.cell(*columns.source).substr(0, kMaxSource);
  return sample;
}

// The shortest form that reads back as the same value.
std::string exact(double number) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr};
}

}  // namespace

bool has_too_many_replicas(const ThroughputSample& sample) {
  return sample.model_parallel > 0 &&
         sample.batch * sample.model_parallel < sample.layout.spread().gpus;
}

Result<std::vector<ThroughputSample>> read_samples(const CsvTable& table, SampleRows rows) {
  SLACKLINE_ASSIGN(const SampleColumns columns, find_columns(table, rows));
  RowProblems problems;
  std::vector<ThroughputSample> samples;
  for (const CsvRow& row : table.rows) {
    if (row.cells.size() > table.header.size())
      problems.add(row.line, "row",
                   format("has {} cells, the header names {}; quote a cell that holds a comma",
                          row.cells.size(), table.header.size()));
    else
      samples.push_back(read_row(table, row, columns, problems));
  }
  if (!problems.empty()) return fail(problems.error());
  if (samples.empty())
    return fail(ErrorCode::kInvalidArgument, "has no rows after the header, so no samples");
  return samples;
}

Result<std::vector<ThroughputSample>> read_samples_csv(std::string_view text,
                                                       const std::string& file) {
  const auto table = read_csv(text);
  if (!table) return fail(table.error().with_context(file));
  auto samples = read_samples(*table, SampleRows::kMeasured);
  if (!samples) return fail(samples.error().with_context(file));
  return samples;
}

std::string write_samples_csv(const std::vector<ThroughputSample>& samples) {
  std::string out;
  append_csv_row(out, {"model", "gpu_type", "batch", "placement", std::string(kThroughput),
                       std::string(kModelParallel), "source"});
  for (const ThroughputSample& sample : samples)
    append_csv_row(out, {sample.model, sample.gpu_type.str(), exact(sample.batch),
                         sample.layout.str(), exact(sample.throughput_samples_per_s),
                         sample.model_parallel > 0 ? std::to_string(sample.model_parallel) : "",
                         sample.source});
  return out;
}

}  // namespace slackline::wire
