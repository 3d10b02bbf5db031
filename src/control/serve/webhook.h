// Webhook: the admission webhook of one daemon. It gathers what a decision is taken on, takes it
// (admission.h), and does what the mode allows: nothing in shadow mode, warnings in advise mode
// (what would be refused included), everything in active mode.
//
// It asks the API server only whether a user may use the class `urgent`, or a configured
// queue, at most every ten seconds a user and namespace; without an answer these are
// refused, and only these.
//
// Thread-safety: any method from any thread; answer() may block for cluster::kReviewTimeout_s.
#pragma once

#include <string>

#include "control/serve/extender.h"
#include "control/serve/recent_admissions.h"
#include "control/trust/rights.h"
#include "message/admission_review.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/model/mac.h"

namespace slackline::cluster {
class Reviewer;
class ClusterSource;
}  // namespace slackline::cluster

namespace slackline::control {

struct AdmissionFacts;
struct Settings;

// Where pods reach REST.
struct WorkloadDoor {
  std::string url{};                               // empty: they are not told
  const Published<std::string>* ca_pem = nullptr;  // whom they trust there; null: known otherwise
};

class Webhook {
 public:
  // `reviewer` is null where the cluster source is read-only: then urgent is refused. Without an
  // authenticator nothing is proven. All references outlive it.
  Webhook(const Published<Settings>& settings, const DecisionOptions& decisions,
          const Published<Known>& known, const cluster::ClusterSource& source,
          cluster::Reviewer* reviewer, const Clock& clock,
          const MessageAuthenticator* authenticator = nullptr, WorkloadDoor door = {});

  AdmissionDecision answer(const AdmissionReview& review, AdmissionStage stage);
  // What active mode would say of an object that is created now, whether or not its namespace is
  // managed. Nothing is noted; that its user may use what it names is assumed.
  AdmissionDecision foretell(const AdmissionReview& review);

 private:
  AdmissionFacts gather(const AdmissionReview& review, const ClusterSnapshot& snapshot,
                        const Known& known, const Settings& settings);
  void ask_for_urgent(const AdmissionReview& review, AdmissionFacts& facts);
  void ask_for_queue(const AdmissionReview& review, AdmissionFacts& facts);

  const Published<Settings>& settings_;
  const DecisionOptions& decisions_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  const Clock& clock_;
  const MessageAuthenticator* const authenticator_;
  const WorkloadDoor door_;
  Rights rights_;
  RecentAdmissions recent_;
};

}  // namespace slackline::control
