#include "control/serve/webhook.h"

#include <utility>

#include "cluster/watch/source.h"
#include "control/query/written_book.h"
#include "control/serve/admission.h"
#include "control/serve/admission_rules.h"
#include "control/serve/admission_scope.h"
#include "control/state/present_situation.h"
#include "control/state/settings.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

// In advise mode there are only warnings.
AdmissionDecision only_advice(AdmissionDecision decision) {
  if (decision.refusal)
    decision.warnings.push_back(format("in active mode this would be refused: {} ({})",
                                       decision.refusal->message, decision.refusal->reason.str()));
  decision.refusal.reset();
  decision.changes = {};
  return decision;
}

UseRight right_of(Rights::Verdict verdict) {
  if (verdict == Rights::Verdict::kAllowed) return UseRight::kGranted;
  return verdict == Rights::Verdict::kForbidden ? UseRight::kDenied : UseRight::kUnknown;
}

// Whether its user may `use` this of the group slackline.dev; `why`, where that cannot be told.
UseRight may_use(Rights& rights, const AdmissionReview& review, std::string resource,
                 std::string name, std::string& why) {
  Rights::Answer answer = rights.may(
      review.user,
      {.verb = "use", .resource = std::move(resource), .ns = review.ns, .name = std::move(name)});
  const UseRight right = right_of(answer.verdict);
  if (right == UseRight::kUnknown) why = std::move(answer.detail);
  return right;
}

// An object whose name is generated has none before it is validated.
WaitingTask task_in(const AdmissionReview& review) {
  const ReviewedPod* pod = pod_in(review);
  const ReviewedJob* job = job_in(review);
  WaitingTask task = pod != nullptr   ? waiting_task_of(pod->pod)
                     : job != nullptr ? waiting_task_of(job->job)
                                      : WaitingTask{"Job", ObjectKey()};
  task.key.ns = review.ns;
  return task;
}

}  // namespace

Webhook::Webhook(const Published<Settings>& settings, const DecisionOptions& decisions,
                 const Published<Known>& known, const cluster::ClusterSource& source,
                 cluster::Reviewer* reviewer, const Clock& clock,
                 const MessageAuthenticator* authenticator, WorkloadDoor door)
    : settings_(settings),
      decisions_(decisions),
      known_(known),
      source_(source),
      clock_(clock),
      authenticator_(authenticator),
      door_(std::move(door)),
      rights_(reviewer, clock) {}

AdmissionFacts Webhook::gather(const AdmissionReview& review, const ClusterSnapshot& snapshot,
                               const Known& known, const Settings& settings) {
  AdmissionFacts facts{situation_of(decisions_.catalog, settings.theta, known, source_, clock_)};
  facts.snapshot = &snapshot;
  facts.queues = &settings.queues;
  if (decisions_.portraits != nullptr) facts.portraits = decisions_.portraits->get();
  facts.scheduler_name = settings.scheduler_name;
  facts.scheduler_names = decisions_.scheduler_names;
  facts.own_user = settings.own_user;
  facts.authenticator = authenticator_;
  facts.workload_url = door_.url;
  if (door_.ca_pem != nullptr) facts.workload_ca = *door_.ca_pem->get();
  if (authenticator_ != nullptr && needs_proof(review)) facts.nonce = authenticator_->nonce();
  if (decisions_.books != nullptr) facts.book = decisions_.books->get();
  facts.max_pending =
      settings.queues.of(queue_of(intent_of(review), review.ns), review.ns).max_pending;
  if (const std::string account = queue_to_count(review, facts); !account.empty())
    facts.pending_in_queue = recent_.waiting_in({account, settings.queues}, snapshot,
                                                task_in(review), clock_.steady_s());
  return facts;
}

void Webhook::ask_for_urgent(const AdmissionReview& review, AdmissionFacts& facts) {
  if (!asks_for_urgent(review, facts)) return;
  facts.urgent = may_use(rights_, review, "qosclasses", std::string(to_string(QosClass::kUrgent)),
                         facts.urgent_detail);
}

void Webhook::ask_for_queue(const AdmissionReview& review, AdmissionFacts& facts) {
  const std::string queue = queue_to_use(review, facts);
  if (!queue.empty()) facts.queue = may_use(rights_, review, "queues", queue, facts.queue_detail);
}

AdmissionDecision Webhook::answer(const AdmissionReview& review, AdmissionStage stage) {
  const Mode mode = decisions_.mode;
  const bool mutates = stage == AdmissionStage::kMutate;
  if (mode == Mode::kShadow || (mode == Mode::kAdvise && mutates)) return {};
  const SnapshotPtr snapshot = source_.snapshot();
  const KnownPtr known = known_.get();
  AdmissionFacts facts = gather(review, *snapshot, *known, *settings_.get());
  ask_for_urgent(review, facts);
  ask_for_queue(review, facts);
  AdmissionDecision decision = decide_admission(review, stage, facts);
  if (mode == Mode::kAdvise) return only_advice(std::move(decision));
  // Validation is the last step before the object is stored.
  if (const std::string account = queue_to_count(review, facts);
      !account.empty() && !mutates && !decision.refusal && !review.dry_run)
    recent_.note(account, task_in(review), review.operation == AdmissionOperation::kUpdate,
                 clock_.steady_s());
  return decision;
}

AdmissionDecision Webhook::foretell(const AdmissionReview& review) {
  const SnapshotPtr snapshot = source_.snapshot();
  const KnownPtr known = known_.get();
  AdmissionFacts facts = gather(review, *snapshot, *known, *settings_.get());
  facts.urgent = facts.queue = UseRight::kGranted;
  AdmissionDecision decision = decide_admission(review, AdmissionStage::kMutate, facts);
  return decision.refusal ? decision : decide_admission(review, AdmissionStage::kValidate, facts);
}

}  // namespace slackline::control
