#include "control/state/check_kueue.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/share_types.h"
#include "slackline/core/planning/shares.h"

namespace slackline::control {
namespace {

using GpusByName = std::map<std::string, std::int64_t>;

std::int64_t sum_of(const GpusByName& gpus) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : gpus)
    sum = saturating_add(sum, count);
  return sum;
}

void add_gpus(GpusByName& gpus, const std::string& name, std::int64_t count) {
  if (count > 0) gpus[name] = saturating_add(gpus[name], count);
}

// "ml 16, text 8"
std::string listed_gpus(const GpusByName& gpus) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : gpus)
    parts.push_back(format("{} {}", printable(name, 64), count));
  return join(parts, ", ");
}

std::string kueue_type(const std::string& type) {
  return type.empty() ? "any type" : printable(type, 64);
}

// What is promised of one GPU type.
struct PromisedType {
  GpusByName quotas;      // nominal, by ClusterQueue or Cohort
  GpusByName borrows;     // at most, by ClusterQueue
  GpusByName own;         // by queue without a parent: what its children own is of it
  GpusByName shares;      // own, by queue
  GpusByName may_borrow;  // by queue
  std::int64_t gpus = 0;  // of the nodes
};

// Who lends to whom in Kueue: everybody below the same topmost Cohort.
class KueueLoans {
 public:
  explicit KueueLoans(const KueueSetup& kueue) {
    for (const KueueQueue& cohort : kueue.cohorts)
      parents_[cohort.name] = cohort.cohort;
    for (const KueueQueue& queue : kueue.cluster_queues)
      for (const KueueQuota& quota : queue.quotas)
        add(top(queue.cohort), quota, std::min(quota.nominal, quota.lending_limit));
    for (const KueueQueue& cohort : kueue.cohorts)
      for (const KueueQuota& quota : cohort.quotas)
        add(top(cohort.name), quota, quota.nominal);
  }

  // What a ClusterQueue may borrow of a flavor, at most.
  std::int64_t borrows(const KueueQueue& queue, const KueueQuota& quota) const {
    if (queue.cohort.empty()) return 0;
    const auto lent = lent_.find({top(queue.cohort), quota.flavor});
    if (lent == lent_.end()) return 0;
    const std::int64_t own = std::min(quota.nominal, quota.lending_limit);
    return std::min(quota.borrowing_limit, saturating_sub(lent->second, own));
  }

 private:
  void add(const std::string& cohort, const KueueQuota& quota, std::int64_t gpus) {
    std::int64_t& lent = lent_[{cohort, quota.flavor}];
    lent = saturating_add(lent, gpus);
  }

  // A circle of cohorts ends somewhere: Kueue admits nothing there.
  std::string top(std::string cohort) const {
    for (std::size_t step = 0; step < parents_.size(); ++step) {
      const auto at = parents_.find(cohort);
      if (at == parents_.end() || at->second.empty()) break;
      cohort = at->second;
    }
    return cohort;
  }

  std::map<std::string, std::string> parents_;
  std::map<std::pair<std::string, std::string>, std::int64_t> lent_;  // by cohort and flavor
};

class KueueComparison {
 public:
  KueueComparison(const KueueSetup& kueue, const QueueRulebook& queues, const GpuCatalog& catalog)
      : kueue_(kueue), names_(queues, catalog) {
    const KueueLoans loans(kueue);
    for (const KueueQueue& queue : kueue.cluster_queues)
      for (const KueueQuota& quota : queue.quotas) {
        PromisedType& type = types_[type_of(quota.gpu_type)];
        add_gpus(type.quotas, queue.name, quota.nominal);
        add_gpus(type.borrows, queue.name, loans.borrows(queue, quota));
      }
    for (const KueueQueue& cohort : kueue.cohorts)
      for (const KueueQuota& quota : cohort.quotas)
        add_gpus(types_[type_of(quota.gpu_type)].quotas, format("Cohort {}", cohort.name),
                 quota.nominal);
    for (const auto& [queue, rules] : queues.named)
      for (const auto& [name, share] : rules.shares) {
        PromisedType& type = types_[names_.types()[names_.of(name)]];
        if (rules.parent.empty()) add_gpus(type.own, queue, share.own);
        add_gpus(type.shares, queue, share.own);
        add_gpus(type.may_borrow, queue, share.borrow);
      }
    if (!kueue.gpus) return;
    for (const auto& [type, count] : *kueue.gpus) {
      std::int64_t& gpus = types_[type_of(type)].gpus;
      gpus = saturating_add(gpus, count);
    }
  }

  KueueCheck check() {
    KueueCheck check;
    for (const auto& [name, type] : types_)
      if (!type.quotas.empty() || !type.own.empty())
        check.types.push_back({name, sum_of(type.quotas), sum_of(type.own), gpus_of(name, type)});
    if (kueue_.gpus) find_too_many();
    find_teams();
    find_loans();
    check.findings = std::move(findings_);
    return check;
  }

 private:
  // Of a flavor or a node; that of the share which accepts it, if one does.
  std::string type_of(const GpuType& type) const {
    const std::uint32_t share = type.empty() ? core::Shares::kNoType : names_.of_gpus(type);
    return share == core::Shares::kNoType ? type.str() : names_.types()[share];
  }

  std::optional<std::int64_t> gpus_of(const std::string& name, const PromisedType& type) const {
    if (!kueue_.gpus) return std::nullopt;
    if (!name.empty()) return type.gpus;
    std::int64_t all = 0;
    for (const auto& [other, promised] : types_)
      all = saturating_add(all, promised.gpus);
    return all;
  }

  void note(config::Severity severity, std::string path, std::string problem, std::string remedy) {
    findings_.push_back({severity, 0, std::move(path), std::move(problem), std::move(remedy)});
  }

  void find_too_many() {
    GpusByName all_own;
    std::int64_t left = 0;  // that no quota of its type and no share takes
    for (const auto& [name, type] : types_) {
      if (name.empty()) {
        left = saturating_add(left, type.gpus);
        continue;
      }
      const std::int64_t promised = saturating_add(sum_of(type.quotas), sum_of(type.own));
      left = saturating_add(left, std::max<std::int64_t>(0, type.gpus - promised));
      for (const auto& [queue, count] : type.own)
        add_gpus(all_own, queue, count);
      if (promised > type.gpus && !type.quotas.empty() && !type.own.empty())
        note(
            config::Severity::kError, kueue_type(name),
            format("{} GPUs are promised, {} more than the nodes have: {} by quotas of Kueue ({}), "
                   "{} owned by queues of Slackline ({})",
                   promised, promised - type.gpus, sum_of(type.quotas), listed_gpus(type.quotas),
                   sum_of(type.own), listed_gpus(type.own)),
            "lower nominalQuota there or queues[].shares here, until both together fit");
    }
    const auto any = types_.find("");
    if (any == types_.end() || all_own.empty() || sum_of(any->second.quotas) <= left) return;
    note(config::Severity::kError, kueue_type(""),
         format("{} GPUs are promised by quotas of Kueue of flavors without a GPU type ({}), but "
                "the nodes have {} that no other quota takes and no queue of Slackline owns",
                sum_of(any->second.quotas), listed_gpus(any->second.quotas), left),
         "lower nominalQuota there or queues[].shares here, or give the ResourceFlavor the label "
         "of its GPU type in nodeLabels");
  }

  void find_teams() {
    for (const KueueLocalQueue& local : kueue_.local_queues) {
      find_team(local, local.key.ns);
      if (local.key.name != local.key.ns) find_team(local, local.key.name);
    }
  }

  // Whether this queue of Slackline, too, owns GPUs of what the LocalQueue may use.
  void find_team(const KueueLocalQueue& local, const std::string& queue) {
    for (const auto& [quota_type, quota] : types_) {
      const auto nominal = quota.quotas.find(local.cluster_queue);
      if (nominal == quota.quotas.end()) continue;
      for (const auto& [name, type] : types_) {
        const auto own = type.shares.find(queue);
        if (own == type.shares.end() || (!quota_type.empty() && quota_type != name)) continue;
        if (!teams_.emplace(queue, local.cluster_queue, quota_type, name).second) continue;
        note(config::Severity::kWarning,
             format("queues[name={}].shares.{}", printable(queue, 64), printable(name, 64)),
             format("owns {}, and the LocalQueue {} has a quota of {} of {} in Kueue "
                    "(ClusterQueue {}): one team is promised GPUs by both",
                    own->second, printable(local.key.str(), 128), nominal->second,
                    kueue_type(quota_type), printable(local.cluster_queue, 64)),
             "keep one: take the share away here, or lower nominalQuota there; keep both only if "
             "the team is meant to have their sum");
      }
    }
  }

  void find_loans() {
    const auto any = types_.find("");
    for (const auto& [name, type] : types_) {
      GpusByName borrowers = type.borrows;
      if (any != types_.end())
        for (const auto& [queue, count] : any->second.borrows)
          add_gpus(borrowers, queue, count);
      if (borrowers.empty() || type.may_borrow.empty() || name.empty()) continue;
      note(
          config::Severity::kWarning, kueue_type(name),
          format("idle GPUs are lent twice: by Kueue to ClusterQueues of a cohort (up to: {}), and "
                 "by Slackline to queues (up to: {}); neither asks them back for the other",
                 listed_gpus(borrowers), listed_gpus(type.may_borrow)),
          "lend on one side only: borrowingLimit: 0 in these ClusterQueues, or borrow: 0 in "
          "queues[].shares");
    }
  }

  const KueueSetup& kueue_;
  const core::ShareTypes names_;
  std::map<std::string, PromisedType> types_;  // "": of flavors and nodes that name none
  // Queue, ClusterQueue, type of the quota and of the share: said already.
  std::set<std::tuple<std::string, std::string, std::string, std::string>> teams_;
  config::Findings findings_;
};

}  // namespace

std::string to_string(const KueuePromises& promises) {
  std::string text = format("{}: {} GPUs by quotas of Kueue, {} owned by queues of Slackline",
                            kueue_type(promises.gpu_type), promises.quotas, promises.own);
  if (promises.gpus) text += format(", {} on nodes", *promises.gpus);
  return text;
}

KueueCheck check_kueue(const KueueSetup& kueue, const QueueRulebook& queues,
                       const GpuCatalog& catalog) {
  return KueueComparison(kueue, queues, catalog).check();
}

}  // namespace slackline::control
