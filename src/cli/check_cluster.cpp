#include "cli/check_cluster.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "cli/cluster_once.h"
#include "cli/object_name.h"
#include "cluster/api/api_client.h"
#include "cluster/api/requirements.h"
#include "cluster/lease/lease_client.h"
#include "cluster/lease/lease_watch.h"
#include "cluster/lease/scheduler_lease.h"
#include "control/plan/unled.h"
#include "obs/log.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/unreviewed.h"
#include "slackline/core/handover/return_to_scheduler.h"
#include "slackline/model/contract.h"
#include "wire/format/json_view.h"
#include "wire/kube/kube_decode.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kMostNamed = 10;
const ObjectKey kSchedulerLease{"kube-system", "gpu-scheduler"};  // as the chart configures it
constexpr std::string_view kSchedulerContainer = "kube-scheduler";

Result<std::string> find_unled(cluster::ApiClient& api, const ClusterSnapshot& snapshot,
                               const config::Configuration& configuration) {
  const core::HeldBack held = core::held_back(snapshot);
  if (!held.any()) return std::string();
  cluster::LeaseWatch watch(api, key_of(configuration.planner.lease));
  SLACKLINE_ASSIGN(const bool unled, control::wait_until_unled([&] { return watch.look(); }, {}));
  return unled ? control::unled_text(held) : std::string();
}

Result<NamespaceList> managed_namespaces(cluster::ApiClient& api, const GpuCatalog& gpus) {
  net::HttpRequest request;
  request.url = "/api/v1/namespaces?labelSelector=" +
                cluster::path_segment(format("{}=true", contract::kManagedLabel));
  request.timeout_s = 10;
  const auto answer = api.send(std::move(request));
  if (!answer) return fail(answer.error().error());
  SLACKLINE_ASSIGN(wire::KubeList list,
                   wire::KubeDecoder(gpus).list(wire::KubeKind::kNamespace, answer->body));
  std::vector<std::shared_ptr<const Namespace>> namespaces;
  for (wire::KubeObject& object : list.items)
    namespaces.push_back(std::make_shared<const Namespace>(std::get<Namespace>(std::move(object))));
  std::sort(namespaces.begin(), namespaces.end(),
            [](const auto& a, const auto& b) { return a->key < b->key; });
  return std::make_shared<const NamespaceList::element_type>(std::move(namespaces));
}

void warn_of_unreviewed(cluster::ApiClient& api, const SnapshotPtr& snapshot,
                        const GpuCatalog& gpus) {
  ClusterSnapshot seen = *snapshot;
  auto managed = managed_namespaces(api, gpus);
  if (!managed) {
    std::printf("cluster: warning: cannot tell which Jobs the webhook has not seen: %s\n",
                managed.error().message.c_str());
    return;
  }
  seen.namespaces = *std::move(managed);
  const std::vector<JobPtr> unreviewed = core::unreviewed_jobs(seen, 0);
  if (unreviewed.empty()) return;
  std::vector<std::string> names;
  for (const JobPtr& job : unreviewed)
    if (names.size() < kMostNamed) names.push_back(job->key.str());
  if (unreviewed.size() > names.size())
    names.push_back(format("and {} more", unreviewed.size() - names.size()));
  std::printf(
      "cluster: warning: %zu Jobs do not wait their turn, because the webhook has not seen them: "
      "they are older than the label of their namespace, or no webhook answered: %s\n",
      unreviewed.size(), join(names, ", ").c_str());
}

// Whether the pods of Slackline's StatefulSet run a kube-scheduler.
Result<bool> schedules_itself(cluster::ApiClient& api, const ObjectKey& stateful_set) {
  net::HttpRequest request;
  request.url =
      format("/apis/apps/v1/namespaces/{}/statefulsets/{}", cluster::path_segment(stateful_set.ns),
             cluster::path_segment(stateful_set.name));
  request.timeout_s = 10;
  const auto answer = api.send(std::move(request));
  if (!answer && answer.error().code == ErrorCode::kNotFound) return false;
  if (!answer) return fail(answer.error().error());
  wire::JsonDocument document;
  SLACKLINE_ASSIGN(const wire::JsonView root, document.parse(answer->body));
  for (const wire::JsonView container : root["spec"]["template"]["spec"]["containers"].items())
    if (container["name"].text() == kSchedulerContainer) return true;
  return false;
}

bool is_pod_of(const std::string& holder, const ObjectKey& stateful_set) {
  const std::string pod = cluster::host_of(holder);
  const std::string prefix = stateful_set.name + "-";
  return pod.starts_with(prefix) &&
         pod.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

// A Deployment of before, for instance, that was never deleted.
Result<std::string> find_second_scheduler(cluster::ApiClient& api, const ObjectKey& stateful_set) {
  SLACKLINE_ASSIGN(const bool ours, schedules_itself(api, stateful_set));
  if (!ours) return std::string();
  const auto lease = cluster::LeaseClient(api, kSchedulerLease, system_clock()).read();
  if (!lease && lease.error().code == ErrorCode::kNotFound) return std::string();
  if (!lease) return fail(lease.error());
  if (lease->holder.empty() || is_pod_of(lease->holder, stateful_set)) return std::string();
  return format(
      "two sets of kube-schedulers compete for the Lease {}: {} holds it and is no pod of "
      "StatefulSet {}, whose pods run a kube-scheduler, too. If it is the Deployment of before: "
      "kubectl -n {} delete deployment {}",
      kSchedulerLease.str(), printable(lease->holder), stateful_set.str(), kSchedulerLease.ns,
      kSchedulerLease.name);
}

// What is wrong; empty: nothing. An Error: it could not be looked at.
Result<std::vector<std::string>> look(const config::Configuration& configuration) {
  SLACKLINE_ASSIGN(const auto api,
                   cluster::connect({.kubeconfig = configuration.cluster.kubeconfig}));
  SLACKLINE_TRY(api->await_credential());
  if (const Status version = cluster::require_version(*api); !version) {
    if (version.error().code != ErrorCode::kInvalidArgument) return fail(version.error());
    return std::vector{version.error().message};
  }
  SLACKLINE_ASSIGN(const SnapshotPtr snapshot, list_once(*api, configuration.gpus));
  warn_of_unreviewed(*api, snapshot, configuration.gpus);
  const auto second = find_second_scheduler(*api, key_of(configuration.planner.lease));
  if (!second)
    std::printf("cluster: warning: cannot tell which kube-schedulers compete: %s\n",
                second.error().message.c_str());
  SLACKLINE_ASSIGN(std::string unled, find_unled(*api, *snapshot, configuration));
  std::vector<std::string> wrong;
  if (second && !second->empty()) wrong.push_back(*second);
  if (!unled.empty()) wrong.push_back(std::move(unled));
  return wrong;
}

// Rights are often given just before, in the same `kubectl apply`.
constexpr double kPatience_s = 5;
constexpr auto kRound = std::chrono::milliseconds(500);

Status unchecked(const Error& error) {
  obs::log_warning("cluster_not_checked",
                   {{"error", error.message},
                    {"unknown", "whether it is new enough, and what this account may write"}});
  return {};
}

}  // namespace

CheckOutcome check_cluster(const config::Configuration& configuration) {
  const auto wrong = look(configuration);
  if (!wrong || !wrong->empty()) {
    for (const std::string& each : wrong ? *wrong : std::vector{wrong.error().message})
      std::printf("cluster: error: %s\n", each.c_str());
    return wrong ? CheckOutcome::kWrong : CheckOutcome::kFailed;
  }
  std::printf("cluster: no errors\n");
  return CheckOutcome::kGood;
}

Status check_before_start(const config::Configuration& configuration, cluster::ApiClient& api) {
  if (const Status version = cluster::require_version(api); !version)
    return version.error().code == ErrorCode::kInvalidArgument ? version
                                                               : unchecked(version.error());
  if (configuration.mode != Mode::kActive) return {};
  const cluster::ActiveNeeds needs{.lease = key_of(configuration.planner.lease),
                                   .key_secret = key_of(configuration.trust.key_secret)};
  const double until_s = system_clock().steady_s() + kPatience_s;
  std::vector<std::string> lacking;
  for (;;) {
    auto found = cluster::find_lacking(api, needs);
    if (!found) return unchecked(found.error());
    if (found->empty()) return {};
    lacking = *std::move(found);
    if (system_clock().steady_s() >= until_s) break;
    std::this_thread::sleep_for(kRound);
  }
  return fail(ErrorCode::kForbidden,
              format("active mode is not started, and nothing was written: {}. Shadow mode needs "
                     "none of it",
                     join(lacking, "; ")));
}

}  // namespace slackline::cli
