// `slackline usage`: what running tasks use, as a Prometheus has measured it.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/cluster_once.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/text_files.h"
#include "config/load.h"
#include "slackline/base/clock.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/object_key.h"
#include "telemetry/usage_reader.h"
#include "wire/telemetry/usage_table.h"

namespace slackline::cli {
namespace {

constexpr double kLongestUsage_s = 366 * 24 * kHour_s;
constexpr double kShortestStep_s = 1;

struct UsageOptions {
  std::string config;
  std::string cluster;
  std::string kubeconfig;
  PrometheusSettings prometheus;
  std::string since = "1m";
  std::string step;
  std::string task;
  std::string output = "table";
};

// Flags win over the configuration.
Result<TelemetrySettings> telemetry_of(const UsageOptions& options,
                                       const config::Configuration& configuration) {
  TelemetrySettings settings = configuration.telemetry;
  if (!options.prometheus.url.empty()) settings.prometheus = options.prometheus;
  if (settings.prometheus.url.empty())
    return fail(ErrorCode::kInvalidArgument,
                "no Prometheus is named: give --prometheus URL, or --config with a file that has "
                "telemetry.prometheus.url");
  if (!options.step.empty()) {
    SLACKLINE_ASSIGN(settings.step_s,
                     duration_of("--step", options.step, kShortestStep_s, 24 * kHour_s));
  }
  return settings;
}

Result<std::vector<telemetry::MeasuredTask>> find_tasks(const UsageOptions& options,
                                                        config::Configuration configuration,
                                                        double now_s) {
  SLACKLINE_TRY(apply_cluster(options.cluster, configuration.cluster));
  if (!options.kubeconfig.empty()) configuration.cluster.kubeconfig = options.kubeconfig;
  ObjectKey wanted;
  if (!options.task.empty()) {
    SLACKLINE_ASSIGN(wanted, parse_object_key(options.task));
  }
  SLACKLINE_ASSIGN(const SnapshotPtr snapshot, read_cluster_once(configuration));
  auto tasks = telemetry::running_tasks(*snapshot, configuration.gpus, now_s);
  if (options.task.empty()) return tasks;
  std::erase_if(tasks, [&](const auto& task) { return task.task != wanted; });
  if (tasks.empty())
    return fail(ErrorCode::kNotFound,
                format("no task {} with GPUs is running", printable(options.task, 128)));
  return tasks;
}

Result<telemetry::UsageReading> read_usage(const UsageOptions& options) {
  const double now_s = system_clock().wall_s();
  SLACKLINE_ASSIGN(const double since_s,
                   duration_of("--since", options.since, kShortestStep_s, kLongestUsage_s));
  config::Configuration configuration;
  if (!options.config.empty()) {
    SLACKLINE_ASSIGN(configuration, config::load_configuration(options.config));
  }
  SLACKLINE_ASSIGN(const TelemetrySettings settings, telemetry_of(options, configuration));
  SLACKLINE_ASSIGN(telemetry::PrometheusClient client,
                   telemetry::PrometheusClient::make(settings.prometheus));
  SLACKLINE_ASSIGN(const auto tasks, find_tasks(options, std::move(configuration), now_s));
  telemetry::UsageReader reader(client, telemetry::reader_settings(settings));
  return reader.read(tasks, {now_s - since_s, now_s});
}

// Tasks run, and nothing of any of them was measured.
bool knows_nothing(const std::vector<UsageSample>& samples) {
  return !samples.empty() &&
         std::all_of(samples.begin(), samples.end(), [](const UsageSample& sample) {
           return !sample.gpu_share && !sample.gpu_memory_share && !sample.cpu_cores &&
                  !sample.memory_bytes;
         });
}

int show_usage(const UsageOptions& options) {
  const auto reading = read_usage(options);
  if (!reading) return report_failure(reading.error());
  const int exit_code = knows_nothing(reading->samples) ? kTooLittleData : 0;
  if (options.output == "json") {
    std::printf("%s\n", wire::usage_json(reading->samples, reading->remarks).c_str());
    return exit_code;
  }
  const wire::TextTable table = wire::usage_table(reading->samples);
  std::fputs(options.output == "csv" ? table.csv().c_str() : table.str().c_str(), stdout);
  for (const std::string& remark : reading->remarks)
    std::fprintf(stderr, "slackline: %s\n", printable(remark, 512).c_str());
  return exit_code;
}

}  // namespace

Result<double> duration_of(const char* flag, const std::string& text, double least, double most) {
  const auto duration_s = parse_duration_s(text);
  if (!duration_s || *duration_s < least || *duration_s > most)
    return fail(ErrorCode::kInvalidArgument,
                format("{} \"{}\": write a duration between {} and {}, e.g. 1h", flag,
                       printable(text, 64), format_duration(least), format_duration(most)));
  return *duration_s;
}

void add_prometheus_options(CLI::App& command, PrometheusSettings& prometheus) {
  CLI::Option* url = command.add_option(
      "--prometheus", prometheus.url,
      "URL of a Prometheus, or of Thanos or Mimir, with its prefix path; without it "
      "that of --config");
  command
      .add_option("--prometheus-token-file", prometheus.bearer_token_file,
                  "File with a bearer token for it")
      ->check(CLI::ExistingFile)
      ->needs(url);
  command
      .add_option("--prometheus-ca-file", prometheus.ca_file,
                  "PEM of the authorities that it is trusted by; the system's without it")
      ->check(CLI::ExistingFile)
      ->needs(url);
  command.add_option("--tenant", prometheus.tenant, "Tenant, sent in a header")->needs(url);
  command.add_option("--tenant-header", prometheus.tenant_header, "That header")
      ->capture_default_str();
}

void add_usage(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<UsageOptions>();
  CLI::App* command = app.add_subcommand(
      "usage", "What running tasks use of their GPUs, CPUs and memory, by a Prometheus");
  command->add_option("task", options->task, "NAMESPACE/NAME; without it all that run");
  add_prometheus_options(*command, options->prometheus);
  command->add_option("--since", options->since, "How far back, e.g. 1h")->capture_default_str();
  command->add_option(
      "--step", options->step,
      "Shortest time that counts as measured; at least two scrape intervals; without "
      "it that of --config, or 1m");
  command
      ->add_option("--config", options->config,
                   "SlacklineConfiguration (YAML): cluster, GPUs, Prometheus")
      ->check(CLI::ExistingFile);
  command->add_option(
      "--cluster", options->cluster,
      "kube (an API server), or file:DUMP of `kubectl get nodes,pods,jobs -A -o yaml`");
  command->add_option(
      "--kubeconfig", options->kubeconfig,
      "Kubeconfig; without one the pod's ServiceAccount, $KUBECONFIG or ~/.kube/config");
  command->add_option("-o,--output", options->output, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  command->callback([&exit_code, options] { exit_code = show_usage(*options); });
}

}  // namespace slackline::cli
