#include "cluster/lease/scheduler_lease.h"

#include <utility>

#include "slackline/base/text.h"

namespace slackline::cluster {

std::string host_of(const std::string& identity) {
  return identity.substr(0, identity.rfind('_'));
}

void SeenTerm::see(const wire::LeaseRecord& lease, double asked_s, double answered_s) {
  if (lease.holder != lease_.holder || lease.transitions != lease_.transitions) {
    since_s_ = answered_s;
    renewed_s_.reset();
  } else if (lease.renewed_s != lease_.renewed_s) {
    renewed_s_ = asked_s_;
  }
  lease_ = lease;
  asked_s_ = asked_s;
}

std::optional<double> SeenTerm::since(double now_s) const {
  if (lease_.holder.empty() || !renewed_s_ || now_s >= *renewed_s_ + lease_.duration_s)
    return std::nullopt;
  return since_s_;
}

SchedulerLease::SchedulerLease(ApiClient& client, ObjectKey key, std::string host,
                               std::function<void()> looked, const Clock& clock)
    : key_(std::move(key)),
      host_(std::move(host)),
      looked_(std::move(looked)),
      clock_(clock),
      client_(client, key_, clock) {}

void SchedulerLease::start() {
  worker_.start([this] {
    do {
      look();
      looked_();
    } while (worker_.wait(kLook_s));
  });
}

void SchedulerLease::look() {
  const double asked_s = clock_.steady_s();
  const auto lease = client_.read();
  const double answered_s = clock_.steady_s();
  MutexLock lock(mutex_);
  trouble_.clear();
  if (lease)
    term_.see(*lease, asked_s, answered_s);
  else if (lease.error().code == ErrorCode::kNotFound)
    term_.see_none();
  else
    trouble_ = lease.error().message;
}

Result<double> SchedulerLease::since() const {
  MutexLock lock(mutex_);
  const std::string& holder = term_.holder();
  const auto since_s = term_.since(clock_.steady_s());
  if (since_s && host_of(holder) == host_) return *since_s;
  std::string why =
      format("the kube-scheduler of {} does not hold the Lease {}", host_, key_.str());
  if (holder.empty())
    why += ", nobody does";
  else if (!since_s)
    why += format(", {} has not been seen to renew it", printable(holder, 128));
  else
    why += format(", {} does", printable(holder, 128));
  if (!trouble_.empty()) why += "; it cannot be read: " + trouble_;
  return fail(ErrorCode::kUnavailable, why);
}

std::string SchedulerLease::host_of_holder() const {
  MutexLock lock(mutex_);
  return term_.since(clock_.steady_s()) ? host_of(term_.holder()) : "";
}

}  // namespace slackline::cluster
