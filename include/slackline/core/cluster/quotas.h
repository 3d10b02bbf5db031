// QuotaBook: what the ResourceQuotas of a namespace leave to pods that do not exist yet.
//
// A quota leaves hard - used, where used is the larger of what the API server has counted and what
// the pods of the snapshot ask for: either may be seen first. As the API server has it, only what a
// pod asks for is looked at, and every quota of the namespace must agree. Quotas that may not be
// about our pods (scopes other than NotBestEffort) and limits that we do not account are taken for
// granted: where they refuse a pod, its task is found to be incomplete (core/handover/hand_over.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/core/planning/shares.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Of a resource as in QuotaLimit.
std::int64_t amount_of(const Resources& pod, std::string_view resource);
// As people write it: "500m" of CPU, "2Gi" of memory.
std::string amount_text(const NamedAmount& amount);

// Whether it counts such pods, as far as is known.
bool covers(const ResourceQuota& quota, const Resources& pod);

// A quota that has no room for some pods.
struct QuotaShortage {
  std::string quota;     // its name
  std::string resource;  // as in QuotaLimit, with its unit
  std::int64_t need = 0;
  std::int64_t left = 0;  // below 0: more is in use than the quota allows
  std::int64_t hard = 0;
  std::size_t limit = 0;  // as in QuotaNeed
};

// Those of a namespace, in the order of their names.
std::span<const std::shared_ptr<const ResourceQuota>> quotas_in(const ClusterSnapshot& snapshot,
                                                                const std::string& ns);

// Whether some quota bounds what such a pod asks for.
bool is_within_a_quota(const ClusterSnapshot& snapshot, const std::string& ns,
                       const Resources& pod);

class QuotaBook {
 public:
  // O(quotas), and O(pods) where there are any.
  explicit QuotaBook(const ClusterSnapshot& snapshot);

  // The pods of released Jobs that are still to come count from now on; so do those that follow
  // others at once.
  void charge_released(const ClusterSnapshot& snapshot, double now_steady_s, double now_wall_s);

  bool empty() const { return accounts_.empty(); }
  // Whether this many more pods of this kind may be made.
  bool admits(const std::string& ns, const Resources& pod, std::int64_t pods) const;
  // What is left, by QuotaNeed::limit.
  std::vector<std::int64_t> left() const;
  // What pods of this kind that are there hold; without limits of which they hold nothing.
  std::vector<QuotaNeed> held(const std::string& ns, const Resources& pod, std::int64_t pods) const;
  // Of the limit with this number, in this namespace.
  std::string_view resource_of(const std::string& ns, std::size_t limit) const;
  // Whether it would if nothing were used.
  bool ever_admits(const std::string& ns, const Resources& pod, std::int64_t pods) const;
  void charge(const std::string& ns, const Resources& pod, std::int64_t pods);
  // Why it does not admit them; empty: it does.
  std::vector<QuotaShortage> shortages(const std::string& ns, const Resources& pod,
                                       std::int64_t pods) const;

 private:
  struct Limit {
    std::size_t number = 0;  // in all accounts
    std::string resource;
    std::int64_t hard = 0;
    std::int64_t left = 0;  // may be negative: a quota may be made smaller than what is there
  };
  struct Account {
    std::shared_ptr<const ResourceQuota> quota;  // never null
    std::vector<Limit> limits;                   // those of `quota`
  };

  static bool leaves_room(const Limit& limit, const Resources& pod, std::int64_t pods);
  // Of every limit that counts such pods.
  bool all_limits(const std::string& ns, const Resources& pod,
                  const std::function<bool(const Limit&)>& allow) const;

  std::map<std::string, std::vector<Account>> accounts_;  // by namespace
  std::map<Uid, std::int64_t> pods_of_;                   // by owner, where there are quotas
  std::size_t limits_ = 0;                                // of all accounts
};

}  // namespace slackline::core
