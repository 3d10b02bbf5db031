#include <algorithm>
#include <optional>

#include "slackline/base/text.h"
#include "slackline/base/visible.h"
#include "slackline/model/gpu_catalog.h"
#include "wire/format/json_view.h"
#include "wire/samples/import_formats.h"
#include "wire/samples/samples_csv.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kMark = ":::MLLOG ";

// What a log says of its run.
struct MlperfRun {
  std::string benchmark;
  std::optional<double> batch;
  std::vector<double> throughputs;  // samples per second, as logged
  bool success = false;
};

void read_event(JsonView event, MlperfRun& run) {
  const std::string_view key = event["key"].text();
  const JsonView value = event["value"];
  if (key == "submission_benchmark") run.benchmark = value.text();
  if (key == "global_batch_size" && value.number()) run.batch = value.number();
  if (key == "run_stop") run.success = event["metadata"]["status"].text() == "success";
  if (key != "tracked_stats" && key != "throughput") return;
  const auto logged = key == "throughput" ? value.number() : value["throughput"].number();
  if (logged && kThroughputs.holds(*logged)) run.throughputs.push_back(*logged);
}

Result<MlperfRun> read_log(std::string_view text) {
  MlperfRun run;
  JsonDocument document;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::size_t mark = line.find(kMark);
    if (mark == std::string_view::npos) continue;
    const auto event = document.parse(line.substr(mark + kMark.size()));
    if (!event) return fail(event.error().with_context(format("line {}", number)));
    read_event(*event, run);
  }
  return run;
}

// A number that systems write as a number or as a text.
std::optional<std::int64_t> count_in(JsonView value) {
  if (value.integer()) return value.integer();
  const auto count = parse_int(value.text());
  return count ? std::optional(*count) : std::nullopt;
}

struct MlperfSystem {
  std::string gpu_type;
  Placement placement;
};

Result<MlperfSystem> read_system(std::string_view text) {
  const auto wrong = [](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument,
                format("systems/SYSTEM.json: {}; it has to lie beside results/", what));
  };
  if (text.empty()) return wrong("is not there");
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView system, document.parse(text));
  const auto nodes = count_in(system["number_of_nodes"]);
  const auto gpus = count_in(system["accelerators_per_node"]);
  std::string product(system["accelerator_model_name"].text());
  if (!nodes || !gpus || *nodes < 1 || *gpus < 1 || *gpus > kMaxGpusPerNode || *nodes > 4096)
    return wrong("number_of_nodes or accelerators_per_node is missing");
  if (product.empty() || product.size() > kMaxName || has_unprintable(product))
    return wrong("accelerator_model_name is missing");
  std::replace(product.begin(), product.end(), ' ', '-');
  const GpuType type = default_gpu_catalog().classify({{"nvidia.com/gpu.product", product}});
  return MlperfSystem{type.str(), clamped_placement(*nodes, *gpus)};
}

double median_of_logged(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Result<SampleImport> import_mlperf(const SampleFile& file, const SampleNames& /*names*/) {
  SLACKLINE_ASSIGN(const MlperfRun run, read_log(file.text));
  SampleImport import;
  const auto leave_out = [&](std::string why) {
    import.left_out = {"1 run: " + std::move(why)};
    return import;
  };
  if (!run.success) return leave_out("did not end in success");
  if (run.throughputs.empty()) return leave_out("logs no throughput");
  if (!run.batch || !kBatches.holds(*run.batch)) return leave_out("logs no global_batch_size");
  if (run.benchmark.empty() || run.benchmark.size() > kMaxName || has_unprintable(run.benchmark))
    return leave_out("logs no submission_benchmark");
  SLACKLINE_ASSIGN(const MlperfSystem system, read_system(file.beside));
  ThroughputSample sample;
  sample.model = run.benchmark;
  sample.gpu_type = GpuType(system.gpu_type);
  sample.batch = *run.batch;
  sample.layout = Layout(system.placement);
  sample.throughput_samples_per_s = median_of_logged(run.throughputs);
  sample.source = "derived from an MLPerf training log, not verified by MLCommons";
  import.samples.push_back(std::move(sample));
  return import;
}

}  // namespace slackline::wire
