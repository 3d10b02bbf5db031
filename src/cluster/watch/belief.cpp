#include "cluster/watch/belief.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "slackline/base/text.h"
#include "wire/kube/sealed_text.h"

namespace slackline::cluster {
namespace {

bool has_keys_of_ours(const Job& job) {
  return job.suspended_by_us || job.managed || job.intent || job.plan || job.admitted ||
         job.original || job.preemptions || job.progress ||
         job.calibration != CalibrationMark::kNone;
}

bool has_keys_of_ours(const Pod& pod) {
  return pod.managed || pod.our_gate || pod.intent || pod.plan || pod.admitted || pod.notice ||
         pod.notice_doubted;
}

void take_off(Job& job) {
  job.suspended_by_us = job.managed = false;
  job.intent = nullptr;
  job.plan = nullptr;
  job.admitted = nullptr;
  job.original = nullptr;
  job.preemptions = nullptr;
  job.progress = nullptr;
  job.calibration = CalibrationMark::kNone;
}

// Slackline's gate holds the pod like any other.
void take_off(Pod& pod) {
  pod.foreign_gate |= std::exchange(pod.our_gate, false);
  pod.managed = false;
  pod.intent = nullptr;
  pod.plan = nullptr;
  pod.admitted = nullptr;
  pod.notice = nullptr;
  pod.notice_doubted = false;
}

}  // namespace

bool Belief::put(const Namespace& ns) {
  const std::string& name = ns.key.name;
  const bool before = counts(name);
  namespaces_[name] = ns.managed;
  const bool ending = ns.deleting ? ending_.insert(name).second : ending_.erase(name) > 0;
  return ending || before != counts(name);
}

bool Belief::forget_namespace(const std::string& name) {
  const bool before = counts(name);
  namespaces_.erase(name);
  return ending_.erase(name) > 0 || before != counts(name);
}

bool Belief::counts(const std::string& ns) const {
  if (everywhere_) return true;
  const auto at = namespaces_.find(ns);
  return at != namespaces_.end() && at->second;
}

bool Belief::counts(const std::string& ns, const Resources& requests) const {
  return counts(ns) && device_class_of(served_by_devices_, requests) == nullptr;
}

bool Belief::set_served_by_devices(ServedByDevices served) {
  return std::exchange(served_by_devices_, std::move(served)) != served_by_devices_;
}

bool Belief::put(const PriorityClass& priority_class) {
  const std::string& name = priority_class.key.name;
  const auto at = ranks_.find(name);
  if (at != ranks_.end() && at->second == priority_class.value &&
      default_ranks_.contains(name) == priority_class.global_default)
    return false;
  ranks_[name] = priority_class.value;
  default_ranks_.erase(name);
  if (priority_class.global_default) default_ranks_[name] = priority_class.value;
  return true;
}

bool Belief::forget_priority_class(const std::string& name) {
  const bool known = ranks_.erase(name) > 0;
  default_ranks_.erase(name);
  return known;
}

// As the Priority admission plug-in would give it to a pod; a class that is not there admits none.
std::int32_t Belief::rank_of(const Job& job, const PlanNote* plan) const {
  if (!job.priority_class.empty()) {
    const auto at = ranks_.find(job.priority_class);
    return at != ranks_.end() ? at->second : 0;
  }
  if (plan != nullptr && !plan->band.empty())
    if (const auto at = ranks_.find(plan->band); at != ranks_.end()) return at->second;
  if (default_ranks_.empty()) return 0;
  return std::max_element(default_ranks_.begin(), default_ranks_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

JobPtr Belief::judge(const JobPtr& seen, std::vector<DoubtedPlan>& doubted) {
  const bool ours = counts(*seen);
  Plan plan = ours ? seen->plan : nullptr;
  const Carrier carrier{"Job", seen->key, seen->uid, seen->suspended, seen->generation};
  const PlanDoubt doubt = judge_plan(carrier, plan, doubted);
  const std::int32_t rank = rank_of(*seen, plan.get());
  auto intent = seen->intent;
  const Claimant claimant{seen->key, seen->uid, seen->admitted.get(), seen->waits_with_us()};
  const bool proven = !ours || judge_rights(claimant, intent);
  const bool stops_count = seen->preemptions == nullptr || counts(*seen, *seen->preemptions);
  const bool as_it_is = ours ? proven && plan == seen->plan && intent == seen->intent && stops_count
                             : !has_keys_of_ours(*seen);
  const bool deleting = seen->deleting || ending_.contains(seen->key.ns);
  if (as_it_is && rank == seen->priority && deleting == seen->deleting) return seen;
  auto job = std::make_shared<Job>(*seen);
  job->deleting = deleting;
  job->priority = rank;
  job->plan = std::move(plan);
  job->plan_doubt = doubt;
  job->intent = std::move(intent);
  job->unproven = !proven;
  if (!stops_count) job->preemptions = nullptr;
  if (!ours) take_off(*job);
  return job;
}

PodPtr Belief::judge(const PodPtr& seen, std::vector<DoubtedPlan>& doubted) {
  const bool ours = counts(*seen);
  Plan plan = ours ? seen->plan : nullptr;
  const PlanDoubt doubt = judge_plan({"Pod", seen->key, seen->uid}, plan, doubted);
  auto intent = seen->intent;
  const bool of_job = seen->owner && seen->owner->kind == "Job";
  const bool waits = !seen->bound() && seen->our_gate;
  const Claimant claimant{seen->key, seen->uid, seen->admitted.get(), waits, of_job};
  const bool proven = !ours || judge_rights(claimant, intent);
  const bool told = seen->notice == nullptr || counts(*seen, *seen->notice);
  const bool as_it_is = ours ? proven && plan == seen->plan && intent == seen->intent && told
                             : !has_keys_of_ours(*seen);
  if (as_it_is) return seen;
  auto pod = std::make_shared<Pod>(*seen);
  pod->plan = std::move(plan);
  pod->plan_doubt = doubt;
  pod->intent = std::move(intent);
  pod->unproven = !proven;
  if (!told) {
    pod->notice = nullptr;
    pod->notice_doubted = mac_->ready();  // before that it cannot be judged
  }
  if (!ours) take_off(*pod);
  return pod;
}

bool Belief::counts(const Job& job, const PreemptionNote& note) const {
  if (!proves()) return true;
  return mac_->ready() && wire::is_ours(*mac_, {job.key, job.uid}, note);
}

bool Belief::counts(const Pod& pod, const StopNotice& notice) const {
  if (!proves()) return true;
  return mac_->ready() && wire::is_ours(*mac_, {pod.key, pod.uid}, notice);
}

void Belief::forget(const Uid& uid) {
  records_.erase(uid);
}

PlanDoubt Belief::judge_plan(const Carrier& carrier, Plan& plan,
                             std::vector<DoubtedPlan>& doubted) {
  if (!proves()) return PlanDoubt::kNone;
  const auto at = records_.find(carrier.uid);
  if (plan == nullptr) {
    if (at != records_.end()) end(at->second);
    return PlanDoubt::kNone;
  }
  if (!mac_->ready()) {  // cannot be judged: it holds nothing, and is not removed
    plan = nullptr;
    return PlanDoubt::kNone;
  }
  Record& record = at != records_.end() ? at->second : records_[carrier.uid];
  const PlanDoubt doubt = doubt_of(carrier, *plan, record);
  if (doubt == PlanDoubt::kNone) return doubt;
  end(record);
  if (doubt != PlanDoubt::kPaused &&
      std::exchange(record.doubted, plan->value_hash) != plan->value_hash)
    doubted.push_back({carrier.kind, carrier.key, doubt});
  plan = nullptr;
  return doubt;
}

PlanDoubt Belief::doubt_of(const Carrier& carrier, const PlanNote& plan, Record& record) const {
  if (plan.code.empty()) return PlanDoubt::kUnsigned;
  if (!wire::is_ours(*mac_, {carrier.key, carrier.uid}, plan)) return PlanDoubt::kForged;
  const std::uint64_t code = fingerprint(plan.code);
  if (record.believed != code) end(record);
  const auto& ended = record.ended;
  const bool over = std::find(ended.begin(), ended.end(), code) != ended.end();
  if (carrier.suspended) {
    if (!over) record.believed = code;  // so that it is over for good
    return PlanDoubt::kPaused;
  }
  if (over) return PlanDoubt::kEnded;
  if (record.believed != code && plan.generation.value_or(0) != carrier.generation)
    return PlanDoubt::kOutdated;
  record.believed = code;
  return PlanDoubt::kNone;
}

void Belief::end(Record& record) {
  if (record.believed == 0) return;
  if (record.ended.size() == kRememberedPlans) record.ended.erase(record.ended.begin());
  record.ended.push_back(std::exchange(record.believed, 0));
}

bool Belief::judge_rights(const Claimant& claimant, std::shared_ptr<const TaskIntent>& intent) {
  if (!proves()) return true;
  const bool admitted = !claimant.of_job && admits(claimant);
  const bool proven = admitted || claimant.of_job || !claimant.waits;
  static const TaskIntent kNothing;
  const TaskIntent& claimed = intent ? *intent : kNothing;
  const AdmittedNote* note = admitted ? claimant.note : nullptr;
  const bool as_it_is = note == nullptr
                            ? !claimed.qos_class && !claimed.queue
                            : note->qos_class == claimed.qos_class.value_or(QosClass::kNormal) &&
                                  note->queue == queue_of(claimed, claimant.key.ns);
  if (as_it_is) return proven;
  auto counted = std::make_shared<TaskIntent>(claimed);
  counted->qos_class.reset();
  counted->queue.reset();
  if (note != nullptr) {
    counted->qos_class = note->qos_class;
    counted->queue = note->queue;
  }
  intent = std::move(counted);
  return proven;
}

bool Belief::admits(const Claimant& claimant) {
  const AdmittedNote* note = claimant.note;
  if (note == nullptr || !mac_->ready() || !is_authentic(*note, claimant.key.ns, *mac_))
    return false;
  const auto [at, first] = nonces_.try_emplace(note->nonce, claimant.uid);
  if (!first) return at->second == claimant.uid;
  nonces_in_order_.push_back(note->nonce);
  if (nonces_in_order_.size() > kRememberedNonces) {
    nonces_.erase(nonces_in_order_.front());
    nonces_in_order_.pop_front();
  }
  return true;
}

bool holds_back(const Job& job) {
  if (job.finished) return false;
  return job.suspended ? job.suspended_by_us : job.plan && job.managed;
}

bool holds_back(const Pod& pod) {
  return !pod.bound() && (pod.our_gate || (pod.plan && pod.managed));
}

}  // namespace slackline::cluster
