#include <algorithm>
#include <utility>

#include "control/serve/admission_kept.h"
#include "control/serve/admission_rules.h"
#include "control/serve/admission_scope.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/depends.h"

namespace slackline::control {
namespace {

// "slackline.dev/deadline" of "slackline.dev/deadline: \"x\": write ...".
std::string_view key_of(std::string_view problem) {
  return problem.substr(0, problem.find(':'));
}

bool must_read(std::string_view name) {
  const contract::Key* key = contract::find_key(name);
  return key != nullptr && key->mistake == contract::Mistake::kRefused;
}

// One annotation before and after; null where it is absent.
struct Change {
  std::string_view key;
  const std::string* before;
  const std::string* after;

  bool real() const {
    return (before == nullptr) != (after == nullptr) || (before != nullptr && *before != *after);
  }
};

std::vector<Change> changes_between(const Labels& before, const Labels& after) {
  std::vector<Change> changes;
  for (const auto& [key, value] : after)
    changes.push_back({key, find_label(before, key), &value});
  for (const auto& [key, value] : before)
    if (find_label(after, key) == nullptr) changes.push_back({key, &value, nullptr});
  std::erase_if(changes, [](const Change& change) { return !change.real(); });
  return changes;
}

Refusal reserved_key(std::string_view key) {
  const std::string_view hint =
      key == contract::kGpuType ? "; did you mean slackline.dev/gpu-types?" : "";
  return {reason::kReservedKey,
          format("{}: only Slackline writes it; remove it, or leave it unchanged{}", key, hint)};
}

class Checker {
 public:
  Checker(const AdmissionReview& review, const AdmissionFacts& facts)
      : review_(review),
        facts_(facts),
        creates_(review.operation == AdmissionOperation::kCreate),
        intent_(intent_of(review)) {
    collect_changes();
  }

  std::vector<Refusal> check(const AdmissionChanges& desired) {
    check_reserved(desired);
    // Objects that Slackline never queues are only judged by kube-scheduler.
    if (!is_judged(review_) || !foreign_scheduler(review_, facts_).empty())
      return std::move(refusals_);
    check_readable();
    check_deadline();
    check_urgent();
    check_right_to_queue();
    check_dependencies();
    check_queue();
    return std::move(refusals_);
  }

  // Of what a controller of Kubernetes copies from a template.
  std::vector<Refusal> check_copy() {
    check_queue();
    return std::move(refusals_);
  }

 private:
  void collect_changes() {
    static const Labels kNone;
    if (const ReviewedJob* job = job_in(review_)) {
      const ReviewedJob* old = old_job_in(review_);
      own_ = changes_between(old != nullptr ? old->keys.annotations : kNone, job->keys.annotations);
      template_ = changes_between(old != nullptr ? old->pod.keys.annotations : kNone,
                                  job->pod.keys.annotations);
    } else if (const ReviewedPod* pod = pod_in(review_)) {
      const ReviewedPod* old = old_pod_in(review_);
      own_ = changes_between(old != nullptr ? old->facts.keys.annotations : kNone,
                             pod->facts.keys.annotations);
    }
  }

  bool changed(std::string_view key) const {
    const auto is = [&](const Change& change) { return change.key == key; };
    return std::any_of(own_.begin(), own_.end(), is) ||
           std::any_of(template_.begin(), template_.end(), is);
  }

  void refuse(ReasonCode reason, std::string message) {
    refusals_.push_back({reason, std::move(message)});
  }

  void check_reserved(const AdmissionChanges& desired) {
    const auto wanted = [](const Labels& labels, const Change& change) {
      const std::string* value = find_label(labels, change.key);
      return value != nullptr && change.after != nullptr && *value == *change.after;
    };
    for (const Change& change : own_) {
      const bool may_be = change.key == contract::kAdmitted
                              ? desired.admitted || carries_proof(review_, facts_)
                          : change.key == contract::kOriginal ? notes_what_is_wanted(change)
                                                              : wanted(desired.annotations, change);
      if (is_ours(change) && !may_be) refusals_.push_back(reserved_key(change.key));
    }
    for (const Change& change : template_)
      if (contract::reserved(change.key) && !wanted(desired.template_annotations, change))
        refusals_.push_back(reserved_key(change.key));
  }

  // What a running Job is to be at its next start: its owner's to say.
  bool notes_what_is_wanted(const Change& change) const {
    const ReviewedJob* old = old_job_in(review_);
    return old != nullptr && runs_by_plan(*old) && change.after != nullptr &&
           job_in(review_)->job.original != nullptr;
  }

  bool is_ours(const Change& change) const {
    if (contract::reserved(change.key)) return true;
    // Whose deadline it is once the Job is admitted; a deadline itself people may move.
    const ReviewedJob* old = old_job_in(review_);
    return change.key == contract::kDeadlineBasis && old != nullptr && is_in_care(*old) &&
           !changed(contract::kDeadline) && !changed(contract::kQosClass) &&
           !changed(contract::kDeadlineAfter);
  }

  void check_readable() {
    for (const std::string& problem : intent_.problems) {
      const std::string_view key = key_of(problem);
      if (!must_read(key) || !(creates_ || changed(key))) continue;
      if (key == contract::kQosClass)
        refuse(reason::kUnknownClass, problem);
      else
        refuse(reason::kUnreadable, problem);
    }
  }

  void check_deadline() {
    // An urgent task is due at its creation: its own deadline has always passed.
    if (!intent_.deadline_s || intent_.qos_class == QosClass::kUrgent) return;
    if (!creates_ && !changed(contract::kDeadline)) return;
    if (!creates_ && is_of_class()) return;
    // Its controller makes it again from the same template, for as long as it takes.
    if (creates_ && is_of_gang(review_)) return;
    if (*intent_.deadline_s > facts_.now_wall_s) return;
    refuse(reason::kDeadlinePast,
           format("{}: {} is in the past, it is {} now; write a later time, or {}",
                  contract::kDeadline, format_rfc3339(*intent_.deadline_s),
                  format_rfc3339(facts_.now_wall_s), contract::kDeadlineAfter));
  }

  // People took theirs out, and the class gives one: as old as the Job.
  bool is_of_class() const {
    const ReviewedJob* job = job_in(review_);
    return job != nullptr && job->keys.annotation(contract::kDeadlineBasis) != nullptr &&
           changed(contract::kDeadlineBasis) && !changed(contract::kQosClass) &&
           !changed(contract::kDeadlineAfter);
  }

  void check_urgent() {
    if (!asks_for_urgent(review_, facts_) || facts_.urgent == UseRight::kGranted) return;
    if (facts_.urgent == UseRight::kDenied)
      return refuse(reason::kUrgentNotAllowed,
                    format("{}: urgent needs the right to \"use\" qosclasses/urgent of the group "
                           "slackline.dev in namespace {}; ask for it, or write prior or normal",
                           contract::kQosClass, review_.ns));
    refuse(reason::kUrgentNotAllowed,
           format("{}: the API server could not be asked whether you may use "
                  "urgent ({}); try again, or write prior or normal",
                  contract::kQosClass, printable(facts_.urgent_detail, 120)));
  }

  void check_right_to_queue() {
    const std::string queue = queue_to_use(review_, facts_);
    if (queue.empty() || facts_.queue == UseRight::kGranted) return;
    const std::string shown = printable(queue, 64);
    if (facts_.queue == UseRight::kDenied)
      return refuse(reason::kQueueNotAllowed,
                    format("{}: the configuration has a queue {}, which needs the right to \"use\" "
                           "queues/{} of the group slackline.dev in namespace {}; ask for it, or "
                           "leave the label out",
                           contract::kGate, shown, shown, review_.ns));
    refuse(reason::kQueueNotAllowed,
           format("{}: the API server could not be asked whether you may use queue {} ({}); try "
                  "again, or leave the label out",
                  contract::kGate, shown, printable(facts_.queue_detail, 120)));
  }

  // Only among the Jobs in the cache; a cycle that arises otherwise waits with that reason.
  void check_dependencies() {
    const ReviewedJob* job = job_in(review_);
    if (job == nullptr || !facts_.trusted || !(creates_ || changed(contract::kDependsOn))) return;
    const auto cycle = core::dependency_cycle(*facts_.snapshot, {review_.ns, job->job.key.name},
                                              intent_.depends_on);
    if (!cycle.empty())
      refuse(reason::kDependencyCycle,
             format("{}: {} would wait for each other forever; remove one of them",
                    contract::kDependsOn, printable(join(cycle, " -> "), 200)));
  }

  void check_queue() {
    const std::string queue = queue_to_count(review_, facts_);
    if (queue.empty() || facts_.pending_in_queue < facts_.max_pending) return;
    refuse(
        reason::kQueueFull,
        format("queue {}: {} tasks wait there and its maxPending is {}; try again when some have "
               "started, or name a queue with room that you may use",
               printable(queue, 64), facts_.pending_in_queue, facts_.max_pending));
  }

  const AdmissionReview& review_;
  const AdmissionFacts& facts_;
  const bool creates_;
  const TaskIntent intent_;
  std::vector<Change> own_;
  std::vector<Change> template_;
  std::vector<Refusal> refusals_;
};

}  // namespace

std::vector<Refusal> find_refusals(const AdmissionReview& review, const AdmissionFacts& facts,
                                   const AdmissionChanges& desired) {
  Checker checker(review, facts);
  return may_write_our_keys(review, facts) ? checker.check_copy() : checker.check(desired);
}

std::vector<std::string> harmless_problems(const AdmissionReview& review) {
  std::vector<std::string> problems = intent_of(review).problems;
  std::erase_if(problems, [](const std::string& problem) { return must_read(key_of(problem)); });
  return problems;
}

}  // namespace slackline::control
