#include "cluster/lease/lease.h"

#include <random>
#include <utility>

#include <unistd.h>

#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

std::string own_identity() {
  std::random_device random;
  return format("{}_{:08x}{:08x}", host_name(), random(), random());
}

LeaseOptions with_identity(LeaseOptions options) {
  if (options.identity.empty()) options.identity = own_identity();
  return options;
}

}  // namespace

std::string host_name() {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  return host;
}

LeaderElection::LeaderElection(ApiClient& client, LeaseOptions options,
                               std::function<void()> changed, const Clock& clock)
    : options_(with_identity(std::move(options))),
      changed_(std::move(changed)),
      clock_(clock),
      client_(client, options_.key, clock) {}

std::optional<std::int64_t> LeaderElection::term() const {
  const auto leading = leadership();
  return leading ? std::optional(leading->term) : std::nullopt;
}

std::optional<Leadership> LeaderElection::leadership() const {
  MutexLock lock(mutex_);
  const bool fresh = clock_.steady_s() < renewed_s_ + options_.renew_within_s;
  if (!fresh || !term_) return std::nullopt;
  return Leadership{*term_, since_s_};
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
  step_down();
}

void LeaderElection::step_down() {
  if (!term()) return;
  if (auto lease = client_.read(); lease && lease->holder == options_.identity) {
    lease->holder.clear();
    write(*std::move(lease), clock_.steady_s());
  }
}

void LeaderElection::look() {
  const double asked_s = clock_.steady_s();
  auto lease = client_.read();
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
  sighting_.see(*lease, asked_s, clock_.steady_s());
  const bool ours = term() == lease->transitions && lease->holder == options_.identity;
  const bool expired = sighting_.unchanged_s() >= lease_duration_s(*lease, options_.duration_s);
  hold(expired ? "" : lease->holder);
  if (!ours && !lease->holder.empty() && !expired) return lead(std::nullopt, 0);
  if (!ours) lease->transitions += 1;
  lease->holder = options_.identity;
  lease->duration_s = options_.duration_s;
  write(*std::move(lease), asked_s);
}

void LeaderElection::write(wire::LeaseRecord lease, double asked_s) {
  const std::string holder = lease.holder;
  const std::int64_t term = lease.transitions;
  const auto written = client_.write(std::move(lease));
  if (!written) {
    // A conflict: somebody else was first. After any other error the last renewal still counts.
    if (written.error().code != ErrorCode::kConflict)
      obs::log_warning("lease_not_written", {{"error", written.error().message}});
    return;
  }
  sighting_.see(*written, asked_s, clock_.steady_s());
  hold(holder);
  if (holder.empty()) return lead(std::nullopt, 0);
  lead(term, asked_s);
}

void LeaderElection::lead(std::optional<std::int64_t> term, double renewed_s) {
  MutexLock lock(mutex_);
  if (term_ != term) since_s_ = clock_.steady_s();
  term_ = term;
  renewed_s_ = renewed_s;
}

void LeaderElection::hold(const std::string& holder) {
  MutexLock lock(mutex_);
  holder_ = holder;
}

}  // namespace slackline::cluster
