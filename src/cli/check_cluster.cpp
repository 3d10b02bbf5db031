#include "cli/check_cluster.h"

#include <cstdio>
#include <string>

#include "cli/cluster_once.h"
#include "cli/object_name.h"
#include "cluster/api/api_client.h"
#include "cluster/lease/lease_watch.h"
#include "control/plan/unled.h"
#include "slackline/core/handover/return_to_scheduler.h"

namespace slackline::cli {
namespace {

Result<std::string> find_unled(const config::Configuration& configuration) {
  SLACKLINE_ASSIGN(const auto api,
                   cluster::connect({.kubeconfig = configuration.cluster.kubeconfig}));
  SLACKLINE_ASSIGN(const SnapshotPtr snapshot, list_once(*api, configuration.gpus));
  const core::HeldBack held = core::held_back(*snapshot);
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
