// What the webhook answers, as a pure function of the review and what is known
// (docs/OPERATIONS.md, "The admission webhook").
//
// Two stages see a request, as the API server has them. *Mutate* comes first and makes the changes;
// it refuses what must not get so far. *Validate* sees the object as it will be stored: it refuses
// the same things once more, because others change objects too, judges updates, and gives the
// warnings. Every rule is idempotent: a second pass over our own result changes and refuses
// nothing.
//
// An update is judged by the object before and after it: what is in our care stays so until it was
// bound, has finished or is deleted, whichever label is taken off in the same update. What was
// allowed is proven by the annotation `admitted` (admission_proof.h).
//
// Queued at its creation is a Job that requests a configured GPU resource and whose controller is
// none or a CronJob. Left alone are Jobs of Kueue, of other controllers, with gates or a scheduling
// group in their template, and those that somebody else suspended; nothing is said about them, but
// nobody may write our keys. Which namespaces are asked about at all, the webhook configuration's
// namespaceSelector says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/model/admission.h"
#include "slackline/model/mac.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {
class Predictor;
}

namespace slackline::control {

enum class AdmissionStage { kMutate, kValidate };

// Whether this user may `use` qosclasses/urgent in the namespace.
enum class UrgentRight { kGranted, kDenied, kUnknown };

// What a decision is taken on. Pointers are required and outlive the call.
struct AdmissionFacts {
  const ClusterSnapshot* snapshot = nullptr;
  const GpuCatalog* catalog = nullptr;
  const core::Predictor* predictor = nullptr;
  bool trusted = true;         // the snapshot may be believed; else nothing is predicted from it
  double now_s = 0;            // epoch seconds
  double theta = 1.0;          // 000 eq 10
  std::string scheduler_name;  // replaces default-scheduler; empty = never
  std::string own_user;        // who may write our keys
  const MessageAuthenticator* authenticator = nullptr;  // of proofs; null or without a key: none
  std::string nonce;                                    // of the proof that may be written
  UrgentRight urgent = UrgentRight::kUnknown;
  std::string urgent_detail;          // why it is unknown
  std::int64_t max_pending = 0;       // 0 = no limit
  std::int64_t pending_in_queue = 0;  // tasks that wait in its queue, itself not counted
};

AdmissionDecision decide_admission(const AdmissionReview& review, AdmissionStage stage,
                                   const AdmissionFacts& facts);

// True where the decision will look at AdmissionFacts::urgent.
bool asks_for_urgent(const AdmissionReview& review, const AdmissionFacts& facts);

// The queue whose waiting tasks are to be counted; empty where the decision will not look at them.
std::string queue_to_count(const AdmissionReview& review, const AdmissionFacts& facts);

}  // namespace slackline::control
