#include "control/serve/share_account.h"

#include <algorithm>
#include <utility>

#include "cluster/watch/source.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::control {
namespace {

// From a list's end until the snapshot that shows it is published, and more.
constexpr double kPublication_s = 0.5;

}  // namespace

ShareAccount::ShareAccount(const GpuCatalog& catalog, cluster::ClusterSource& source, Term term,
                           const Clock& clock)
    : catalog_(catalog), source_(source), term_(std::move(term)), clock_(clock) {}

bool ShareAccount::concerns(const Pod& pod) const {
  return core::wants_self_accounted(pod.requests, catalog_);
}

bool ShareAccount::has_rules() const {
  return std::any_of(catalog_.resources.begin(), catalog_.resources.end(),
                     [](const GpuResourceRule& rule) { return rule.self_accounted; });
}

std::string ShareAccount::refusal() {
  if (!source_.health().trusted())
    return "the cluster cache is not synced, and only Slackline counts the requested share";
  if (!term_) return "";
  const Result<double> since_s = term_();
  if (!since_s) return "this replica does not count shares now: " + since_s.error().message;
  return refusal_of_term(*since_s);
}

std::string ShareAccount::refusal_of_term(double since_s) {
  const double now_s = clock_.steady_s();
  const double settled_s = since_s + kBindTimeout_s;
  const auto listed = source_.pods_listed();
  if (listed && listed->began_s >= settled_s && now_s >= listed->ended_s + kPublication_s)
    return "";
  if (now_s >= settled_s) {
    bool ask = false;
    {
      MutexLock lock(mutex_);
      ask = std::exchange(asked_term_s_, since_s) != since_s;
    }
    if (ask) source_.list_pods_again();
  }
  return "this replica has begun to count shares: it assigns them once it has listed the pods "
         "again";
}

const SnapshotPtr& ShareAccount::settle(SnapshotPtr snapshot) {
  if (!settled_ || snapshot->version >= settled_->version) settled_ = std::move(snapshot);
  binds_.settle(*settled_, clock_.steady_s());
  return settled_;
}

ShareAccount::View ShareAccount::view(const Uid& pod) {
  SnapshotPtr newest = source_.snapshot();
  MutexLock lock(mutex_);
  View view{settle(std::move(newest)), {}};
  view.taken = binds_.taken(*view.snapshot, pod);
  return view;
}

Result<std::vector<DeviceSlots>> ShareAccount::book(const Pod& pod, const NodeName& node) {
  SnapshotPtr newest = source_.snapshot();
  core::Booked booked;
  {
    MutexLock lock(mutex_);
    const SnapshotPtr& snapshot = settle(std::move(newest));
    booked = binds_.book(*snapshot, pod, node, catalog_);
  }
  switch (booked.booking) {
    case core::Booking::kBooked:
      return std::move(booked.slots);
    case core::Booking::kUnderWay:
      return fail(ErrorCode::kConflict,
                  format("another binding of pod {} is under way", pod.key.str()));
    case core::Booking::kFull:
      break;
  }
  return fail(ErrorCode::kResourceExhausted,
              format("node {} has no free share for pod {}, bindings under way included",
                     node.str(), pod.key.str()));
}

void ShareAccount::ended(const Pod& pod, const NodeName& node, Ending ending) {
  const double now_s = clock_.steady_s();
  MutexLock lock(mutex_);
  switch (ending) {
    case Ending::kBound:
      return binds_.bound(pod.uid, node, now_s);
    case Ending::kFailed:
      return binds_.failed(pod.uid, node);
    case Ending::kDoubtful:
      return binds_.doubtful(pod.uid, node, now_s);
  }
}

}  // namespace slackline::control
