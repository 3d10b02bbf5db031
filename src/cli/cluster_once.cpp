#include "cli/cluster_once.h"

#include <chrono>
#include <string_view>
#include <thread>

#include "cluster/watch/file_source.h"
#include "cluster/watch/kube_source.h"
#include "obs/metrics.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

constexpr double kFirstList_s = 30;

}  // namespace

Status apply_cluster(const std::string& cluster, config::ClusterSettings& settings) {
  constexpr std::string_view kFile = "file:";
  if (cluster.empty()) return {};
  if (cluster == "kube") {
    settings.dump_file.clear();
    return {};
  }
  if (!cluster.starts_with(kFile) || cluster.size() == kFile.size())
    return fail(ErrorCode::kInvalidArgument,
                format("--cluster {}: write kube, or file:DUMP with what `kubectl get "
                       "nodes,pods,jobs -A -o yaml` printed",
                       printable(cluster)));
  settings.dump_file = cluster.substr(kFile.size());
  return {};
}

Result<SnapshotPtr> list_once(cluster::ApiClient& api, const GpuCatalog& gpus) {
  obs::MetricsRegistry metrics;
  cluster::KubeOptions options;
  options.audit_every_s = 0;
  const auto source = cluster::make_kube_source(api, options, gpus, metrics, nullptr);
  SLACKLINE_TRY(source->start());
  const Clock& clock = system_clock();
  const double until_s = clock.steady_s() + kFirstList_s;
  while (!source->snapshot()->synced && clock.steady_s() < until_s)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (!source->snapshot()->synced)
    return fail(ErrorCode::kTimeout, "the first list is not in: " + source->health().detail);
  return source->snapshot();
}

Result<SnapshotPtr> read_cluster_once(const config::Configuration& configuration) {
  if (configuration.cluster.dump_file.empty()) {
    SLACKLINE_ASSIGN(const auto api,
                     cluster::connect({.kubeconfig = configuration.cluster.kubeconfig}));
    SLACKLINE_TRY(api->await_credential());
    return list_once(*api, configuration.gpus);
  }
  obs::MetricsRegistry metrics;
  cluster::FileOptions options;
  options.path = configuration.cluster.dump_file;
  const auto source = cluster::make_file_source(options, configuration.gpus, metrics, nullptr);
  SLACKLINE_TRY(source->start());
  return source->snapshot();
}

}  // namespace slackline::cli
