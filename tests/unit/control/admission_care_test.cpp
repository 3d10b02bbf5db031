// Managed objects stay managed, and what was allowed is proven.
#include "admission_case.h"
#include "control/serve/admission_rules.h"
#include "support/fake_mac.h"
#include "wire/kube/admitted_codec.h"

namespace slackline::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kUrgent = R"("slackline.dev/qos-class":"urgent")";
constexpr const char* kOurs = R"("slackline.dev/suspended-by":"slackline")";

class AdmissionCareTest : public AdmissionTest {
 protected:
  AdmissionCareTest() {
    facts.authenticator = &mac;
    facts.nonce = "nonce-0";
  }

  // A Job in Slackline's queue; without the label in its template if `labelled` is false.
  static ReviewText waiting(const std::string& pairs, bool labelled = true) {
    ReviewText text = job(std::string(kOurs) + (pairs.empty() ? "" : "," + pairs));
    text.spec = R"("suspend":true)";
    if (labelled) text.template_metadata = kAdmitted;
    return text;
  }
  static ReviewText change(const ReviewText& old, ReviewText after) {
    after.operation = "UPDATE";
    after.old_object = test::job_text(old);
    return after;
  }
  // A pod behind Slackline's gate.
  static ReviewText gated(const std::string& pairs) {
    ReviewText text;
    text.metadata = std::string(kAdmitted) + "," + annotations(pairs);
    text.pod_spec = R"("schedulingGates":[{"name":"slackline.dev/queue"}])";
    return text;
  }
  static ReviewText change_pod(const ReviewText& old, ReviewText after) {
    after.operation = "UPDATE";
    after.old_object = test::pod_text(old);
    return after;
  }
  static std::string queue_label(const std::string& queue) {
    return R"("labels":{"slackline.dev/queue":")" + queue + R"("})";
  }
  std::string proof(QosClass qos, const std::string& queue, const std::string& user = "jane",
                    const std::string& ns = "team-a") const {
    const std::string text =
        wire::encode_admitted(sign_admission(mac, ns, user, qos, queue, "nonce-7"));
    std::string escaped;
    for (const char c : text)
      escaped += c == '"' ? "\\\"" : std::string(1, c);
    return R"("slackline.dev/admitted":")" + escaped + '"';
  }
  std::string queue_of_update(const ReviewText& text) {
    facts.max_pending = 1;
    return queue_to_count(decoded(test::job_review_text(text)), facts);
  }

  test::FakeMac mac;
};

// ---- rights on both objects --------------------------------------------------------------------

TEST_F(AdmissionCareTest, AJobCannotBecomeUrgentByLosingItsLabel) {
  facts.urgent = UseRight::kDenied;
  const ReviewText dropped = change(waiting(""), waiting(kUrgent, false));
  EXPECT_THAT(refusal(dropped), HasSubstr("UrgentNotAllowed"));
  const AdmissionDecision decision = mutate(dropped);
  EXPECT_THAT(decision.changes.template_labels, ElementsAre(Pair("slackline.dev/managed", "true")));
  EXPECT_THAT(decision.warnings, ElementsAre(HasSubstr("label and gate stay")));
  EXPECT_THAT(refusal(change(waiting("", false), waiting(kUrgent))), HasSubstr("UrgentNotAllowed"))
      << "putting it back";
  ReviewText outside = job(kUrgent);
  outside.spec = R"("suspend":true)";
  ReviewText taken_in = outside;
  taken_in.template_metadata = kAdmitted;
  EXPECT_THAT(refusal(change(outside, taken_in)), HasSubstr("UrgentNotAllowed"))
      << "urgent before, but nobody had judged it";
}

TEST_F(AdmissionCareTest, APodCannotBecomeUrgentByLosingItsLabel) {
  facts.urgent = UseRight::kDenied;
  ReviewText after = gated(kUrgent);
  after.metadata = annotations(kUrgent);
  after.pod_spec = R"("schedulerName":"gpu-scheduler")";
  const ReviewText dropped = change_pod(gated(""), after);
  const auto refused = validate_pod(dropped).refusal;
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason.str(), "UrgentNotAllowed");
  const AdmissionChanges changes = mutate_pod(dropped).changes;
  EXPECT_TRUE(changes.gate);
  EXPECT_THAT(changes.labels, ElementsAre(Pair("slackline.dev/managed", "true")));
}

TEST_F(AdmissionCareTest, WhatHasRunIsNotHeldBackAgain) {
  ReviewText old = gated("");
  old.pod_spec = R"("nodeName":"gpu-1")";
  ReviewText after = old;
  after.metadata = annotations("");
  EXPECT_EQ(mutate_pod(change_pod(old, after)).changes, AdmissionChanges());
  ReviewText lifted = gated("");
  lifted.pod_spec = R"("schedulerName":"gpu-scheduler")";
  lifted.user = kUs;
  EXPECT_EQ(mutate_pod(change_pod(gated(""), lifted)).changes, AdmissionChanges())
      << "we lift our gate ourselves";
}

TEST_F(AdmissionCareTest, MovingAJobToAnotherQueueIsCountedThere) {
  ReviewText moved = waiting("");
  moved.metadata += "," + queue_label("vision");
  const ReviewText update = change(waiting(""), moved);
  EXPECT_EQ(queue_of_update(update), "vision");
  EXPECT_EQ(queue_of_update(change(moved, moved)), "") << "it is there already";
  facts.pending_in_queue = 1;
  EXPECT_THAT(refusal(update), HasSubstr("QueueFull: queue vision: 1 tasks wait"));
}

TEST_F(AdmissionCareTest, BarePodsFillAQueue) {
  facts.max_pending = 1;
  const auto counted = [&](const ReviewText& text) {
    return queue_to_count(decoded(test::pod_review_text(text)), facts);
  };
  EXPECT_EQ(counted({}), "team-a");
  ReviewText moved = gated("");
  moved.metadata = R"("labels":{"slackline.dev/managed":"true","slackline.dev/queue":"vision"})";
  EXPECT_EQ(counted(change_pod(gated(""), moved)), "vision");
  ReviewText of_a_job = gated("");
  of_a_job.metadata +=
      R"(,"ownerReferences":[{"kind":"Job","name":"j","uid":"1","controller":true}])";
  EXPECT_EQ(counted(of_a_job), "") << "its Job is counted";
}

// ---- the proof ---------------------------------------------------------------------------------

TEST_F(AdmissionCareTest, WhatIsAdmittedIsSigned) {
  ReviewText text = job(R"("slackline.dev/qos-class":"prior")");
  text.metadata += "," + queue_label("vision");
  const auto admitted = mutate(text).changes.admitted;
  ASSERT_TRUE(admitted);
  EXPECT_EQ(admitted->submitter, "jane");
  EXPECT_EQ(admitted->qos_class, QosClass::kPrior);
  EXPECT_EQ(admitted->queue, "vision");
  EXPECT_TRUE(is_authentic(*admitted, "team-a", mac));
  EXPECT_FALSE(is_authentic(*admitted, "team-b", mac));
  EXPECT_FALSE(is_authentic(*admitted, "team-a", test::FakeMac("another key")));
  EXPECT_TRUE(mutate_pod({}).changes.admitted) << "a bare pod";
  ReviewText of_gang;
  of_gang.metadata = R"("labels":{"jobset.sigs.k8s.io/jobset-name":"llm"},"ownerReferences":[{)"
                     R"("apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"t5","uid":"1",)"
                     R"("controller":true}])";
  EXPECT_TRUE(mutate_pod(of_gang).changes.admitted);
  const std::string torch = R"("apiVersion":"kubeflow.org/v1","kind":"PyTorchJob")";
  of_gang.metadata.replace(of_gang.metadata.find(torch), torch.size(),
                           R"("apiVersion":"batch/v1","kind":"Job")");
  EXPECT_TRUE(mutate_pod(of_gang).changes.gate);
  EXPECT_FALSE(mutate_pod(of_gang).changes.admitted)
      << "the Job controller makes it: nobody was asked whether it may be urgent";
  mac.use("");
  EXPECT_FALSE(mutate(text).changes.admitted);
}

// The Job controller makes its pods: whoever makes the Job is asked.
TEST_F(AdmissionCareTest, TheJobOfAJobSetHasTheProofOfItsPods) {
  const auto of_set = [](const std::string& pairs) {
    ReviewText text;
    text.user = "system:serviceaccount:jobset-system:jobset-controller-manager";
    text.metadata = R"("ownerReferences":[{"apiVersion":"jobset.x-k8s.io/v1alpha2",)"
                    R"("kind":"JobSet","name":"llm","uid":"1","controller":true}])";
    text.template_metadata = annotations(pairs);
    return text;
  };
  const ReviewText urgent = of_set(kUrgent);
  EXPECT_TRUE(asks_for_urgent(decoded(test::job_review_text(urgent)), facts));
  facts.urgent = UseRight::kDenied;
  EXPECT_THAT(refusal(urgent), HasSubstr("UrgentNotAllowed"));
  facts.urgent = UseRight::kGranted;
  EXPECT_EQ(refusal(urgent), "allowed");
  AdmissionChanges changes = mutate(urgent).changes;
  ASSERT_TRUE(changes.admitted);
  EXPECT_EQ(changes.admitted->qos_class, QosClass::kUrgent);
  changes.admitted.reset();
  EXPECT_EQ(changes, AdmissionChanges()) << "its controller alone says when it runs";
  EXPECT_EQ(refusal(of_set(R"("slackline.dev/deadline":"2020-01-01T00:00:00Z")")), "allowed")
      << "it is made again from the same template";
  ReviewText of_another = urgent;
  of_another.metadata = R"("ownerReferences":[{"apiVersion":"x/v1","kind":"TrialSet",)"
                        R"("name":"llm","uid":"1","controller":true}])";
  EXPECT_EQ(mutate(of_another).changes, AdmissionChanges());
}

TEST_F(AdmissionCareTest, WhatAControllerOfKubernetesCopiesTakesNoConfiguredQueue) {
  QueueRulebook queues;
  queues.named["vision"].shares = {{"K80", {8, 0}}};
  facts.queues = &queues;
  facts.queue = UseRight::kGranted;
  const auto in_queue = [](const std::string& queue) {
    ReviewText text;
    text.user = "system:serviceaccount:kube-system:statefulset-controller";
    text.metadata = R"("labels":{"leaderworkerset.sigs.k8s.io/name":"vllm",)"
                    R"("leaderworkerset.sigs.k8s.io/group-index":"0","slackline.dev/queue":")" +
                    queue +
                    R"("},"ownerReferences":[{"apiVersion":"apps/v1",)"
                    R"("kind":"StatefulSet","name":"vllm","uid":"1","controller":true}])";
    return text;
  };
  EXPECT_TRUE(mutate_pod(in_queue("vision")).changes.gate);
  EXPECT_FALSE(mutate_pod(in_queue("vision")).changes.admitted) << "nobody was asked";
  EXPECT_TRUE(mutate_pod(in_queue("a-tag")).changes.admitted);
}

TEST_F(AdmissionCareTest, OurOwnProofPassesAndIsNotWrittenTwice) {
  const ReviewText text = job(proof(QosClass::kNormal, "team-a"));
  EXPECT_EQ(refusal(text), "allowed");
  EXPECT_FALSE(mutate(text).changes.admitted);
}

TEST_F(AdmissionCareTest, AnothersProofIsReplacedAndNeverStored) {
  for (const std::string& forged :
       {proof(QosClass::kNormal, "team-a", "bob"), proof(QosClass::kNormal, "team-a", "jane", "b"),
        proof(QosClass::kPrior, "team-a"), proof(QosClass::kNormal, "vision"),
        std::string(R"("slackline.dev/admitted":"{}")")}) {
    const AdmissionDecision decision = mutate(job(forged));
    EXPECT_FALSE(decision.refusal) << forged;
    ASSERT_TRUE(decision.changes.admitted) << forged;
    const auto refused = validate(job(forged)).refusal;
    ASSERT_TRUE(refused) << forged;
    EXPECT_THAT(refused->message, HasSubstr("slackline.dev/admitted: only Slackline writes it"));
  }
}

TEST_F(AdmissionCareTest, ACopyOfAProofIsReplaced) {
  Job other = test::a_job("team-a/other").gpus(1).waiting().build();
  other.admitted = std::make_shared<const AdmittedNote>(
      sign_admission(mac, "team-a", "jane", QosClass::kNormal, "team-a", "nonce-7"));
  snapshot.jobs = {std::make_shared<const Job>(std::move(other))};
  EXPECT_TRUE(mutate(job(proof(QosClass::kNormal, "team-a"))).changes.admitted);
  EXPECT_TRUE(validate(job(proof(QosClass::kNormal, "team-a"))).refusal);
}

TEST_F(AdmissionCareTest, AnotherClassOrQueueIsProvenAnew) {
  const std::string old = proof(QosClass::kNormal, "team-a");
  const ReviewText same = change(waiting(old), waiting(old + R"(,"note":"hello")"));
  EXPECT_EQ(mutate(same).changes, AdmissionChanges());
  EXPECT_EQ(refusal(same), "allowed");
  const ReviewText prior =
      change(waiting(old), waiting(old + R"(,"slackline.dev/qos-class":"prior")"));
  const auto written = mutate(prior).changes.admitted;
  ASSERT_TRUE(written);
  EXPECT_EQ(written->qos_class, QosClass::kPrior);
  const ReviewText stored = change(waiting(old), waiting(proof(QosClass::kPrior, "team-a") +
                                                         R"(,"slackline.dev/qos-class":"prior")"));
  EXPECT_EQ(refusal(stored), "allowed");
  EXPECT_THAT(refusal(change(waiting(old), waiting(""))), HasSubstr("slackline.dev/admitted"));
}

TEST_F(AdmissionCareTest, UrgentIsSignedOnlyWhereItWasGranted) {
  facts.urgent = UseRight::kDenied;
  EXPECT_FALSE(mutate(job(kUrgent)).changes.admitted);
  // Urgent while nobody judged it; now it moves to another queue.
  ReviewText moved = waiting(kUrgent);
  moved.metadata += "," + queue_label("vision");
  EXPECT_THAT(refusal(change(waiting(kUrgent), moved)), HasSubstr("UrgentNotAllowed"));
  EXPECT_FALSE(mutate(change(waiting(kUrgent), moved)).changes.admitted);
  const std::string proven = std::string(kUrgent) + "," + proof(QosClass::kUrgent, "team-a");
  ReviewText moved_proven = waiting(proven);
  moved_proven.metadata += "," + queue_label("vision");
  EXPECT_FALSE(asks_for_urgent(
      decoded(test::job_review_text(change(waiting(proven), moved_proven))), facts));
  EXPECT_TRUE(mutate(change(waiting(proven), moved_proven)).changes.admitted);
}

TEST_F(AdmissionCareTest, ADryRunProvesNothing) {
  AdmissionReview dry = decoded(test::job_review_text());
  dry.dry_run = true;
  EXPECT_FALSE(decide_admission(dry, AdmissionStage::kMutate, facts).changes.admitted);
}

TEST_F(AdmissionCareTest, TheProofOfAJobIsNotOnItsPods) {
  ReviewText text = gated("");
  text.user = kJobController;
  text.metadata += R"(,"ownerReferences":[{"kind":"Job","name":"j","uid":"1","controller":true}])";
  EXPECT_FALSE(mutate_pod(text).changes.admitted);
}

}  // namespace
}  // namespace slackline::control
