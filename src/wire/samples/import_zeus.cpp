#include <algorithm>

#include "slackline/base/text.h"
#include "wire/format/csv.h"
#include "wire/samples/import_formats.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kZeusSource = "Zeus (NSDI'23), one GPU at its full power limit";

struct DataSet {
  std::string_view name;
  double samples;  // of one epoch
};
constexpr DataSet kDataSets[] = {{"cifar100", 50'000}, {"imagenet", 1'281'167}};

std::optional<double> samples_per_epoch(std::string_view data_set) {
  for (const DataSet& known : kDataSets)
    if (known.name == data_set) return known.samples;
  return std::nullopt;
}

// "summary_power_v100.csv" -> V100
std::string type_in_path(const std::string& path) {
  const std::string name = stem_of(path);
  return to_upper(std::string_view(name).substr(name.find_last_of('_') + 1));
}

struct ZeusColumns {
  std::size_t data_set = 0;
  std::size_t network = 0;
  std::size_t batch = 0;
  std::size_t power = 0;
  std::size_t time = 0;
};

Result<ZeusColumns> find_columns(const CsvTable& table) {
  ZeusColumns columns;
  SLACKLINE_ASSIGN(columns.data_set, table.require("dataset"));
  SLACKLINE_ASSIGN(columns.network, table.require("network"));
  SLACKLINE_ASSIGN(columns.batch, table.require("batch_size"));
  SLACKLINE_ASSIGN(columns.power, table.require("power_limit"));
  SLACKLINE_ASSIGN(columns.time, table.require("time_per_epoch"));
  return columns;
}

}  // namespace

Result<SampleImport> import_zeus(const SampleFile& file, const SampleNames& names) {
  SLACKLINE_ASSIGN(const CsvTable table, read_csv(file.text));
  SLACKLINE_ASSIGN(const ZeusColumns columns, find_columns(table));
  RowProblems problems;
  int full_power = 0;
  for (const CsvRow& row : table.rows)
    full_power = std::max(full_power, read_count(table, row, columns.power, problems).value_or(0));
  ThroughputSample sample;
  sample.gpu_type = GpuType(names.gpu_type.empty() ? type_in_path(file.path) : names.gpu_type);
  sample.source = kZeusSource;
  SampleImport import;
  LeftOut left_out;
  for (const CsvRow& row : table.rows) {
    const std::string_view data_set = row.cell(columns.data_set);
    const auto samples = samples_per_epoch(data_set);
    const auto batch = read_count(table, row, columns.batch, problems);
    const auto time_s = read_positive(table, row, columns.time, problems);
    sample.model = row.cell(columns.network);
    if (sample.model.empty()) problems.add(row.line, "network", "is missing");
    if (!batch || !time_s || sample.model.empty()) continue;
    if (!samples) {
      left_out.add(format("of {}, whose samples per epoch are not known", printable(data_set, 64)));
      continue;
    }
    if (const auto power = parse_int(row.cell(columns.power)); !power || *power < full_power) {
      left_out.add(format("below the full power limit of {} W", full_power));
      continue;
    }
    sample.batch = *batch;
    sample.throughput_samples_per_s = *samples / *time_s;
    import.samples.push_back(sample);
  }
  if (!problems.empty()) return fail(problems.error());
  import.left_out = left_out.list();
  return import;
}

}  // namespace slackline::wire
