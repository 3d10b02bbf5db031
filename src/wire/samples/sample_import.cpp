#include "wire/samples/sample_import.h"

#include <cmath>
#include <set>

#include "slackline/base/text.h"
#include "wire/samples/import_formats.h"
#include "wire/samples/samples_csv.h"

namespace slackline::wire {
namespace {

constexpr SampleFormat kFormats[] = {
    {"csv",
     "model,gpu_type,batch,placement,throughput_samples_per_s[,model_parallel][,source]; or "
     "tokens: "
     "throughput_tokens_per_s,tokens_per_sample",
     import_csv},
    {"elasticflow", "ElasticFlow's throughputs_A100/MODEL.csv", import_elasticflow},
    {"gavel", "Gavel's *_throughputs.json", import_gavel},
    {"llm-foundry", "llm-foundry's benchmark table, as CSV or Markdown", import_llm_foundry},
    {"mlperf", "MLPerf training results: a submission's folder, or result_*.txt in it",
     import_mlperf},
    {"pollux", "Pollux' MODEL/placements.csv and MODEL/scalability.csv", import_pollux},
    {"prometheus",
     "the answer to a range query of your trainer's samples/s; labels model, gpu_type, batch, "
     "placement[, model_parallel] (or tokens/s with tokens_per_sample)",
     import_prometheus},
    {"torchtitan", "torchtitan's tables, as CSV or Markdown", import_torchtitan},
    {"zeus", "Zeus' summary_power_GPU.csv", import_zeus},
};

Result<const SampleFormat*> find_format(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SampleFormat& format : kFormats) {
    if (format.name == name) return &format;
    names.push_back(format.name);
  }
  return fail(ErrorCode::kInvalidArgument, format("no sample format is named \"{}\"; there are {}",
                                                  printable(name, 64), fmt::join(names, ", ")));
}

// Keeps the samples of these names.
Status select(const SampleNames& names, std::vector<ThroughputSample>& samples) {
  std::set<std::string> there;
  for (const ThroughputSample& sample : samples)
    there.insert(
        format("{} on {}", printable(sample.model, 64), printable(sample.gpu_type.str(), 64)));
  std::erase_if(samples, [&names](const ThroughputSample& sample) {
    return (!names.model.empty() && sample.model != names.model) ||
           (!names.gpu_type.empty() && sample.gpu_type.str() != names.gpu_type);
  });
  if (!samples.empty()) return {};
  return fail(ErrorCode::kNotFound, format("holds no samples of {} on {}; it has {}",
                                           names.model.empty() ? "any model" : names.model,
                                           names.gpu_type.empty() ? "any GPU type" : names.gpu_type,
                                           join({there.begin(), there.end()}, ", ")));
}

Result<SampleImport> read_with(const SampleFormat& format, const SampleFile& file,
                               const SampleNames& names) {
  SLACKLINE_ASSIGN(SampleImport import, format.read(file, names));
  if (import.samples.empty())
    return fail(ErrorCode::kInvalidArgument,
                slackline::format("holds no samples that {} can be read as; left out: {}",
                                  format.name, join(import.left_out, "; ")));
  for (const ThroughputSample& sample : import.samples)
    if (!(sample.throughput_samples_per_s > 0) || !std::isfinite(sample.throughput_samples_per_s))
      return fail(
          ErrorCode::kInvalidArgument,
          slackline::format("{} on {} at batch {}: the throughput is out of range",
                            printable(sample.model, 64), sample.layout.str(), sample.batch));
  SLACKLINE_TRY(select(names, import.samples));
  return import;
}

}  // namespace

std::span<const SampleFormat> sample_formats() {
  return kFormats;
}

Result<SampleImport> import_samples(std::string_view format, const SampleFile& file,
                                    const SampleNames& names) {
  SLACKLINE_ASSIGN(const SampleFormat* found, find_format(format));
  auto import = read_with(*found, file, names);
  if (!import) return fail(import.error().with_context(file.path));
  return import;
}

Result<SampleImport> import_csv(const SampleFile& file, const SampleNames& /*names*/) {
  SLACKLINE_ASSIGN(const CsvTable table, read_csv(file.text));
  SampleImport import;
  SLACKLINE_ASSIGN(import.samples, read_samples(table, SampleRows::kMeasured));
  LeftOut left_out;
  std::erase_if(import.samples, [&](const ThroughputSample& sample) {
    const bool wrong = has_too_many_replicas(sample);
    if (wrong) left_out.add("batch x model_parallel is less than the GPUs of the placement");
    return wrong;
  });
  import.left_out = left_out.list();
  return import;
}

std::string stem_of(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return std::string(name.substr(0, name.find_last_of('.')));
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos) return {};
  path = path.substr(0, slash);
  return std::string(path.substr(path.find_last_of('/') + 1));
}

std::vector<std::string> LeftOut::list() const {
  std::vector<std::string> lines;
  for (const auto& [reason, rows] : rows_)
    lines.push_back(format("{}: {}", counted(rows, "row"), reason));
  return lines;
}

}  // namespace slackline::wire
