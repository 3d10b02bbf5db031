#include <algorithm>

#include "slackline/base/text.h"
#include "wire/format/csv.h"
#include "wire/samples/import_formats.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kPolluxSource = "Pollux (OSDI'21), AWS g4dn.12xlarge, 4 T4 per node";

std::string model_of_folder(const std::string& path) {
  std::string folder = folder_of(path);
  if (folder == "imagenet") return "resnet50";
  if (folder == "cifar10") return "resnet18";
  return folder;
}

// "4431" -> 4+4+3+1
std::optional<Layout> read_digits(const CsvTable& table, const CsvRow& row, std::size_t column,
                                  RowProblems& problems) {
  const std::string_view digits = row.cell(column);
  std::vector<int> gpus;
  for (const char digit : digits)
    gpus.push_back(digit - '0');
  const bool good = std::all_of(gpus.begin(), gpus.end(), [](int n) { return n >= 1 && n <= 9; });
  auto layout = good && !gpus.empty() ? Layout::of(std::move(gpus))
                                      : Result<Layout>(fail(ErrorCode::kInvalidArgument, ""));
  if (layout) return *std::move(layout);
  problems.add(row.line, table.header[column],
               format("\"{}\" must be one digit per node, its GPUs", printable(digits, 64)));
  return std::nullopt;
}

// 7 GPUs on 3 nodes -> 3+2+2
std::optional<Layout> read_even(const CsvTable& table, const CsvRow& row, std::size_t nodes_column,
                                std::size_t gpus_column, RowProblems& problems) {
  const auto nodes = read_count(table, row, nodes_column, problems);
  const auto gpus = read_count(table, row, gpus_column, problems);
  if (!nodes || !gpus) return std::nullopt;
  if (*gpus < *nodes || *nodes > 4096) {
    problems.add(row.line, table.header[gpus_column],
                 format("{} GPUs cannot lie on {} nodes", *gpus, *nodes));
    return std::nullopt;
  }
  std::vector<int> each(static_cast<std::size_t>(*nodes), *gpus / *nodes);
  for (std::size_t i = 0; i < static_cast<std::size_t>(*gpus % *nodes); ++i)
    ++each[i];
  auto layout = Layout::of(std::move(each));
  if (layout) return *std::move(layout);
  problems.add(row.line, table.header[gpus_column], layout.error().message);
  return std::nullopt;
}

}  // namespace

Result<SampleImport> import_pollux(const SampleFile& file, const SampleNames& names) {
  SLACKLINE_ASSIGN(const CsvTable table, read_csv(file.text));
  const auto digits = table.column("placement");
  std::size_t nodes = 0;
  std::size_t gpus = 0;
  if (!digits) {
    SLACKLINE_ASSIGN(nodes, table.require("num_nodes"));
    SLACKLINE_ASSIGN(gpus, table.require("num_replicas"));
  }
  SLACKLINE_ASSIGN(const std::size_t batch_column, table.require("local_bsz"));
  SLACKLINE_ASSIGN(const std::size_t time_column, table.require("step_time"));
  ThroughputSample sample;
  sample.model = names.model.empty() ? model_of_folder(file.path) : names.model;
  if (sample.model.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the folder of a Pollux file names its model; give a path with a folder, or the "
                "model");
  sample.gpu_type = GpuType(names.gpu_type.empty() ? "T4" : names.gpu_type);
  sample.source = kPolluxSource;
  SampleImport import;
  RowProblems problems;
  for (const CsvRow& row : table.rows) {
    const auto layout = digits ? read_digits(table, row, *digits, problems)
                               : read_even(table, row, nodes, gpus, problems);
    const auto batch = read_count(table, row, batch_column, problems);
    const auto time_s = read_positive(table, row, time_column, problems);
    if (!layout || !batch || !time_s) continue;
    sample.layout = *layout;
    sample.batch = static_cast<double>(*batch) * layout->spread().gpus;
    sample.throughput_samples_per_s = sample.batch / *time_s;
    import.samples.push_back(sample);
  }
  if (!problems.empty()) return fail(problems.error());
  return import;
}

}  // namespace slackline::wire
