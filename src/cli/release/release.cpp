// `slackline release`: returns everything that Slackline holds back to the scheduler.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/numbers.h"
#include "cli/object_name.h"
#include "cli/release/final.h"
#include "cluster/api/api_client.h"
#include "cluster/api/kube_writer.h"
#include "cluster/lease/lease_watch.h"
#include "cluster/watch/kube_source.h"
#include "config/load.h"
#include "control/plan/return_all.h"
#include "control/plan/unled.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

struct ReleaseOptions {
  std::string config;
  std::string kubeconfig;
  std::string lease;
  std::optional<std::string> older_than;
  double timeout_s = 120;
  bool dry_run = false;
  bool final = false;
  bool force = false;
  std::string scheduler;
};

constexpr double kLongestVigil_s = 24 * 3600;

// What the daemon itself goes by. Flags win.
Result<config::Configuration> configure_release(const ReleaseOptions& options) {
  config::Configuration configuration;
  if (!options.config.empty()) {
    SLACKLINE_ASSIGN(configuration, config::load_configuration(options.config));
  }
  if (!options.kubeconfig.empty())
    configuration.cluster.kubeconfig = options.kubeconfig;
  else if (!configuration.cluster.dump_file.empty())
    return fail(ErrorCode::kInvalidArgument,
                format("{}: cluster.source is a dump, which holds nothing back; name an API "
                       "server with --kubeconfig",
                       printable(options.config)));
  if (!options.lease.empty()) {
    if (split(options.lease, '/').size() != 2)
      return fail(ErrorCode::kInvalidArgument,
                  format("--lease {}: write NAMESPACE/NAME", printable(options.lease)));
    configuration.planner.lease = options.lease;
  }
  return configuration;
}

// How long the Lease is watched; nullopt: not at all.
Result<std::optional<double>> vigil_s(const ReleaseOptions& options) {
  if (!options.older_than) return std::nullopt;
  const auto limit_s = parse_duration_s(*options.older_than);
  if (!limit_s || *limit_s > kLongestVigil_s)
    return fail(ErrorCode::kInvalidArgument,
                format("--if-lease-older-than \"{}\": write a duration of at most 24h, e.g. 5m",
                       printable(*options.older_than, 64)));
  return *limit_s;
}

// Whether another replica leads: then there is nothing to do. Watches the Lease for this long.
Result<bool> planner_lives(const std::string& lease, double limit_s, cluster::ApiClient& api) {
  cluster::LeaseWatch watch(api, key_of(lease));
  SLACKLINE_ASSIGN(const bool unled,
                   control::wait_until_unled([&] { return watch.look(); }, {.limit_s = limit_s}));
  if (!unled)
    std::printf("the Lease %s was just renewed: a planner is running, nothing to do\n",
                lease.c_str());
  return !unled;
}

Status show_held_back(const cluster::ClusterSource& source, double timeout_s) {
  SLACKLINE_ASSIGN(const std::vector<OwnWrite> writes,
                   control::find_held_back(source, system_clock(), timeout_s));
  for (const OwnWrite& write : writes)
    std::printf("would release %s %s\n", write.of_job() ? "Job" : "pod",
                printable(write.target.key.str()).c_str());
  std::printf("%zu objects wait for Slackline; pods that their Jobs create later are not counted\n",
              writes.size());
  return {};
}

// The exit code.
Result<int> release(const ReleaseOptions& options) {
  SLACKLINE_ASSIGN(const config::Configuration configuration, configure_release(options));
  SLACKLINE_ASSIGN(const std::optional<double> limit_s, vigil_s(options));
  SLACKLINE_ASSIGN(const auto api,
                   cluster::connect({.kubeconfig = configuration.cluster.kubeconfig}));
  SLACKLINE_TRY(api->await_credential());
  if (limit_s) {
    SLACKLINE_ASSIGN(const bool lives, planner_lives(configuration.planner.lease, *limit_s, *api));
    if (lives) return 0;
  }
  obs::MetricsRegistry metrics;
  cluster::KubeOptions kube;
  kube.audit_every_s = 0;
  kube.reads_gangs = false;
  const auto writer = cluster::make_kube_writer(*api, configuration.gpus);
  const auto source = cluster::make_kube_source(*api, kube, configuration.gpus, metrics, nullptr);
  SLACKLINE_TRY(source->start());
  if (options.final)
    return release_for_good({options.scheduler, options.force, options.dry_run, options.timeout_s},
                            configuration, {*api, *source, *writer, metrics});
  if (options.dry_run) {
    SLACKLINE_TRY(show_held_back(*source, options.timeout_s));
    return 0;
  }
  SLACKLINE_ASSIGN(
      const control::Released done,
      control::return_all(*source, *writer, metrics, system_clock(), options.timeout_s));
  std::printf("released %zu Jobs and %zu pods\n", done.jobs, done.pods);
  return 0;
}

}  // namespace

void add_release(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReleaseOptions>();
  CLI::App* command = app.add_subcommand(
      "release",
      "Release every waiting task to kube-scheduler: unsuspend it, lift gates, remove plans");
  command
      ->add_option("--config", options->config,
                   "SlacklineConfiguration (YAML) of the daemon: its Lease, kubeconfig and GPUs")
      ->check(CLI::ExistingFile);
  CLI::Option* final = command->add_flag(
      "--final", options->final,
      "Take Slackline away: delete its webhook configurations, keep every replica from planning, "
      "end the replicas, release all tasks, and delete what Slackline has made");
  command
      ->add_option("--with-scheduler", options->scheduler,
                   "The kube-scheduler that goes, too: unbound pods that name it are made anew")
      ->needs(final);
  command
      ->add_flag("--force", options->force,
                 "Also if unfinished Jobs name that scheduler in their template, for good")
      ->needs(final);
  command->add_option(
      "--kubeconfig", options->kubeconfig,
      "Kubeconfig; without one the pod's ServiceAccount, $KUBECONFIG or ~/.kube/config");
  command
      ->add_option("--if-lease-older-than", options->older_than,
                   "Watch the planner's Lease for this long, e.g. 5m, at least for its own "
                   "duration (15 s); end without a write as soon as a planner renews it")
      ->excludes(final);
  command->add_option("--lease", options->lease,
                      "NAMESPACE/NAME of that Lease; without it planner.lease of the "
                      "configuration, by default " +
                          config::PlannerSettings().lease);
  command->add_flag("--dry-run", options->dry_run,
                    "Show what would be released, and write nothing");
  command->add_option("--timeout", options->timeout_s, "Seconds")
      ->check(in_range(1, 3600))
      ->capture_default_str();
  command->callback([&exit_code, options] {
    const Result<int> done = release(*options);
    exit_code = done ? *done : kFailure;
    if (!done) std::fprintf(stderr, "slackline: %s\n", done.error().message.c_str());
  });
}

}  // namespace slackline::cli
