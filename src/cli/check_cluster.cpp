#include "cli/check_cluster.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "cli/object_name.h"
#include "cluster/api/api_client.h"
#include "cluster/lease/lease_watch.h"
#include "cluster/watch/kube_source.h"
#include "control/plan/unled.h"
#include "obs/metrics.h"
#include "slackline/core/handover/return_to_scheduler.h"

namespace slackline::cli {
namespace {

constexpr double kFirstList_s = 30;

Result<core::HeldBack> count_held(const config::Configuration& configuration,
                                  cluster::ApiClient& api) {
  obs::MetricsRegistry metrics;
  cluster::KubeOptions options;
  options.audit_every_s = 0;
  const auto source = cluster::make_kube_source(api, options, configuration.gpus, metrics, nullptr);
  SLACKLINE_TRY(source->start());
  const Clock& clock = system_clock();
  const double until_s = clock.steady_s() + kFirstList_s;
  while (!source->snapshot()->synced && clock.steady_s() < until_s)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (!source->snapshot()->synced)
    return fail(ErrorCode::kTimeout, "the first list is not in: " + source->health().detail);
  return core::held_back(*source->snapshot());
}

Result<std::string> find_unled(const config::Configuration& configuration) {
  SLACKLINE_ASSIGN(const auto api,
                   cluster::connect({.kubeconfig = configuration.cluster.kubeconfig}));
  SLACKLINE_ASSIGN(const core::HeldBack held, count_held(configuration, *api));
  if (!held.any()) return std::string();
  cluster::LeaseWatch watch(*api, key_of(configuration.planner.lease));
  SLACKLINE_ASSIGN(const bool unled, control::wait_until_unled([&] { return watch.look(); }, {}));
  return unled ? control::unled_text(held) : std::string();
}

}  // namespace

bool check_cluster(const config::Configuration& configuration) {
  const auto unled = find_unled(configuration);
  if (!unled || !unled->empty()) {
    std::printf("cluster: error: %s\n", unled ? unled->c_str() : unled.error().message.c_str());
    return false;
  }
  std::printf("cluster: no findings\n");
  return true;
}

}  // namespace slackline::cli
