// `slackline fit`: throughput models from measured samples, with their error on samples they have
// not seen.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/numbers.h"
#include "cli/text_files.h"
#include "config/load.h"
#include "control/learn/fit_models.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"
#include "wire/format/scatter_svg.h"
#include "wire/samples/fit_report.h"
#include "wire/samples/profile_codec.h"
#include "wire/samples/sample_import.h"
#include "wire/samples/samples_csv.h"

namespace slackline::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kStartup_s = 30;  // v of 000 eq 4
constexpr const char* kFitExample =
    "Example:\n"
    "  slackline fit samples.csv --out profile.json --report report.json --svg fit.svg\n"
    "where samples.csv holds one measurement a row:\n"
    "  model,gpu_type,batch,placement,throughput_samples_per_s\n"
    "  resnet50,A100,256,2x4,5120.5\n"
    "  resnet50,A100,256,4+2+1,3800\n"
    "batch is the global batch, of all GPUs together. More columns: model_parallel, the GPUs that "
    "share\n"
    "one copy of the model; throughput_tokens_per_s with tokens_per_sample instead of samples.\n";

struct FitCommand {
  std::vector<std::string> files;
  std::string format = "csv";
  wire::SampleNames names;
  std::string kind{core::kAutoKind};
  std::string hold_out = "loo";
  double startup_s = kStartup_s;
  bool update = false;
  std::string out, report, svg, samples_out;
};

constexpr std::string_view kMlperf = "mlperf";
constexpr std::size_t kMostFiles = 100'000;  // below a folder

bool is_result(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("result_") && name.ends_with(".txt");
}

Result<std::vector<std::string>> results_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code wrong;
  for (auto at = fs::recursive_directory_iterator(folder, wrong);
       !wrong && at != fs::recursive_directory_iterator(); at.increment(wrong)) {
    if (!is_result(at->path()) || !at->is_regular_file(wrong)) continue;
    files.push_back(at->path().string());
    if (files.size() > kMostFiles)
      return fail(ErrorCode::kResourceExhausted,
                  format("{}: more than {} results; name folders below it", folder, kMostFiles));
  }
  if (wrong) return fail(ErrorCode::kInvalidArgument, format("{}: {}", folder, wrong.message()));
  if (files.empty())
    return fail(ErrorCode::kNotFound, format("{}: no result_*.txt is below it", folder));
  std::sort(files.begin(), files.end());
  return files;
}

// SUBMITTER/results/SYSTEM/BENCHMARK/result_0.txt -> SUBMITTER/systems/SYSTEM.json; empty: not
// there.
std::string system_of(const std::string& result) {
  const fs::path system = fs::path(result).parent_path().parent_path();
  const fs::path description =
      system.parent_path().parent_path() / "systems" / (system.filename().string() + ".json");
  const auto text = config::read_text_file(description.string());
  return text ? *text : std::string();
}

Result<wire::SampleImport> read_one(const std::string& path, const std::string& format,
                                    const wire::SampleNames& names) {
  SLACKLINE_ASSIGN(const std::string text, config::read_text_file(path));
  const std::string beside = format == kMlperf ? system_of(path) : std::string();
  return wire::import_samples(format, {path, text, beside}, names);
}

Status read_into(const std::string& path, const std::string& format, const wire::SampleNames& names,
                 std::vector<ThroughputSample>& samples) {
  SLACKLINE_ASSIGN(const auto import, read_one(path, format, names));
  for (const std::string& left_out : import.left_out)
    std::fprintf(stderr, "%s: left out %s\n", path.c_str(), left_out.c_str());
  samples.insert(samples.end(), import.samples.begin(), import.samples.end());
  return {};
}

// Of all files, in their order. A folder stands for the result_*.txt below it, by name; one of them
// that holds no sample is told of and skipped. What is left out goes to stderr.
Result<std::vector<ThroughputSample>> read_sample_files(const std::vector<std::string>& paths,
                                                        const std::string& format,
                                                        const wire::SampleNames& names) {
  std::vector<ThroughputSample> samples;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      SLACKLINE_TRY(read_into(path, format, names, samples));
      continue;
    }
    if (format != kMlperf)
      return fail(ErrorCode::kInvalidArgument,
                  slackline::format("{} is a folder; only --from mlperf reads folders", path));
    SLACKLINE_ASSIGN(const auto files, results_below(path));
    for (const std::string& file : files)
      if (const Status done = read_into(file, format, names, samples); !done)
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
  }
  if (samples.empty()) return fail(ErrorCode::kNotFound, "no file holds a sample");
  return samples;
}

// A progress line for a person at a terminal; fits of hundreds of samples take seconds.
void show_progress(const control::FittedModel& model, std::size_t number, std::size_t count) {
  std::fprintf(stderr, "\r\033[Kfitting %zu of %zu: %s on %s, %zu samples", number + 1, count,
               printable(model.model, 64).c_str(), printable(model.gpu_type.str(), 64).c_str(),
               model.samples.size());
}

wire::FitReportRow report_row(const control::FittedModel& model, bool by_placement) {
  wire::FitReportRow row;
  row.model = model.model;
  row.gpu_type = model.gpu_type.str();
  row.points = static_cast<int>(model.samples.size());
  if (model.fit) {
    row.kind = model.fit->coefficients.kind;
    row.in_sample_mape = model.fit->in_sample_mape;
  }
  row.model_parallel = model.fit ? model.fit->model_parallel : 1;
  row.model_parallel_derived = model.fit && model.fit->model_parallel_derived;
  if (!model.held_out) return row;
  if (by_placement) row.held_out_by = model.held_out->by_measurement ? "measurement" : "placement";
  row.held_out_mape = model.held_out->error.mean;
  row.held_out_median_ape = model.held_out->error.median;
  row.held_out_p90_ape = model.held_out->error.p90;
  row.noise_floor = model.held_out->noise_floor;
  if (model.held_out->choices > 0)
    row.chosen_within_5pct =
        100.0 * model.held_out->choices_within_5_percent / model.held_out->choices;
  return row;
}

// Rows that are further off than a quarter, and three times as far as the middle one of their
// model.
std::vector<wire::FitOutlier> outliers_of(const std::vector<control::FittedModel>& models) {
  constexpr double kLeast = 25;  // percent
  constexpr double kTimesMedian = 3;
  std::vector<wire::FitOutlier> outliers;
  for (const control::FittedModel& model : models) {
    if (!model.held_out) continue;
    const double most = std::max(kLeast, kTimesMedian * model.held_out->error.median);
    for (const core::HeldOutPrediction& row : model.held_out->predictions) {
      const ThroughputSample& sample = model.samples[row.sample];
      if (row.ape > most)
        outliers.push_back({model.model, model.gpu_type.str(), sample.batch, sample.layout.str(),
                            sample.throughput_samples_per_s, row.throughput_samples_per_s,
                            sample.source});
    }
  }
  return outliers;
}

wire::ScatterPlot scatter_of(const std::vector<control::FittedModel>& models,
                             const FitCommand& command) {
  wire::ScatterPlot plot;
  plot.title = command.hold_out == "none" ? "Fitted, in sample"
                                          : "Predicted, held out (" + command.hold_out + ")";
  plot.unit = "samples/s";
  for (const control::FittedModel& model : models) {
    wire::ScatterSeries series{model.model + " " + model.gpu_type.str(), {}};
    for (const auto& [measured, predicted] : control::compare(model))
      series.points.push_back({measured, predicted});
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// The entries of the file and the fitted ones; a model fitted again is replaced in place.
Result<std::string> profile_of(const std::vector<control::FittedModel>& models,
                               const FitCommand& command) {
  std::vector<ProfileEntry> entries;
  if (command.update) {
    SLACKLINE_ASSIGN(const std::string text, config::read_text_file(command.out));
    SLACKLINE_ASSIGN(entries, wire::read_profile(text, command.out));
  }
  for (const control::FittedModel& model : models) {
    if (!model.fit) continue;
    ProfileEntry fitted = control::profile_entry_of(model, command.startup_s);
    const auto same = [&fitted](const ProfileEntry& entry) {
      return entry.model == fitted.model && entry.gpu_type == fitted.gpu_type;
    };
    if (const auto old = std::find_if(entries.begin(), entries.end(), same); old != entries.end())
      *old = std::move(fitted);
    else
      entries.push_back(std::move(fitted));
  }
  return wire::write_profile(entries);
}

Status write_outputs(const std::vector<control::FittedModel>& models,
                     const std::vector<wire::FitReportRow>& rows, const FitCommand& command) {
  if (!command.out.empty()) {
    SLACKLINE_ASSIGN(const std::string profile, profile_of(models, command));
    SLACKLINE_TRY(write_text_file(command.out, profile));
  }
  if (!command.report.empty())
    SLACKLINE_TRY(
        write_text_file(command.report, wire::fit_report_json(rows, outliers_of(models))));
  if (!command.svg.empty())
    SLACKLINE_TRY(write_text_file(command.svg, wire::scatter_svg(scatter_of(models, command))));
  return {};
}

Status fit(const FitCommand& command) {
  SLACKLINE_ASSIGN(const auto samples,
                   read_sample_files(command.files, command.format, command.names));
  if (!command.samples_out.empty())
    SLACKLINE_TRY(write_text_file(command.samples_out, wire::write_samples_csv(samples)));
  control::FitModelsOptions options;
  options.fit.kind = command.kind;
  options.hold_out.reset();
  if (command.hold_out != "none") {
    SLACKLINE_ASSIGN(options.hold_out, core::parse_hold_out(command.hold_out));
  }
  const bool watched = ::isatty(STDERR_FILENO) != 0;
  const auto models =
      control::fit_models(samples, options, watched ? show_progress : control::FitProgress{});
  if (watched) std::fputs("\r\033[K", stderr);
  std::vector<wire::FitReportRow> rows;
  bool any = false;
  for (const control::FittedModel& model : models) {
    rows.push_back(report_row(model, command.hold_out == "loo"));
    any = any || model.fit;
    if (!model.problem.empty())
      std::fprintf(stderr, "%s on %s: %s: %s\n", model.model.c_str(), model.gpu_type.str().c_str(),
                   model.fit ? "fitted, but nothing could be held out" : "not fitted",
                   model.problem.c_str());
  }
  std::fputs(wire::fit_report_table(rows).c_str(), stdout);
  for (const wire::FitOutlier& odd : outliers_of(models))
    std::fprintf(stderr, "outlier: %s on %s, batch %g on %s: measured %g, predicted %g (%s)\n",
                 printable(odd.model, 64).c_str(), printable(odd.gpu_type, 64).c_str(), odd.batch,
                 odd.placement.c_str(), odd.measured, odd.predicted,
                 printable(odd.source, 96).c_str());
  if (!any) return fail(ErrorCode::kNotFound, "no model could be fitted, so nothing was written");
  return write_outputs(models, rows, command);
}

std::string check_kind(const std::string& kind) {
  const auto kinds = core::fittable_kinds();
  if (kind == core::kAutoKind || std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
    return {};
  return format("{} is not a kind of model; allowed: {}, {}", kind, core::kAutoKind,
                fmt::join(kinds, ", "));
}

std::string check_hold_out(const std::string& text) {
  if (text == "none") return {};
  const auto hold_out = core::parse_hold_out(text);
  return hold_out ? "" : hold_out.error().message;
}

std::string formats_help() {
  std::string help = "What the files are:";
  for (const wire::SampleFormat& format : wire::sample_formats())
    help += slackline::format("\n{}: {}", format.name, format.about);
  return help;
}

CLI::Validator one_of_the_formats() {
  std::vector<std::string> names;
  for (const wire::SampleFormat& format : wire::sample_formats())
    names.emplace_back(format.name);
  return CLI::IsMember(names);
}

}  // namespace

void add_fit(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<FitCommand>();
  CLI::App* command = app.add_subcommand(
      "fit", "Fit throughput models to measured samples, and measure their error on unseen ones");
  command->footer(kFitExample);
  command->add_option("samples", options->files, "Files with samples; a folder of MLPerf results")
      ->required()
      ->check(CLI::ExistingPath);
  command->add_option("--from", options->format, formats_help())
      ->check(one_of_the_formats())
      ->capture_default_str();
  command->add_option(
      "--model", options->names.model,
      "Name of the model if the files do not give it; otherwise fit only this model");
  command->add_option(
      "--gpu-type", options->names.gpu_type,
      "Name of the GPU type if the files do not give it; otherwise fit only this type");
  command->add_option("--kind", options->kind, "Kind of model, or auto: the one that predicts best")
      ->check(check_kind)
      ->capture_default_str();
  command
      ->add_option("--holdout", options->hold_out,
                   "Samples to hold out and predict: loo (each placement from all others), "
                   "kfold:N, few (all from few: few:3+4x2, 3 single-GPU batches and 4 placements "
                   "at 2 batches), batches (single-GPU ones in between) or none")
      ->check(check_hold_out)
      ->capture_default_str();
  command->add_option("--startup", options->startup_s, "Seconds a run takes to start")
      ->check(in_range(0, kMostSeconds))
      ->capture_default_str();
  CLI::Option* out = command->add_option("--out", options->out, "Write the fits as a profile");
  command->add_flag("--update", options->update, "Keep what --out has of other models")->needs(out);
  command->add_option("--report", options->report, "Write the errors as JSON");
  command->add_option("--svg", options->svg, "Draw predicted against measured");
  command->add_option("--samples-out", options->samples_out, "Write the samples read as CSV");
  command->callback([&exit_code, options] {
    const Status done = fit(*options);
    exit_code = done ? 0 : report_unanswered(done.error());
  });
}

}  // namespace slackline::cli
