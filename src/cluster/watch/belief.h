// Belief: which of Slackline's keys on an object count (docs/OPERATIONS.md, "Which annotations
// count").
//
// They count in namespaces that carry the label slackline.dev/managed=true, and for who only looks
// in all; a plan only with Slackline's code over this object. Keys that do not count are removed
// from the object before any decision; requests, bindings and nominations stay, because they are
// the API server's.
//
//   seen first -- its code is right, and of a Job the generation too --> believed
//   believed -- another plan, none, its Job is suspended, its namespace lost the label --> ended
//
// What is noted of a Job's preemptions counts with Slackline's code over this Job, and what a pod
// was told of the stop of its run with the code over this pod.
//
// The plan of a Job that somebody suspends is over, and nobody is told of a disbelief: pausing
// one's own Job is no mistake.
//
// A plan that has ended is remembered with its object, the last kRememberedPlans of each, and is
// not believed again. Without an authenticator (a dump) nothing can be proved: plans are believed
// as they are, in all namespaces.
//
// A class and a queue count as the annotation `admitted` proves them, which counts for the first
// object that shows its nonce; without it the class is normal and the queue the namespace's. The
// pods of a Job have what their Job has.
//
// The rank of a Job is that of its PriorityClass. A Job in a namespace that is being deleted counts
// as one that is: its controller can make no more pods.
//
// Nothing counts on what asks for a resource that a DeviceClass serves and no node lists:
// kube-scheduler alone knows the devices.
//
// Thread-safety: none; the cache's lock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "slackline/model/mac.h"
#include "slackline/model/namespace.h"
#include "slackline/model/snapshot.h"

namespace slackline::cluster {

inline constexpr std::size_t kRememberedPlans = 16;
inline constexpr std::size_t kRememberedNonces = 65536;

// A plan that does not count, seen the first time.
struct DoubtedPlan {
  std::string kind;  // "Job" or "Pod"
  ObjectKey carrier;
  PlanDoubt doubt = PlanDoubt::kNone;
};

class Belief {
 public:
  // Null: a dump, whose keys count everywhere. It outlives the belief.
  explicit Belief(const MessageAuthenticator* mac, bool everywhere = false)
      : mac_(mac), everywhere_(everywhere || mac == nullptr) {}

  bool proves() const { return mac_ != nullptr; }

  // True if it changes what counts of its objects: they must be judged again.
  bool put(const Namespace& ns);
  bool forget_namespace(const std::string& name);
  bool counts(const Job& job) const { return counts(job.key.ns, job.pod_requests); }
  bool counts(const Pod& pod) const { return counts(pod.key.ns, pod.requests); }

  // True if they change.
  bool set_served_by_devices(ServedByDevices served);
  const ServedByDevices& served_by_devices() const { return served_by_devices_; }

  // True if a rank changes.
  bool put(const PriorityClass& priority_class);
  bool forget_priority_class(const std::string& name);

  // The part that counts: itself if all of it does. Appends to `doubted`.
  JobPtr judge(const JobPtr& seen, std::vector<DoubtedPlan>& doubted);
  PodPtr judge(const PodPtr& seen, std::vector<DoubtedPlan>& doubted);
  // The object is gone.
  void forget(const Uid& uid);

 private:
  struct Record {
    std::uint64_t believed = 0;        // the plan's code, hashed; 0: none
    std::vector<std::uint64_t> ended;  // the same, the oldest first
    std::uint64_t doubted = 0;         // the value that was reported last
  };
  struct Carrier {
    const char* kind;
    const ObjectKey& key;
    const Uid& uid;
    bool suspended = false;
    std::int64_t generation = 0;
  };
  struct Claimant {
    const ObjectKey& key;
    const Uid& uid;
    const AdmittedNote* note;  // null: none
    bool waits = false;        // in Slackline's queue
    bool of_job = false;       // a pod: its Job carries the proof
  };
  using Plan = std::shared_ptr<const PlanNote>;

  // The verdict on the plan; kNone: it counts, or there is none, or no key to check it.
  PlanDoubt judge_plan(const Carrier& carrier, Plan& plan, std::vector<DoubtedPlan>& doubted);
  PlanDoubt doubt_of(const Carrier& carrier, const PlanNote& plan, Record& record) const;
  static void end(Record& record);
  // Sets `intent` to the part that counts. False if it waits in Slackline's queue and nobody
  // admitted it.
  bool counts(const std::string& ns) const;
  bool counts(const std::string& ns, const Resources& requests) const;
  bool judge_rights(const Claimant& claimant, std::shared_ptr<const TaskIntent>& intent);
  bool admits(const Claimant& claimant);
  bool counts(const Job& job, const PreemptionNote& note) const;
  bool counts(const Pod& pod, const StopNotice& notice) const;
  std::int32_t rank_of(const Job& job, const PlanNote* plan) const;

  const MessageAuthenticator* const mac_;
  const bool everywhere_;
  std::map<std::string, bool> namespaces_;  // whether they carry the label
  std::set<std::string> ending_;            // namespaces that are being deleted
  std::map<std::string, std::int32_t> ranks_;
  std::map<std::string, std::int32_t> default_ranks_;  // by class; the highest counts
  ServedByDevices served_by_devices_;
  std::unordered_map<Uid, Record> records_;
  std::unordered_map<std::string, Uid> nonces_;  // the first object that showed each
  std::deque<std::string> nonces_in_order_;      // at most kRememberedNonces, the oldest first
};

// Whether return_to_scheduler() has anything to do about an object of a namespace that does not
// count.
bool holds_back(const Job& job);
bool holds_back(const Pod& pod);

}  // namespace slackline::cluster
