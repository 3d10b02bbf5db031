#include "control/serve/binder.h"

#include <algorithm>
#include <utility>

#include "control/state/settings.h"
#include "slackline/base/dns_name.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/model/contract.h"

namespace slackline::control {
namespace {

// Shares of the remaining time: for the read before the write, and for the write. The rest is for
// the read that shows its outcome.
constexpr double kShareOfRead = 1.0 / 3;
constexpr double kShareOfWrite = 2.0 / 3;
constexpr double kLeastCall_s = 0.005;  // no call with less time is made

using Ending = ShareAccount::Ending;

Status check_names(const BindRequest& request) {
  const auto bad = [](std::string_view what, std::string_view name, std::string_view rule) {
    return fail(ErrorCode::kInvalidArgument,
                format("{} \"{}\" is not a DNS {}", what, printable(name, 64), rule));
  };
  if (!is_dns_label(request.pod.ns)) return bad("PodNamespace", request.pod.ns, "label");
  if (!is_dns_subdomain(request.pod.name)) return bad("PodName", request.pod.name, "subdomain");
  if (!is_dns_subdomain(request.node.str())) return bad("Node", request.node.str(), "subdomain");
  return {};
}

// The pod as the snapshot has it, waiting or on the node that is asked for; null: not so.
PodPtr requested_pod(const ClusterSnapshot& snapshot, const BindRequest& request) {
  if (PodPtr waiting = snapshot.find_unbound(request.pod))
    return waiting->uid == request.uid ? waiting : nullptr;
  const auto node = snapshot.find_node(request.node.str());
  if (!node) return nullptr;
  for (const PodPtr& pod : snapshot.node(*node).pods)
    if (pod->uid == request.uid && pod->key == request.pod) return pod;
  return nullptr;
}

// Why the pod may not be on the node, whatever else runs there. Selectors, affinity and volumes
// are kube-scheduler's: it has judged them on the same node a moment ago.
Status judge_node(const Pod& pod, const Node& node) {
  for (const ResourceAmount& amount : pod.requests.gpus)
    if (amount.count > node.allocatable.gpu_count(amount.resource))
      return fail(ErrorCode::kInvalidArgument,
                  format("node {} has no {} x {}", node.name.str(), amount.count, amount.resource));
  const auto misfit = core::misfit(pod, node);
  using enum core::Misfit;
  if (!misfit || *misfit == kNodeSelector || *misfit == kNodeAffinity || *misfit == kVolume)
    return {};
  return fail(ErrorCode::kInvalidArgument,
              format("node {}: {}", node.name.str(), core::message(*misfit)));
}

BindOutcome refused(const Error& error) {
  return {{error.message}, "refused"};
}

}  // namespace

Binder::Binder(BinderOptions options, const cluster::ClusterSource& source,
               cluster::ClusterWriter* writer, ShareAccount& shares, const Clock& clock)
    : options_(std::move(options)),
      source_(source),
      writer_(writer),
      shares_(shares),
      clock_(clock) {}

BindOutcome Binder::bind(const BindRequest& request, double until_s) {
  BindOutcome outcome = attempt(request, until_s);
  outcome.late = !outcome.reply.error.empty() && left_s(until_s) < kLeastCall_s;
  return outcome;
}

BindOutcome Binder::attempt(const BindRequest& request, double until_s) {
  if (writer_ == nullptr)
    return {{"this daemon follows a cluster dump and cannot bind; run it with --cluster kube"},
            "read_only"};
  if (const Status good = check_names(request); !good) return refused(good.error());
  const SnapshotPtr snapshot = source_.snapshot();
  const Result<PodPtr> pod = find_pod(request, *snapshot, until_s);
  if (!pod) return {{pod.error().message}, to_lower(to_string(pod.error().code))};
  if (const Status good = judge(**pod, request.node, *snapshot); !good)
    return refused(good.error());
  if (left_s(until_s) < kLeastCall_s)
    return {{format("pod {} is not bound: no time was left", request.pod.str())}, "timeout"};
  if (!shares_.concerns(**pod)) return perform(request, **pod, *snapshot, {}, until_s);
  if (const std::string why = shares_.refusal(); !why.empty())
    return refused({ErrorCode::kUnavailable, why});
  const auto slots = shares_.book(**pod, request.node);
  if (!slots) return refused(slots.error());
  return perform(request, **pod, *snapshot, *slots, until_s);
}

// kube-scheduler's watch may be ahead of this one, and the cache keeps no tolerations of pods
// without GPUs. Where managedResources is set nobody asks for those.
Result<PodPtr> Binder::find_pod(const BindRequest& request, const ClusterSnapshot& snapshot,
                                double until_s) {
  if (PodPtr pod = requested_pod(snapshot, request); pod && pod->requests.wants_gpus()) return pod;
  const auto truth = read_pod(request.pod, kShareOfRead * left_s(until_s));
  if (!truth) return fail(truth.error());
  if (truth->uid != request.uid)
    return fail(ErrorCode::kConflict,
                format("pod {} was replaced by another pod of that name", request.pod.str()));
  if (truth->pod == nullptr)
    return fail(ErrorCode::kDataLoss, format("pod {} cannot be read", request.pod.str()));
  return truth->pod;
}

// What the webhook writes is planned, too.
bool Binder::is_ours(const std::string& scheduler) const {
  const std::vector<std::string>& ours = options_.scheduler_names;
  if (ours.empty() || std::find(ours.begin(), ours.end(), scheduler) != ours.end()) return true;
  return options_.settings != nullptr && !scheduler.empty() &&
         options_.settings->get()->scheduler_name == scheduler;
}

Status Binder::judge(const Pod& pod, const NodeName& node, const ClusterSnapshot& snapshot) const {
  if (!is_ours(pod.scheduler_name))
    return fail(ErrorCode::kInvalidArgument,
                format("pod {} belongs to the scheduler \"{}\", which is not in "
                       "extender.schedulerNames, nor webhook.schedulerName",
                       pod.key.str(), printable(pod.scheduler_name, 64)));
  if (!source_.health().trusted()) return {};
  const auto index = snapshot.find_node(node.str());
  if (!index) return fail(ErrorCode::kNotFound, format("node {} is not known here", node.str()));
  return judge_node(pod, *snapshot.node(*index).node);
}

BindOutcome Binder::perform(const BindRequest& request, const Pod& pod,
                            const ClusterSnapshot& snapshot, const std::vector<DeviceSlots>& slots,
                            double until_s) {
  cluster::BindingOrder order{request.pod, request.uid, request.node, {}};
  if (const auto node = snapshot.find_node(request.node.str());
      node && options_.mode == Mode::kActive) {
    const GpuType& type = snapshot.node(*node).node->gpu_type;
    if (!type.empty()) order.annotations.emplace_back(contract::kGpuType, type.str());
    if (!slots.empty())
      order.annotations.emplace_back(contract::kDeviceIds, device_ids_text(slots));
  }
  const Status bound =
      writer_->bind(order, std::min(kLongestBinding_s, kShareOfWrite * left_s(until_s)));
  if (!bound) return confirm_binding(request, pod, bound.error(), until_s);
  end_booking(pod, request.node, Ending::kBound);
  return {{}, "bound"};
}

// The write was refused or its outcome is unknown: only the API server's state of the pod decides.
BindOutcome Binder::confirm_binding(const BindRequest& request, const Pod& pod, const Error& error,
                                    double until_s) {
  const Result<PodBinding> truth = read_pod(request.pod, left_s(until_s));
  if (truth && truth->uid == request.uid && truth->node == request.node) {
    end_booking(pod, request.node, Ending::kBound);
    return {{}, "already_bound"};
  }
  const bool gone = (truth && truth->uid != request.uid) ||
                    (!truth && truth.error().code == ErrorCode::kNotFound);
  const bool elsewhere = truth && !gone && !truth->node.empty();
  const bool may_happen =
      error.code == ErrorCode::kTimeout || error.code == ErrorCode::kUnavailable;
  const bool doubtful = !gone && !elsewhere && (may_happen || !truth);
  end_booking(pod, request.node, doubtful ? Ending::kDoubtful : Ending::kFailed);
  // The API server's own words on a conflict name the pod's uid.
  std::string text = error.message;
  if (error.code == ErrorCode::kConflict)
    text = format("binding {}: the API server refused: conflict", request.pod.str());
  if (truth && gone)
    text = format("pod {} was replaced by another pod of that name", request.pod.str());
  if (elsewhere)
    text = format("pod {} is already bound to {}", request.pod.str(), truth->node.str());
  return {{std::move(text)}, to_lower(to_string(error.code))};
}

Result<PodBinding> Binder::read_pod(const ObjectKey& pod, double timeout_s) {
  if (timeout_s < kLeastCall_s)
    return fail(ErrorCode::kTimeout, format("reading {}: no time was left", pod.str()));
  return writer_->read_pod(pod, timeout_s);
}

void Binder::end_booking(const Pod& pod, const NodeName& node, Ending ending) {
  if (shares_.concerns(pod)) shares_.ended(pod, node, ending);
}

}  // namespace slackline::control
