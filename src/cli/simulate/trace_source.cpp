#include "cli/simulate/trace_source.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include "cli/numbers.h"
#include "cli/text_files.h"
#include "config/load.h"
#include "control/learn/profiles.h"
#include "sim/backtest.h"
#include "sim/scaling_table.h"
#include "sim/trace_csv.h"
#include "sim/trace_format.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/samples/profile_codec.h"

namespace slackline::cli {
namespace {

struct Profiles {
  std::vector<ProfileEntry> entries;
  std::vector<sim::DrawRange> stated;  // by the files
};

Status read_profiles(const std::vector<std::string>& files, Profiles& profiles) {
  for (const std::string& file : files) {
    SLACKLINE_ASSIGN(const std::string text, config::read_text_file(file));
    SLACKLINE_ASSIGN(const auto entries, wire::read_profile(text, file));
    SLACKLINE_TRY(control::check_entries(entries, file));
    profiles.entries.insert(profiles.entries.end(), entries.begin(), entries.end());
    if (!sim::states_draw_ranges(text)) continue;
    SLACKLINE_ASSIGN(const auto ranges, sim::read_draw_ranges(text, file));
    profiles.stated.insert(profiles.stated.end(), ranges.begin(), ranges.end());
  }
  return {};
}

// "tables/bert.csv" is the table of bert, on the GPU type of the first pool.
Status read_tables(const std::vector<std::string>& files, const GpuType& gpu_type,
                   Profiles& profiles) {
  if (!files.empty() && gpu_type.empty())
    return fail(ErrorCode::kInvalidArgument,
                "--scaling-table needs the GPU type: write --platform 16x8:A100");
  for (const std::string& file : files) {
    SLACKLINE_ASSIGN(const std::string text, config::read_text_file(file));
    auto entry =
        sim::read_scaling_table(text, std::filesystem::path(file).stem().string(), gpu_type);
    if (!entry) return fail(entry.error().with_context(file));
    profiles.entries.push_back(std::move(*entry));
  }
  return {};
}

// The ranges of the files, and defaults for types of the first pool that the files lack.
std::vector<sim::DrawRange> draw_ranges(const Profiles& profiles, const GpuType& gpu_type) {
  std::vector<sim::DrawRange> ranges;
  const auto add = [&](const std::vector<sim::DrawRange>& more) {
    for (const sim::DrawRange& range : more)
      if (std::none_of(ranges.begin(), ranges.end(),
                       [&](const sim::DrawRange& known) { return known.type == range.type; }))
        ranges.push_back(range);
  };
  add(profiles.stated);
  add(sim::default_draw_ranges(WorkloadProfiles(profiles.entries), gpu_type));
  return ranges;
}

Result<sim::Trace> make_trace(const TraceSource& source, const core::Pool& first_pool,
                              const std::vector<sim::DrawRange>& ranges,
                              const WorkloadProfiles& profiles) {
  SLACKLINE_ASSIGN(const sim::ClassMix mix, sim::parse_class_mix(source.mix));
  if (!source.generator.empty()) {
    sim::GenerateOptions options = source.generate;
    options.mix = mix;
    options.gpu_type = first_pool.type;
    SLACKLINE_ASSIGN(options.gpu_types, sim::parse_gpu_types(source.gpu_types));
    return sim::generate_paper000(options, ranges, profiles);
  }
  sim::RecordedOptions options = source.recorded;
  options.profiles = &profiles;
  options.gpu_type = first_pool.type;
  options.gpus_per_node = first_pool.gpus_per_node;
  options.ranges = ranges;
  options.mix = mix;
  options.seed = source.generate.seed;
  options.from_s = source.from_h * kHour_s;
  if (source.for_h > 0) options.for_s = source.for_h * kHour_s;
  options.least_duration_s = source.least_duration_s;
  if (source.most_duration_h > 0) options.most_duration_s = source.most_duration_h * kHour_s;
  for (std::size_t rule = 0; rule < std::size(sim::kRunTimeRules); ++rule)
    if (sim::kRunTimeRules[rule] == source.run_times)
      options.rule = static_cast<sim::RunTimeRule>(rule);
  options.family = source.family == "model" ? sim::FamilyRule::kModel : sim::FamilyRule::kCluster;
  SLACKLINE_ASSIGN(const std::string text, config::read_text_file(source.file));
  return sim::load_trace(text, source.file, source.format, options);
}

void add_recording_options(CLI::App& command, TraceSource& source) {
  const char* const kGroup = "Recorded traces";
  command
      .add_option("--format", source.format, "Format of --trace; auto recognizes it by the header")
      ->check(CLI::IsMember(sim::trace_format_names()))
      ->group(kGroup)
      ->capture_default_str();
  command.add_option("--cluster", source.recorded.cluster, "Only jobs of this cluster, by suffix")
      ->group(kGroup);
  command
      .add_option("--from-hours", source.from_h,
                  "Only jobs submitted at least this many hours after the first one")
      ->check(in_range(0, kMostHours))
      ->group(kGroup);
  command.add_option("--for-hours", source.for_h, "Only jobs submitted within this many hours")
      ->check(in_range(1e-6, kMostHours))
      ->group(kGroup);
  command.add_option("--every", source.recorded.every, "Only every n-th of those")
      ->check(in_range(1, 1e9))
      ->group(kGroup);
  command
      .add_option("--least-duration", source.least_duration_s,
                  "Only jobs that ran for at least this many seconds")
      ->check(in_range(0, kMostSeconds))
      ->group(kGroup);
  CLI::Option* unannotated =
      command
          .add_option("--unannotated", source.recorded.unannotated,
                      "This share of the tasks, drawn, says nothing of its length: 0.5")
          ->check(in_range(0, 1))
          ->group(kGroup);
  command
      .add_option(
          "--run-times", source.run_times,
          "How long those are expected to take: as the family's history or last run says, "
          "the mean of its runs, an hour (none), as recorded (stated), or as the nearest family "
          "says, never its own (similar)")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(sim::kRunTimeRules), std::end(sim::kRunTimeRules))))
      ->needs(unannotated)
      ->group(kGroup)
      ->capture_default_str();
  command
      .add_option(
          "--family", source.family,
          "Which jobs are one family: all of a cluster or user, or those of one model in it")
      ->check(CLI::IsMember({"cluster", "model"}))
      ->needs(unannotated)
      ->group(kGroup)
      ->capture_default_str();
  command.add_option("--most-duration-hours", source.most_duration_h, "Cuts longer jobs")
      ->check(in_range(1e-6, kMostHours))
      ->group(kGroup);
}

}  // namespace

void add_trace_options(CLI::App& command, TraceSource& source) {
  CLI::Option* file =
      command.add_option("--trace", source.file, "Tasks: CSV, Slackline's own or a public trace")
          ->check(CLI::ExistingFile);
  command
      .add_option("--profile", source.profiles,
                  "Throughput profile, one or several (a WorkloadProfile or its import form)")
      ->check(CLI::ExistingFile);
  command
      .add_option("--scaling-table", source.scaling_tables,
                  "Measured iterations/s by batch and GPUs, one CSV per model, named after it")
      ->check(CLI::ExistingFile);
  const char* const kGroup = "Generated traces";
  command.add_option("--generate", source.generator, "Draws the tasks: paper000, Poisson arrivals")
      ->check(CLI::IsMember({"paper000"}))
      ->excludes(file)
      ->group(kGroup);
  command.add_option("--rate", source.generate.rate_per_h, "Tasks per hour")
      ->check(in_range(1e-6, 1e6))
      ->group(kGroup)
      ->capture_default_str();
  command.add_option("--hours", source.generate.hours, "Hours during which tasks arrive")
      ->check(in_range(1e-6, kMostHours))
      ->group(kGroup)
      ->capture_default_str();
  command.add_option("--requests", source.generate.requests, "GPU counts that users ask for")
      ->delimiter(',')
      ->check(CLI::Range(1, 65536))
      ->group(kGroup)
      ->capture_default_str();
  command
      .add_option("--gpu-types", source.gpu_types,
                  "What every task accepts, in order of preference, as P100,K80; or any")
      ->group(kGroup)
      ->capture_default_str();
  command.add_option("--seed", source.generate.seed, "Seed of everything that is drawn")
      ->capture_default_str();
  command.add_option("--mix", source.mix, "Urgent:Prior:Normal, where classes are drawn")
      ->capture_default_str();
  command.add_option("--write-trace", source.write_to,
                     "Write the tasks here (Slackline's own CSV)");
  add_recording_options(command, source);
}

Result<Workload> load_workload(const TraceSource& source, std::vector<core::Pool>& pools) {
  if (source.file.empty() && source.generator.empty())
    return fail(ErrorCode::kInvalidArgument, "give tasks: --trace FILE or --generate paper000");
  if (source.profiles.empty() && source.scaling_tables.empty())
    return fail(ErrorCode::kInvalidArgument,
                "give throughputs: --profile FILE or --scaling-table FILE");
  Profiles profiles;
  SLACKLINE_TRY(read_profiles(source.profiles, profiles));
  SLACKLINE_TRY(read_tables(source.scaling_tables, pools.front().type, profiles));
  SLACKLINE_TRY(sim::match_types(pools, profiles.entries));
  Workload workload;
  workload.profiles = WorkloadProfiles(profiles.entries);
  SLACKLINE_ASSIGN(workload.trace,
                   make_trace(source, pools.front(), draw_ranges(profiles, pools.front().type),
                              workload.profiles));
  if (!source.write_to.empty())
    SLACKLINE_TRY(write_text_file(source.write_to, sim::format_trace_csv(workload.trace)));
  return workload;
}

}  // namespace slackline::cli
