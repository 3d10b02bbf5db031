// `slackline replay`: the last weeks of a cluster's GPU Jobs, from a Prometheus, played under other
// policies. It needs no cluster and no daemon, and writes nothing there.
#include "sim/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/numbers.h"
#include "cli/simulate/progress_line.h"
#include "cli/text_files.h"
#include "sim/backtest.h"
#include "sim/comparison.h"
#include "slackline/base/clock.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "telemetry/prometheus_client.h"

namespace slackline::cli {
namespace {

constexpr double kDay_s = 24 * kHour_s;
constexpr double kLongestReplay_s = 366 * kDay_s;
constexpr double kShortestReplay_s = 10;
constexpr double kLeastWindow_s = kHour_s;  // shorter ones do not help a Prometheus
constexpr std::size_t kMostDeadlines = 10;
constexpr double kMostRunTimes = 1000;  // that a deadline may be away

struct ReplayCommand {
  PrometheusSettings prometheus;
  std::string since = "30d";
  std::string step = "1m";
  std::string cluster;
  std::string deadlines = "2,4";
  std::string compare = "fifo/skip,default";
  std::string run_times = "history";
  sim::ReplayOptions options;
  std::string trace;
  std::string output = "table";
};

// Reads a cluster's past, day by day.
class HistoryReader {
 public:
  HistoryReader(telemetry::PrometheusClient& client, const ReplayCommand& command, double step_s)
      : client_(client), command_(command), step_s_(step_s), past_(default_gpu_catalog(), step_s) {}

  Result<sim::History> read(const sim::TimeSpan& asked) {
    const int days = static_cast<int>(std::ceil((asked.to_s - asked.from_s) / kDay_s));
    for (int day = 0; day < days; ++day) {
      line_.show(format("reading day {} of {}", day + 1, days));
      const double from_s = asked.from_s + day * kDay_s;
      SLACKLINE_TRY(read_window({from_s, std::min(from_s + kDay_s, asked.to_s)}));
    }
    auto history = past_.history(asked);
    if (!history)
      return fail(history.error().with_context(format("Prometheus at {}", client_.settings().url)));
    return history;
  }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Status read_window(const sim::TimeSpan& window) {
    for (std::size_t i = 0; i < sim::kHistoryFacts; ++i)
      SLACKLINE_TRY(read_fact(static_cast<sim::HistoryFact>(i), window));
    return {};
  }

  // In halves where the Prometheus cannot do it at once.
  Status read_fact(sim::HistoryFact fact, const sim::TimeSpan& window) {
    const double length_s = window.to_s - window.from_s;
    const std::string promql = sim::history_promql(
        fact, {static_cast<int>(std::ceil(length_s)), static_cast<int>(step_s_), command_.cluster});
    const auto answer = ask(fact, promql, window);
    if (answer) {
      past_.add(fact, window, answer->series);
      for (const std::string& warning : answer->warnings)
        if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
          warnings_.push_back(warning);
      return {};
    }
    const ErrorCode code = answer.error().code;
    const bool too_much = code == ErrorCode::kResourceExhausted || code == ErrorCode::kTimeout ||
                          code == ErrorCode::kUnavailable;
    if (!too_much || length_s < 2 * kLeastWindow_s)
      return fail(answer.error().code,
                  format("{} (the query was: {})", answer.error().message, promql));
    const double middle_s = window.from_s + length_s / 2;
    SLACKLINE_TRY(read_fact(fact, {window.from_s, middle_s}));
    return read_fact(fact, {middle_s, window.to_s});
  }

  Result<wire::QueryAnswer> ask(sim::HistoryFact fact, const std::string& promql,
                                const sim::TimeSpan& window) {
    if (fact != sim::HistoryFact::kNodeGpus) return client_.query(promql, window.to_s);
    const double steps = std::floor((window.to_s - window.from_s) / sim::kNodeStep_s);
    return client_.query_range(
        promql, {window.to_s - steps * sim::kNodeStep_s, window.to_s, sim::kNodeStep_s});
  }

  telemetry::PrometheusClient& client_;
  const ReplayCommand& command_;
  const double step_s_;
  sim::ClusterHistory past_;
  ProgressLine line_;
  std::vector<std::string> warnings_;
};

Result<std::vector<double>> deadlines_of(const std::string& text) {
  std::vector<double> deadlines;
  for (const std::string_view part : split(text, ',')) {
    const auto number = parse_number(part);
    if (!number || !(*number >= 1 && *number <= kMostRunTimes) ||
        deadlines.size() == kMostDeadlines)
      return fail(ErrorCode::kInvalidArgument,
                  format("--deadlines \"{}\": write up to {} multiples of the run time, from 1 to "
                         "{}, as 1.5,3",
                         printable(text, 64), kMostDeadlines, kMostRunTimes));
    deadlines.push_back(*number);
  }
  return deadlines;
}

Result<std::vector<core::Policy>> policies_of(const std::string& text) {
  std::vector<core::Policy> policies;
  for (const std::string& name : sim::split_policies(text)) {
    SLACKLINE_ASSIGN(core::Policy policy, core::parse_policy(name));
    policies.push_back(std::move(policy));
  }
  return policies;
}

Status check_cluster_label(const std::string& cluster) {
  if (cluster.find_first_of("\"\\\n") == std::string::npos) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("--cluster-label \"{}\": no quotes, backslashes or line breaks",
                     printable(cluster, 64)));
}

sim::RunTimeRule rule_of(const std::string& name) {
  std::size_t rule = 0;
  while (rule + 1 < std::size(sim::kRunTimeRules) && sim::kRunTimeRules[rule] != name)
    ++rule;
  return static_cast<sim::RunTimeRule>(rule);
}

sim::ReplayRow replay_under(const core::Policy& policy, const sim::Replay& replay,
                            const sim::ReplayOptions& options) {
  ProgressLine line;
  sim::SimulationOptions watched;
  watched.progress = [&](double now_s, std::size_t finished) {
    line.show(format("{}: hour {:.1f}, {} of {} Jobs", policy.name, now_s / kHour_s, finished,
                     replay.tasks.size()));
  };
  const sim::Outcome outcome =
      sim::simulate(replay.tasks, replay.platform, policy, replay.noise, watched);
  return sim::replayed_row(replay, options, policy.name, outcome);
}

void print_replay(const ReplayCommand& command, const std::vector<sim::ReplayRow>& rows,
                  const sim::History& history, const sim::Replay& replay) {
  const wire::TextTable table = sim::replay_table(rows);
  const bool csv = command.output == "csv";
  std::fputs((csv ? table.csv() : table.str()).c_str(), stdout);
  std::FILE* const out = csv ? stderr : stdout;  // what is assumed is a part of the answer
  std::fprintf(out, "%zu Jobs from %s to %s\n", replay.jobs.size(),
               format_rfc3339(history.time.from_s).c_str(),
               format_rfc3339(history.time.to_s).c_str());
  for (const std::string& remark : history.remarks)
    std::fprintf(out, "found: %s\n", printable(remark, 1024).c_str());
  for (const std::string& assumption : sim::replay_assumptions(replay, command.options))
    std::fprintf(out, "assumed: %s\n", printable(assumption, 1024).c_str());
}

Result<sim::History> read_history(const ReplayCommand& command, double since_s, double step_s) {
  if (command.prometheus.url.empty())
    return fail(ErrorCode::kInvalidArgument, "no Prometheus is named: give --prometheus URL");
  SLACKLINE_ASSIGN(telemetry::PrometheusClient client,
                   telemetry::PrometheusClient::make(command.prometheus));
  HistoryReader reader(client, command, step_s);
  const double now_s = std::floor(system_clock().wall_s());
  SLACKLINE_ASSIGN(sim::History history, reader.read({now_s - since_s, now_s}));
  for (const std::string& warning : reader.warnings())
    history.remarks.push_back("Prometheus warns: " + warning);
  const double found_s = history.time.to_s - history.time.from_s;
  if (found_s < 0.9 * since_s)
    history.remarks.push_back(
        format("There are data of {} of the {} asked for: the Prometheus keeps no older ones, or "
               "did not scrape then.",
               format_duration(found_s), format_duration(since_s)));
  return history;
}

Status run_replay(ReplayCommand& command) {
  SLACKLINE_ASSIGN(const double since_s,
                   duration_of("--since", command.since, kShortestReplay_s, kLongestReplay_s));
  SLACKLINE_ASSIGN(const double step_s, duration_of("--step", command.step, 1, kHour_s));
  SLACKLINE_ASSIGN(const std::vector<double> deadlines, deadlines_of(command.deadlines));
  SLACKLINE_ASSIGN(const std::vector<core::Policy> policies, policies_of(command.compare));
  SLACKLINE_TRY(check_cluster_label(command.cluster));
  command.options.rule = rule_of(command.run_times);
  SLACKLINE_ASSIGN(const sim::History history, read_history(command, since_s, step_s));
  if (!command.trace.empty())
    SLACKLINE_TRY(write_text_file(command.trace, sim::format_history_csv(history)));
  std::vector<sim::ReplayRow> rows;
  sim::Replay replay;
  for (const double deadline : deadlines) {
    command.options.deadline = deadline;
    SLACKLINE_ASSIGN(replay, sim::make_replay(history, command.options));
    rows.push_back(sim::recorded_row(replay, command.options));
    for (const core::Policy& policy : policies)
      rows.push_back(replay_under(policy, replay, command.options));
  }
  print_replay(command, rows, history, replay);
  return {};
}

void add_replay_options(CLI::App& command, ReplayCommand& options) {
  command.add_option("--since", options.since, "How far back, e.g. 30d")->capture_default_str();
  command
      .add_option("--step", options.step,
                  "How exactly the end of a deleted pod is looked for; not shorter than the scrape "
                  "interval of kube-state-metrics")
      ->capture_default_str();
  command.add_option("--cluster-label", options.cluster,
                     "Only series whose label `cluster` has this value");
  command
      .add_option("--deadlines", options.deadlines,
                  "Every Job is due at this multiple of its run time; one replay for each")
      ->capture_default_str();
  command.add_option("--compare", options.compare, "Policies: NAME,NAME,...; see simulate --help")
      ->capture_default_str();
  command
      .add_option("--run-times", options.run_times,
                  "How long Jobs are expected to take: as the history or last run of their name "
                  "says, the mean of its runs, an hour (none), as they took (stated), or as the "
                  "nearest name says, never their own (similar)")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(sim::kRunTimeRules), std::end(sim::kRunTimeRules))))
      ->capture_default_str();
  command.add_option("--restart", options.options.restart_s, "Start-up after a stop, seconds")
      ->check(in_range(0, kMostSeconds))
      ->capture_default_str();
  command
      .add_option("--checkpoint", options.options.checkpoint_s,
                  "Seconds between checkpoints: a stop loses the work since the last one")
      ->check(in_range(0, kMostSeconds))
      ->capture_default_str();
  command.add_option("--out", options.trace,
                     "Write the Jobs here (CSV that simulate --trace and backtest --trace read)");
  command.add_option("-o,--output", options.output, "table or csv")
      ->check(CLI::IsMember({"table", "csv"}))
      ->capture_default_str();
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReplayCommand>();
  CLI::App* command = app.add_subcommand(
      "replay", "Play the last weeks of a cluster's GPU Jobs, by a Prometheus, under policies");
  add_prometheus_options(*command, options->prometheus);
  add_replay_options(*command, *options);
  command->callback([&exit_code, options] {
    const Status done = run_replay(*options);
    if (!done) exit_code = report_unanswered(done.error());
  });
}

}  // namespace slackline::cli
