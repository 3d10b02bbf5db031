// `slackline simulate`: a trace played against policies, with the planner that the daemon runs.
// `slackline backtest` and `slackline rightsize`: what its portraits would say of a recording, and
// of a table of tasks. None of them needs a cluster.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/numbers.h"
#include "cli/simulate/progress_line.h"
#include "cli/simulate/trace_source.h"
#include "cli/text_files.h"
#include "config/load.h"
#include "sim/backtest.h"
#include "sim/comparison.h"
#include "sim/completion_svg.h"
#include "sim/engine.h"
#include "sim/forecast_log.h"
#include "sim/right_size.h"
#include "sim/timeline_svg.h"
#include "sim/trace_format.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

struct SimulateOptions {
  TraceSource source;
  std::string platform_text = "4x4";
  sim::Platform platform;
  std::string policies = "default";
  std::string compare;
  std::string noise;
  double sigma = 0;
  std::uint64_t noise_seed = 0;
  std::string report;
  std::string table;
  std::string events;
  std::string timeline;
  std::string completions;
  std::string forecasts;
  std::vector<double> forecast_hours;  // from, until
  std::string preset;                  // never set: preset.cpp serves these

  bool keep_events() const { return !events.empty() || !timeline.empty() || !forecasts.empty(); }
};

// The simulation, once per policy.
struct Experiment {
  core::TaskTable tasks;
  sim::Platform platform;
  sim::Noise noise;
};

Result<Experiment> load(const SimulateOptions& options) {
  Experiment experiment;
  experiment.platform = options.platform;
  SLACKLINE_ASSIGN(experiment.platform.pools, sim::parse_platform(options.platform_text));
  SLACKLINE_ASSIGN(const Workload workload,
                   load_workload(options.source, experiment.platform.pools));
  auto tasks = sim::prepare(workload.trace, workload.profiles, experiment.platform);
  if (!tasks && !options.source.file.empty())
    return fail(tasks.error().with_context(options.source.file));
  SLACKLINE_ASSIGN(experiment.tasks, std::move(tasks));
  for (const std::string& assumption : workload.trace.assumptions)
    std::fprintf(stderr, "assumed: %s\n", assumption.c_str());
  if (const std::string one = sim::on_one_gpu(experiment.tasks);
      experiment.platform.fixed && !one.empty())
    std::fprintf(stderr, "assumed: %s\n", one.c_str());
  if (!options.noise.empty()) {
    SLACKLINE_ASSIGN(const std::string text, config::read_text_file(options.noise));
    auto noise = sim::parse_noise_csv(text);
    if (!noise) return fail(noise.error().with_context(options.noise));
    experiment.noise = std::move(*noise);
    const Status known =
        experiment.noise.check(experiment.platform.pools, experiment.tasks, workload.profiles);
    if (!known) return fail(known.error().with_context(options.noise));
  } else if (options.sigma > 0) {
    experiment.noise = sim::draw_noise(experiment.tasks, experiment.platform.pools, options.sigma,
                                       options.noise_seed);
  }
  sim::add_unexpected(experiment.noise, workload.trace);
  return experiment;
}

struct Played {
  sim::Outcome outcome;
  sim::Report report;
  std::vector<sim::ForecastRow> forecasts;
};

Played play(const Experiment& experiment, const core::Policy& policy,
            const SimulateOptions& options) {
  ProgressLine line;
  Played played;
  sim::ForecastTimes times;
  if (!options.forecast_hours.empty()) {
    times.from_s = options.forecast_hours.front() * 3600;
    times.until_s = options.forecast_hours.back() * 3600;
  }
  sim::ForecastLog forecasts(experiment.tasks, policy, times);
  played.outcome =
      sim::simulate(experiment.tasks, experiment.platform, policy, experiment.noise,
                    {options.keep_events(),
                     [&](double now_s, std::size_t finished) {
                       line.show(format("{}: hour {:.1f}, {} of {} tasks", policy.name,
                                        now_s / 3600, finished, experiment.tasks.size()));
                     },
                     [&](const core::PlanState& state, double now_s) {
                       if (!options.forecasts.empty()) forecasts.watch(state, now_s);
                       return true;
                     }});
  played.forecasts = forecasts.rows();
  played.report = sim::make_report(experiment.tasks, experiment.platform, policy, played.outcome);
  return played;
}

// The files about one run.
Status write_run(const SimulateOptions& options, const Experiment& experiment,
                 const core::Policy& policy, const Played& played) {
  if (!options.events.empty())
    SLACKLINE_TRY(write_text_file(
        options.events,
        sim::format_events_csv(experiment.tasks, experiment.platform, played.outcome)));
  if (!options.report.empty())
    SLACKLINE_TRY(write_text_file(options.report, sim::format_report_json(played.report)));
  if (!options.forecasts.empty())
    SLACKLINE_TRY(write_text_file(
        options.forecasts,
        sim::format_forecasts_csv(experiment.tasks, played.outcome, played.forecasts)));
  if (!options.timeline.empty())
    SLACKLINE_TRY(write_text_file(
        options.timeline, sim::timeline_svg(experiment.tasks, experiment.platform, played.outcome,
                                            "Timeline of " + policy.name)));
  return {};
}

Status simulate(const SimulateOptions& options) {
  std::vector<core::Policy> policies;
  const bool compares = !options.compare.empty();
  for (const std::string& name :
       sim::split_policies(compares ? options.compare : options.policies)) {
    SLACKLINE_ASSIGN(core::Policy policy, core::parse_policy(name));
    policies.push_back(std::move(policy));
  }
  if (const auto& hours = options.forecast_hours; !hours.empty() && hours.front() > hours.back())
    return fail(ErrorCode::kInvalidArgument,
                format("--forecast-hours {} {}: FROM must not be after UNTIL", hours.front(),
                       hours.back()));
  if (!compares && policies.size() != 1)
    return fail(ErrorCode::kInvalidArgument, "--policy takes one policy; use --compare for more");
  SLACKLINE_ASSIGN(const Experiment experiment, load(options));
  std::vector<std::pair<std::string, sim::Report>> rows;
  std::vector<std::pair<std::string, sim::Outcome>> runs;
  for (const core::Policy& policy : policies) {
    Played played = play(experiment, policy, options);
    rows.emplace_back(policy.name, played.report);
    SLACKLINE_TRY(write_run(options, experiment, policy, played));
    if (!options.completions.empty()) runs.emplace_back(policy.name, std::move(played.outcome));
  }
  const sim::Bounds bounds = sim::bounds_of(
      sim::bound_tasks(experiment.tasks, experiment.platform.pools, experiment.noise),
      experiment.platform.gpus());
  if (!options.completions.empty())
    SLACKLINE_TRY(write_text_file(options.completions,
                                  sim::completion_svg(experiment.tasks, runs, "Completion times")));
  if (!options.table.empty())
    SLACKLINE_TRY(write_text_file(options.table, sim::format_comparison_csv(rows, bounds)));
  std::fputs(sim::format_comparison(rows, bounds).c_str(), stdout);
  return {};
}

// The names of all policies, and what those with options take, once per family.
std::string policy_help() {
  std::string help = "Policies: " + join(core::policy_names(), ", ");
  std::string_view described;
  for (const std::string& name : core::policy_names()) {
    const auto policy = core::parse_policy(name);
    if (!policy || policy->options().empty() || policy->family == described) continue;
    described = policy->family;
    help += format("\nOptions of {}, as in {},{}={}:", described, name,
                   policy->options().front().name, policy->options().front().value);
    for (const core::PolicyOption& option : policy->options())
      help += format("\n  {}={}  {}: {}", option.name, option.value, option.allowed,
                     option.description);
  }
  return help;
}

void add_platform_options(CLI::App& command, SimulateOptions& options) {
  command
      .add_option("--platform", options.platform_text,
                  "Pools: NODESxGPUS[:TYPE[*COST]], as in 2x4:k80,2x4:p100*3.2")
      ->capture_default_str();
  sim::Platform& platform = options.platform;
  command.add_flag("--fixed", platform.fixed, "Tasks get exactly the GPUs they ask for");
  command.add_flag("--divisible", platform.divisible, "Only shapes that divide the batch");
  command.add_option("--theta", platform.theta, "Weight of spread in the cost of a placement")
      ->check(in_range(0, 1e6))
      ->capture_default_str();
  command.add_option("--restart", platform.restart_s, "Start-up after a preemption, seconds")
      ->check(in_range(0, kMostSeconds))
      ->capture_default_str();
  command
      .add_option("--checkpoint", platform.checkpoint_s,
                  "Seconds between checkpoints: a preemption loses the work since the last one; 0: "
                  "it loses nothing")
      ->check(in_range(0, kMostSeconds))
      ->capture_default_str();
  command
      .add_option("--fallback-after", platform.fallback_after_s,
                  "Seconds a task waits before it takes a less preferred GPU type")
      ->check(in_range(0, kMostSeconds))
      ->capture_default_str();
  command.add_option("--max-gpus", platform.max_gpus, "Most GPUs of one task")
      ->check(in_range(1, 1e6))
      ->capture_default_str();
}

struct BacktestCommand {
  std::string file;
  std::string format = "auto";
  std::string family = "model";
  std::string output = "table";
};

Status run_backtest(const BacktestCommand& command) {
  SLACKLINE_ASSIGN(const std::string text, config::read_text_file(command.file));
  auto recording = sim::load_recording(text, command.format);
  if (!recording) return fail(recording.error().with_context(command.file));
  const auto family =
      command.family == "model" ? sim::FamilyRule::kModel : sim::FamilyRule::kCluster;
  const wire::TextTable table =
      sim::backtest_table(sim::backtest(std::move(recording->jobs), family));
  std::fputs((command.output == "csv" ? table.csv() : table.str()).c_str(), stdout);
  return {};
}

struct RightSizeCommand {
  std::string file;
  std::string output = "table";
  std::string advised;
};

Status run_right_size(const RightSizeCommand& command) {
  SLACKLINE_ASSIGN(const std::string text, config::read_text_file(command.file));
  auto tasks = sim::parse_sized_tasks(text);
  if (!tasks) return fail(tasks.error().with_context(command.file));
  sim::right_size(*tasks);
  if (!command.advised.empty())
    SLACKLINE_TRY(write_text_file(command.advised, sim::format_sized_tasks_csv(*tasks)));
  const wire::TextTable table = sim::right_size_table(*tasks);
  std::fputs((command.output == "csv" ? table.csv() : table.str()).c_str(), stdout);
  return {};
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Play a trace of tasks against scheduling policies; needs no cluster");
  add_trace_options(*command, options->source);
  add_platform_options(*command, *options);
  CLI::Option* policy = command->add_option("--policy", options->policies, "NAME[,option=value...]")
                            ->capture_default_str();
  CLI::Option* compare =
      command
          ->add_option("--compare", options->compare, "Several policies, one table: NAME,NAME,...")
          ->excludes(policy);
  CLI::Option* noise =
      command->add_option("--noise", options->noise, "Estimation error: CSV of factors")
          ->check(CLI::ExistingFile);
  command->add_option("--sigma", options->sigma, "Estimation error drawn at random, log-normal")
      ->check(in_range(0, 2))
      ->excludes(noise);
  command->add_option("--noise-seed", options->noise_seed, "Seed of --sigma")
      ->capture_default_str();
  command->add_option("--report", options->report, "Write the report here (JSON)")
      ->excludes(compare);
  command->add_option("--events", options->events, "Write starts, finishes, preemptions here (CSV)")
      ->excludes(compare);
  command->add_option("--timeline", options->timeline, "Draw the run as a Gantt chart here (SVG)")
      ->excludes(compare);
  CLI::Option* forecasts =
      command
          ->add_option("--forecasts", options->forecasts,
                       "Every two hours forecast all tasks; write deciles of their starts and "
                       "finishes, and what happened, here (CSV)")
          ->excludes(compare);
  command
      ->add_option("--forecast-hours", options->forecast_hours,
                   "FROM UNTIL: hours of the run when forecasts are made; else as long as tasks "
                   "arrive")
      ->expected(2)
      ->check(in_range(0, kMostHours))
      ->needs(forecasts);
  command->add_option("--table", options->table, "Write the table printed here (CSV, unrounded)");
  command->add_option("--cdf", options->completions, "Draw completion times here (SVG)");
  command->add_option("--preset", options->preset, "An experiment of those below");
  command->footer(policy_help() + "\n" + preset_help());
  command->callback([&exit_code, options] {
    const Status done = simulate(*options);
    if (done) return;
    std::fprintf(stderr, "slackline: %s\n", done.error().message.c_str());
    exit_code = kFailure;
  });
}

void add_backtest(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<BacktestCommand>();
  CLI::App* command = app.add_subcommand(
      "backtest", "Predict the run times of a recorded trace from its past, and say how well");
  command->add_option("--trace", options->file, "The recording: a public trace, CSV")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--format", options->format, "Of the trace; auto recognizes it by the header")
      ->check(CLI::IsMember(sim::trace_format_names()))
      ->capture_default_str();
  command
      ->add_option(
          "--family", options->family,
          "Which jobs are one family: all of a cluster or user, or those of one model in it")
      ->check(CLI::IsMember({"cluster", "model"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "table or csv")
      ->check(CLI::IsMember({"table", "csv"}))
      ->capture_default_str();
  command->footer(
      "Factors are |observed / expected|, either way: 2 is twice or half as long. Only runs that "
      "had\n"
      "ended when a job was submitted are known. Example:\n"
      "  slackline backtest --trace philly.csv --family cluster");
  command->callback([&exit_code, options] {
    const Status done = run_backtest(*options);
    if (done) return;
    std::fprintf(stderr, "slackline: %s\n", done.error().message.c_str());
    exit_code = kFailure;
  });
}

void add_rightsize(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<RightSizeCommand>();
  CLI::App* command = app.add_subcommand(
      "rightsize", "Show requested against used of a table of tasks, as asked and as advised");
  command->add_option("tasks", options->file, "CSV, one task a row")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--out", options->advised, "Write the tasks with their advice here (CSV)");
  command->add_option("-o,--output", options->output, "table or csv")
      ->check(CLI::IsMember({"table", "csv"}))
      ->capture_default_str();
  command->footer(
      "Example:\n"
      "  slackline rightsize tasks.csv\n"
      "where tasks.csv holds what a task asks for and uses in every run, one a row:\n"
      "  task,gpus,cores,hours,gpu_use,gpu_memory,cores_used,cores_max\n"
      "  nightly,4,32,6,0.3,0.4,9.5,14\n"
      "gpu_use and gpu_memory are shares, 0 to 1, of the GPUs asked for; cores those of the whole\n"
      "task. The advice assumes that a run takes as long with fewer GPUs, if its use fits.");
  command->callback([&exit_code, options] {
    const Status done = run_right_size(*options);
    if (done) return;
    std::fprintf(stderr, "slackline: %s\n", done.error().message.c_str());
    exit_code = kFailure;
  });
}

}  // namespace slackline::cli
