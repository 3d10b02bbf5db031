// `slackline release`: nothing of ours holds anything back any more.
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/numbers.h"
#include "cluster/kube_source.h"
#include "cluster/kube_writer.h"
#include "cluster/lease.h"
#include "control/plan/release_all.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

struct ReleaseOptions {
  std::string kubeconfig;
  std::string lease = "slackline-system/slackline";
  std::string older_than;
  double timeout_s = 120;
};

// Whether somebody still plans: then there is nothing to do.
Result<bool> planner_lives(const ReleaseOptions& options, const cluster::KubeAccess& access) {
  if (options.older_than.empty()) return false;
  SLACKLINE_ASSIGN(const double limit_s, parse_duration_s(options.older_than));
  const auto names = split(options.lease, '/');
  if (names.size() != 2)
    return fail(ErrorCode::kInvalidArgument,
                format("--lease {}: write NAMESPACE/NAME", printable(options.lease)));
  SLACKLINE_ASSIGN(
      const double age_s,
      cluster::lease_age_s(access, {std::string(names[0]), std::string(names[1])}, system_clock()));
  if (age_s > limit_s) return false;
  std::printf("the Lease %s was renewed %s ago: somebody plans, nothing to do\n",
              options.lease.c_str(), format_duration(age_s).c_str());
  return true;
}

Status release(const ReleaseOptions& options) {
  const cluster::KubeAccess access{.kubeconfig = options.kubeconfig};
  SLACKLINE_ASSIGN(const bool lives, planner_lives(options, access));
  if (lives) return {};
  obs::MetricsRegistry metrics;
  cluster::KubeOptions kube;
  kube.access = access;
  kube.audit_every_s = 0;
  SLACKLINE_ASSIGN(const auto writer, cluster::make_kube_writer(access));
  SLACKLINE_ASSIGN(const auto source,
                   cluster::make_kube_source(kube, default_gpu_catalog(), metrics, nullptr));
  SLACKLINE_TRY(source->start());
  SLACKLINE_ASSIGN(
      const control::Released done,
      control::release_all(*source, *writer, metrics, system_clock(), options.timeout_s));
  std::printf("released %zu Jobs and %zu pods\n", done.jobs, done.pods);
  return {};
}

}  // namespace

void add_release(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReleaseOptions>();
  CLI::App* command = app.add_subcommand(
      "release", "Unsuspend, ungate and forget every task of ours: the stock path takes over");
  command->add_option(
      "--kubeconfig", options->kubeconfig,
      "Kubeconfig; without one the pod's ServiceAccount, $KUBECONFIG or ~/.kube/config");
  command->add_option("--if-lease-older-than", options->older_than,
                      "Do nothing while the planner's Lease was renewed within this time, e.g. 5m");
  command->add_option("--lease", options->lease, "NAMESPACE/NAME of that Lease")
      ->capture_default_str();
  command->add_option("--timeout", options->timeout_s, "Seconds")
      ->check(in_range(1, 3600))
      ->capture_default_str();
  command->callback([&exit_code, options] {
    const Status done = release(*options);
    if (done) return;
    std::fprintf(stderr, "slackline: %s\n", done.error().message.c_str());
    exit_code = kFailure;
  });
}

}  // namespace slackline::cli
