#include "cluster/lease.h"

#include <algorithm>
#include <limits>
#include <random>

#include <unistd.h>

#include "cluster/kubeconfig.h"
#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

constexpr double kRequestTimeout_s = 3;

std::string own_identity() {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  std::random_device random;
  return format("{}_{:08x}{:08x}", host, random(), random());
}

LeaseOptions with_identity(LeaseOptions options) {
  if (options.identity.empty()) options.identity = own_identity();
  return options;
}

std::string lease_path(const ObjectKey& key) {
  return format("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}", path_segment(key.ns),
                path_segment(key.name));
}

Result<wire::LeaseRecord> read_lease(ApiClient& client, const ObjectKey& key) {
  net::HttpRequest request;
  request.url = lease_path(key);
  request.timeout_s = kRequestTimeout_s;
  const auto answer = client.send(std::move(request));
  if (!answer) return fail(answer.error().error());
  return wire::decode_lease(answer->body);
}

}  // namespace

LeaderElection::LeaderElection(KubeEndpoint endpoint, LeaseOptions options,
                               std::function<void()> changed, const Clock& clock)
    : client_(std::move(endpoint), clock),
      options_(with_identity(std::move(options))),
      changed_(std::move(changed)),
      clock_(clock) {}

std::optional<std::int64_t> LeaderElection::term() const {
  MutexLock lock(mutex_);
  const bool fresh = clock_.steady_s() < renewed_s_ + options_.renew_within_s;
  return fresh ? term_ : std::nullopt;
}

std::string LeaderElection::holder() const {
  MutexLock lock(mutex_);
  return holder_;
}

void LeaderElection::run() {
  do {
    look();
    if (const bool leads = term().has_value(); leads != told_leading_) {
      told_leading_ = leads;
      obs::log_info(leads ? "leading" : "not_leading", {{"identity", options_.identity}});
      changed_();
    }
  } while (worker_.wait(options_.retry_s));
  if (!term()) return;
  if (auto lease = read(); lease && lease->holder == options_.identity) {
    lease->holder.clear();
    write(*std::move(lease), clock_.steady_s());
  }
}

void LeaderElection::look() {
  const double asked_s = clock_.steady_s();
  auto lease = read();
  if (!lease && lease.error().code == ErrorCode::kNotFound) {
    wire::LeaseRecord fresh;
    fresh.holder = options_.identity;
    fresh.duration_s = options_.duration_s;
    fresh.transitions = 1;
    return write(std::move(fresh), asked_s);
  }
  if (!lease) {
    obs::log_warning("lease_unreadable", {{"error", lease.error().message}});
    return hold("");
  }
  if (lease->resource_version != seen_version_) {
    seen_version_ = lease->resource_version;
    seen_since_s_ = clock_.steady_s();
  }
  const bool ours = term() == lease->transitions && lease->holder == options_.identity;
  const bool expired = clock_.steady_s() >= seen_since_s_ + lease->duration_s;
  hold(expired ? "" : lease->holder);
  if (!ours && !lease->holder.empty() && !expired) return lead(std::nullopt, 0);
  if (!ours) lease->transitions += 1;
  lease->holder = options_.identity;
  lease->duration_s = options_.duration_s;
  write(*std::move(lease), asked_s);
}

Result<wire::LeaseRecord> LeaderElection::read() {
  return read_lease(client_, options_.key);
}

void LeaderElection::write(wire::LeaseRecord lease, double asked_s) {
  const bool create = lease.resource_version.empty();
  lease.renewed_s = clock_.wall_s();
  net::HttpRequest request;
  request.method = create ? "POST" : "PUT";
  request.url = lease_path(create ? ObjectKey{options_.key.ns, ""} : options_.key);
  if (create) request.url.pop_back();  // the collection
  request.headers = {{"Content-Type", "application/json"}};
  request.body = wire::encode_lease(options_.key, lease);
  request.timeout_s = kRequestTimeout_s;
  const auto answer = client_.send(std::move(request));
  if (!answer) {
    // A conflict: somebody else was first. Whatever else it is, the last renewal still counts.
    if (answer.error().code != ErrorCode::kConflict)
      obs::log_warning("lease_not_written", {{"error", answer.error().message}});
    return;
  }
  if (lease.holder.empty()) return lead(std::nullopt, 0);
  if (const auto written = wire::decode_lease(answer->body)) {
    seen_version_ = written->resource_version;
    seen_since_s_ = clock_.steady_s();
  }
  hold(lease.holder);
  lead(lease.transitions, asked_s);
}

void LeaderElection::lead(std::optional<std::int64_t> term, double renewed_s) {
  MutexLock lock(mutex_);
  term_ = term;
  renewed_s_ = renewed_s;
}

void LeaderElection::hold(const std::string& holder) {
  MutexLock lock(mutex_);
  holder_ = holder;
}

Result<std::unique_ptr<LeaderElection>> make_leader_election(const KubeAccess& access,
                                                             LeaseOptions options,
                                                             std::function<void()> changed) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<LeaderElection>(std::move(endpoint), std::move(options),
                                          std::move(changed));
}

Result<double> lease_age_s(const KubeAccess& access, const ObjectKey& key, const Clock& clock) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  ApiClient client(std::move(endpoint), clock);
  const auto lease = read_lease(client, key);
  if (!lease && lease.error().code == ErrorCode::kNotFound)
    return std::numeric_limits<double>::infinity();
  if (!lease) return fail(lease.error().with_context("reading the Lease " + key.str()));
  return std::max(0.0, clock.wall_s() - lease->renewed_s);
}

}  // namespace slackline::cluster
