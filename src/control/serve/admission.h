// The webhook's decision, as a pure function of the review and the facts (docs/OPERATIONS.md, "The
// admission webhook").
//
// Two stages see a request, as the API server has them. *Mutate* comes first and makes the changes;
// it refuses what must not get further. *Validate* sees the object as it will be stored: it refuses
// the same again, because others change objects, too, judges updates, and gives the warnings. Every
// rule is idempotent: a second pass over Slackline's own result changes and refuses nothing.
//
// An update is judged by the object before and after it: a managed object stays managed until it
// was bound, has finished or is deleted, whichever label the same update removes. What was allowed
// is proven by the annotation `admitted` (admission_rules.h).
//
// A Job is queued when it is created if it requests a configured GPU resource and has no controller
// or a CronJob. Jobs of Kueue, of other controllers, with gates or a scheduling group in their
// template, and those that somebody else suspended are left alone, without a warning; but nobody
// may write Slackline's keys. The Jobs of a JobSet are judged and counted for their pods, and not
// changed. The namespaceSelector of the webhook configuration says which
// namespaces it covers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "message/admission_review.h"
#include "slackline/core/cluster/situation.h"
#include "slackline/model/mac.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {
class Predictor;
}

namespace slackline::control {

struct WrittenBook;

// Whether this user may `use` something of the group slackline.dev in the namespace.
enum class UseRight { kGranted, kDenied, kUnknown };

// The input of a decision. Pointers are required and outlive the call.
// Nothing is predicted from a snapshot that is not trusted.
struct AdmissionFacts : core::Situation {
  const ClusterSnapshot* snapshot = nullptr;
  std::string scheduler_name{};                         // replaces default-scheduler; empty = never
  std::vector<std::string> scheduler_names{};           // that call us; empty: any may be
  std::string own_user{};                               // may write Slackline's keys
  const MessageAuthenticator* authenticator = nullptr;  // signs proofs; null or without a key: none
  std::string nonce{};                                  // of the proof that may be written
  std::string workload_url{};            // where pods reach REST; empty: they are not told
  std::string workload_ca{};             // PEM that they trust there; empty: they know it otherwise
  UseRight urgent = UseRight::kUnknown;  // qosclasses/urgent
  std::string urgent_detail{};           // why it is unknown
  UseRight queue = UseRight::kUnknown;   // queues/NAME
  std::string queue_detail{};            // the same
  std::shared_ptr<const WrittenBook> book{};  // null: how shares are used is not known
  std::int64_t max_pending = 0;               // 0 = no limit
  std::int64_t pending_in_queue = 0;          // tasks of its account that wait, without itself
};

AdmissionDecision decide_admission(const AdmissionReview& review, AdmissionStage stage,
                                   const AdmissionFacts& facts);

// The scheduler that a new object names, where that never asks Slackline: it is left to it, and no
// rule of the queue counts. Empty: none.
std::string foreign_scheduler(const AdmissionReview& review, const AdmissionFacts& facts);

// True if the decision reads AdmissionFacts::urgent.
bool asks_for_urgent(const AdmissionReview& review, const AdmissionFacts& facts);

// The configured queue that the object would be counted for, though it is not its namespace: the
// decision reads AdmissionFacts::queue. Empty: there is none.
std::string queue_to_use(const AdmissionReview& review, const AdmissionFacts& facts);

// The account (model/queue_rules.h) whose waiting tasks must be counted; empty if the decision does
// not need them.
std::string queue_to_count(const AdmissionReview& review, const AdmissionFacts& facts);

}  // namespace slackline::control
