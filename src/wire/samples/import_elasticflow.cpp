#include "slackline/base/text.h"
#include "wire/format/csv.h"
#include "wire/samples/import_formats.h"

namespace slackline::wire {
namespace {

constexpr int kGpusPerServer = 8;
constexpr std::string_view kBatch = "global_batch_size";
constexpr std::string_view kElasticFlowSource = "ElasticFlow (ASPLOS'23), A100 in servers of 8";

// The GPU counts that head the columns, one layout each.
Result<std::vector<Layout>> read_layouts(const CsvTable& table, std::size_t batch_column) {
  std::vector<Layout> layouts(table.header.size());
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (i == batch_column) continue;
    const auto gpus = parse_int(table.header[i]);
    const bool servers = gpus && *gpus > kGpusPerServer;
    if (!gpus || *gpus < 1 || *gpus > 4096 || (servers && *gpus % kGpusPerServer != 0))
      return fail(ErrorCode::kInvalidArgument,
                  format("line 1: column \"{}\" must be a number of GPUs: 1 to {}, or whole "
                         "servers of {}",
                         printable(table.header[i], 64), kGpusPerServer, kGpusPerServer));
    const int count = static_cast<int>(*gpus);
    layouts[i] =
        Layout(servers ? Placement{count / kGpusPerServer, kGpusPerServer} : Placement{1, count});
  }
  return layouts;
}

}  // namespace

Result<SampleImport> import_elasticflow(const SampleFile& file, const SampleNames& names) {
  SLACKLINE_ASSIGN(const CsvTable table, read_csv(file.text));
  SLACKLINE_ASSIGN(const std::size_t batch_column, table.require(kBatch));
  SLACKLINE_ASSIGN(const std::vector<Layout> layouts, read_layouts(table, batch_column));
  ThroughputSample sample;
  sample.model = names.model.empty() ? stem_of(file.path) : names.model;
  sample.gpu_type = GpuType(names.gpu_type.empty() ? "A100" : names.gpu_type);
  sample.source = kElasticFlowSource;
  SampleImport import;
  LeftOut left_out;
  RowProblems problems;
  for (const CsvRow& row : table.rows) {
    const auto batch = read_positive(table, row, batch_column, problems);
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      if (i == batch_column) continue;
      const auto zero = parse_number(row.cell(i));
      if (row.cell(i).empty() || (zero && *zero == 0)) {
        left_out.add("no rate, so it did not run");
        continue;
      }
      const auto rate = read_positive(table, row, i, problems);
      if (!batch || !rate) continue;
      if (*batch < layouts[i].spread().gpus) {
        left_out.add("more GPUs than samples in the batch");
        continue;
      }
      sample.batch = *batch;
      sample.layout = layouts[i];
      sample.throughput_samples_per_s = *rate * *batch;
      import.samples.push_back(sample);
    }
  }
  if (!problems.empty()) return fail(problems.error());
  import.left_out = left_out.list();
  return import;
}

}  // namespace slackline::wire
