#include <optional>

#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/samples/gavel_name.h"
#include "wire/samples/import_formats.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kGavelSource = "Gavel (OSDI'20), one server or one GPU per server";
constexpr std::string_view kSpread = "_unconsolidated";
constexpr std::string_view kAlone = "null";

struct Job {
  std::string_view name;
  std::optional<double> batch;  // of one worker
  int workers = 0;
};

// "('ResNet-50 (batch size 64)', 2)"; "('A3C', 1)" has no batch. nullopt: another form.
std::optional<Job> read_job(std::string_view key) {
  if (!key.starts_with("('") || !key.ends_with(")")) return std::nullopt;
  const std::size_t close = key.find("', ", 2);
  if (close == std::string_view::npos) return std::nullopt;
  const auto workers = parse_int(key.substr(close + 3, key.size() - close - 4));
  if (!workers || *workers < 1 || *workers > 4096) return std::nullopt;
  const auto name = read_gavel_name(key.substr(2, close - 2));
  if (!name) return std::nullopt;
  return Job{name->family, name->batch, static_cast<int>(*workers)};
}

// The same networks under Slackline's names of workload types.
std::string model_of(std::string_view name) {
  if (name == "LM") return "lstm";
  if (name == "Transformer") return "seq2seq";
  std::string model = to_lower(name);
  std::erase(model, '-');
  return model;
}

struct Reading {
  SampleImport import;
  LeftOut left_out;

  Status add(std::string_view table, std::string_view key, JsonView speeds);
};

Status Reading::add(std::string_view table, std::string_view key, JsonView speeds) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument,
                format("{}: {}: {}", printable(table, 64), printable(key, 128), what));
  };
  const auto job = read_job(key);
  if (!job) return wrong("is not a job like \"('ResNet-50 (batch size 64)', 2)\"");
  const auto steps_per_s = speeds[kAlone].number();
  if (!steps_per_s || *steps_per_s < 0)
    return wrong("\"null\" must be the steps/s of the job alone");
  const bool spread = table.ends_with(kSpread);
  if (spread && job->workers == 1) return {};  // the measurement of the table without the suffix
  if (!job->batch) {
    left_out.add(format("of {}, whose batch is not told", printable(job->name, 64)));
    return {};
  }
  if (*steps_per_s == 0) {
    left_out.add("0 steps/s, so it did not run");
    return {};
  }
  ThroughputSample sample;
  sample.model = model_of(job->name);
  sample.gpu_type =
      GpuType(to_upper(spread ? table.substr(0, table.size() - kSpread.size()) : table));
  sample.batch = *job->batch * job->workers;
  sample.layout = Layout(spread ? Placement{job->workers, 1} : Placement{1, job->workers});
  sample.throughput_samples_per_s = *steps_per_s * *job->batch;
  sample.source = kGavelSource;
  import.samples.push_back(std::move(sample));
  return {};
}

}  // namespace

std::optional<GavelName> read_gavel_name(std::string_view name) {
  constexpr std::string_view kBatchPart = " (batch size ";
  const std::size_t open = name.find(kBatchPart);
  if (open == std::string_view::npos) return GavelName{name, std::nullopt};
  const std::size_t digits = open + kBatchPart.size();
  const auto batch = parse_int(name.substr(digits, name.size() - digits - 1));
  if (!batch || *batch < 1 || !name.ends_with(')')) return std::nullopt;
  return GavelName{name.substr(0, open), static_cast<double>(*batch)};
}

Result<SampleImport> import_gavel(const SampleFile& file, const SampleNames& /*names*/) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(file.text));
  if (!root.is_object())
    return fail(ErrorCode::kInvalidArgument,
                "must be an object of GPU types, each an object of jobs");
  Reading reading;
  for (const auto& [table, jobs] : root.fields()) {
    if (!jobs.is_object())
      return fail(ErrorCode::kInvalidArgument,
                  format("{}: must be an object of jobs", printable(table, 64)));
    for (const auto& [key, speeds] : jobs.fields())
      SLACKLINE_TRY(reading.add(table, key, speeds));
  }
  reading.import.left_out = reading.left_out.list();
  return std::move(reading.import);
}

}  // namespace slackline::wire
