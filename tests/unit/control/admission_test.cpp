#include "admission_case.h"

namespace slackline::control {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

TEST_F(AdmissionTest, AManagedJobIsSuspendedAndLabelled) {
  const AdmissionChanges changes = mutate({}).changes;
  EXPECT_TRUE(changes.suspend);
  EXPECT_THAT(changes.annotations, ElementsAre(Pair("slackline.dev/suspended-by", "slackline")));
  EXPECT_THAT(changes.template_labels, ElementsAre(Pair("slackline.dev/managed", "true")));
  EXPECT_EQ(changes.scheduler_name, "") << "a template keeps it for good, its pods are given it";
  EXPECT_THAT(changes.env, IsEmpty());
  EXPECT_THAT(changes.template_annotations, IsEmpty());
}

TEST_F(AdmissionTest, DisruptionsCountAsNoFailuresUnlessTheJobSaysSo) {
  ReviewText text;
  text.pod_spec = R"("restartPolicy":"Never")";
  EXPECT_TRUE(mutate(text).changes.ignore_disruptions);
  text.spec = R"("podFailurePolicy":{"rules":[]})";
  EXPECT_FALSE(mutate(text).changes.ignore_disruptions);
  text = job(R"("slackline.dev/pod-failure-policy":"off")");
  text.pod_spec = R"("restartPolicy":"Never")";
  EXPECT_FALSE(mutate(text).changes.ignore_disruptions);
  text.metadata = annotations(R"("slackline.dev/pod-failure-policy":"auto")");
  EXPECT_TRUE(mutate(text).changes.ignore_disruptions);
  text.pod_spec = R"("restartPolicy":"OnFailure")";
  EXPECT_FALSE(mutate(text).changes.ignore_disruptions) << "the API server would refuse it";
}

// As `kubectl get job -o yaml` printed it, and somebody replaces it.
TEST_F(AdmissionTest, TheStatusOfANewJobCountsForNothing) {
  const auto suspends = [&](const std::string& operation) {
    ReviewText text;
    text.operation = operation;
    std::string review = test::job_review_text(text);
    const std::string none = R"("status":{})";
    review.replace(review.find(none), none.size(),
                   R"("status":{"startTime":"2020-01-01T00:00:00Z","succeeded":1})");
    return decide(review, AdmissionStage::kMutate).changes.suspend;
  };
  EXPECT_TRUE(suspends("CREATE"));
  EXPECT_FALSE(suspends("UPDATE"));
}

TEST_F(AdmissionTest, APodIsGivenItsSchedulerAndAnotherOneStays) {
  ReviewText text;
  text.user = kJobController;
  text.metadata =
      R"("labels":{"slackline.dev/managed":"true"},)"
      R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"t","uid":"j","controller":true}])";
  EXPECT_EQ(mutate_pod(text).changes.scheduler_name, "gpu-scheduler");
  text.pod_spec = R"("schedulerName":"volcano")";
  EXPECT_EQ(mutate_pod(text).changes.scheduler_name, "");
}

TEST_F(AdmissionTest, ASecondPassOverOurOwnResultChangesAndRefusesNothing) {
  ReviewText text =
      job(R"("slackline.dev/suspended-by":"slackline","slackline.dev/placements":"auto",)"
          R"("slackline.dev/deadline":"2027-01-15T09:00:00Z","slackline.dev/deadline-after":"1h")");
  text.spec = R"("parallelism":1,"suspend":true)";
  text.template_metadata =
      R"("labels":{"slackline.dev/managed":"true"},)" +
      annotations(R"("slackline.dev/nodes":"1","slackline.dev/gpus-per-node":"2")");
  text.pod_spec = R"("schedulerName":"gpu-scheduler")";
  text.container =
      R"(,"env":[{"name":"SLACKLINE_NODES"},{"name":"SLACKLINE_GPUS_PER_NODE"},{"name":"PET_NNODES"},{"name":"PET_NPROC_PER_NODE"}])";
  EXPECT_EQ(refusal(text), "allowed");
  EXPECT_EQ(mutate(text).changes, AdmissionChanges());
}

TEST_F(AdmissionTest, WhatNamesASchedulerThatNeverAsksIsLeftToIt) {
  facts.scheduler_names = {"gpu-scheduler"};
  ReviewText text;
  text.pod_spec = R"("schedulerName":"volcano")";
  EXPECT_EQ(mutate(text).changes, AdmissionChanges());
  EXPECT_THAT(validate(text).warnings,
              ElementsAre(AllOf(HasSubstr("schedulerName: volcano does not ask Slackline"),
                                HasSubstr("write gpu-scheduler"))));
  EXPECT_FALSE(mutate_pod(text).changes.gate);
  facts.max_pending = facts.pending_in_queue = 1;
  text.metadata = annotations(R"("slackline.dev/deadline":"2001-01-01T00:00:00Z")");
  EXPECT_EQ(refusal(text), "allowed") << "no rule of the queue counts";
  EXPECT_EQ(queue_to_count(decoded(test::job_review_text(text)), facts), "");
  text.metadata = annotations(R"("slackline.dev/plan":"{}")");
  EXPECT_THAT(refusal(text), HasSubstr("ReservedKey"));
  facts.max_pending = 0;
  text.metadata = annotations("");
  for (const char* ours : {"gpu-scheduler", "default-scheduler"}) {
    text.pod_spec = format(R"("schedulerName":"{}")", ours);
    EXPECT_TRUE(mutate(text).changes.suspend) << ours;
    EXPECT_TRUE(mutate_pod(text).changes.gate) << ours;
    EXPECT_THAT(validate(text).warnings, Not(Contains(HasSubstr("schedulerName")))) << ours;
  }
}

TEST_F(AdmissionTest, OthersJobsStayAsTheyAre) {
  ReviewText kueue;
  kueue.metadata = R"("labels":{"kueue.x-k8s.io/queue-name":"q"})";
  ReviewText child;
  child.metadata =
      R"("ownerReferences":[{"kind":"JobSet","name":"s","uid":"1","controller":true}])";
  ReviewText gated;
  gated.pod_spec = R"("schedulingGates":[{"name":"example.com/wait"}])";
  ReviewText run_by_another;
  run_by_another.spec = R"("parallelism":1,"completions":1,"managedBy":"example.com/runner")";
  for (const ReviewText& text : {kueue, child, gated, run_by_another})
    EXPECT_EQ(mutate(text).changes, AdmissionChanges()) << test::job_text(text);
  run_by_another.spec =
      R"("parallelism":1,"completions":1,"managedBy":"kubernetes.io/job-controller")";
  EXPECT_TRUE(mutate(run_by_another).changes.suspend);
  std::string without_gpus = test::job_review_text();
  for (std::size_t at; (at = without_gpus.find("nvidia.com/gpu")) != std::string::npos;)
    without_gpus.replace(at, 14, "example.com/x");
  EXPECT_EQ(decide(without_gpus, AdmissionStage::kMutate).changes, AdmissionChanges());
}

// Whoever suspends a Job holds it back, and does not leave the queue.
TEST_F(AdmissionTest, AJobThatIsCreatedSuspendedIsOursAndStaysHeldBack) {
  ReviewText held = job(R"("slackline.dev/deadline-after":"6h")");
  held.spec = R"("suspend":true)";
  const AdmissionChanges changes = mutate(held).changes;
  EXPECT_FALSE(changes.suspend);
  EXPECT_THAT(changes.annotations, ElementsAre(Pair("slackline.dev/deadline", _),
                                               Pair("slackline.dev/deadline-basis", _)));
  EXPECT_THAT(changes.template_labels, ElementsAre(Pair("slackline.dev/managed", "true")));
  EXPECT_THAT(validate(held).warnings, Contains(HasSubstr("you hold the Job back; it joins queue "
                                                          "team-a once you set spec.suspend")));
}

TEST_F(AdmissionTest, OfATimeLimitThatRunsWhilePodsWaitOneIsWarned) {
  ReviewText limited;
  limited.spec = R"("parallelism":2,"completions":2,"activeDeadlineSeconds":40)";
  EXPECT_THAT(validate(limited).warnings,
              Contains(HasSubstr("spec.activeDeadlineSeconds: 40 s count from the turn of the")));
  limited.spec += R"(,"completionMode":"Indexed")";
  EXPECT_THAT(validate(limited).warnings, Not(Contains(HasSubstr("activeDeadlineSeconds"))));
}

TEST_F(AdmissionTest, ARunOfACronJobIsQueued) {
  ReviewText text;
  text.metadata =
      R"("ownerReferences":[{"kind":"CronJob","name":"nightly","uid":"1","controller":true}])";
  EXPECT_TRUE(mutate(text).changes.suspend);
}

TEST_F(AdmissionTest, ADeadlineIsResolvedOnce) {
  EXPECT_THAT(mutate(job(R"("slackline.dev/deadline-after":"6h")")).changes.annotations,
              ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T14:00:00Z"),
                          Pair("slackline.dev/deadline-basis", "deadline-after: 6h00m"),
                          Pair("slackline.dev/suspended-by", "slackline")));
  // What is written stays.
  EXPECT_THAT(mutate(job(R"("slackline.dev/deadline":"2027-02-01T00:00:00Z")")).changes.annotations,
              ElementsAre(Pair("slackline.dev/suspended-by", "slackline")));
  // Nothing known about the speed: no deadline.
  EXPECT_THAT(mutate(job(R"("slackline.dev/model":"resnet50")")).changes.annotations,
              ElementsAre(Pair("slackline.dev/suspended-by", "slackline")));
}

TEST_F(AdmissionTest, TheClassGivesTheDeadlineByTheSpeedOnOneGpu) {
  ReviewText text = job(R"("slackline.dev/model":"resnet50","slackline.dev/batch-size":"64",)"
                        R"("slackline.dev/iterations":"1000","slackline.dev/qos-class":"prior")");
  EXPECT_THAT(mutate(text).changes.annotations,
              ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T08:10:40Z"),
                          Pair("slackline.dev/deadline-basis",
                               "prior: 1 x 10m40s on K80 (" + kind_of_resnet50() + ")"),
                          Pair("slackline.dev/suspended-by", "slackline")));
  text.spec = R"("parallelism":2,"completions":6)";  // of six pods, two at a time
  EXPECT_THAT(
      mutate(text).changes.annotations,
      Contains(Pair("slackline.dev/deadline-basis", HasSubstr("prior: 1 x 32m00s on K80"))));
}

TEST_F(AdmissionTest, ADeadlineOfAClassMovesWithItAfterTheModelWasFittedAgain) {
  const std::string what =
      R"("slackline.dev/model":"resnet50","slackline.dev/batch-size":"64","slackline.dev/iterations":"1000",)"
      R"("slackline.dev/deadline":"2027-01-15T09:00:00Z",)"
      R"x("slackline.dev/deadline-basis":"normal: 2 x 30m on K80 (fitted)")x";
  const ReviewText prior = update(what, what + R"(,"slackline.dev/qos-class":"prior")");
  const AdmissionChanges changes = mutate(prior).changes;
  EXPECT_THAT(changes.annotations,
              ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T08:10:40Z"),
                          Pair("slackline.dev/deadline-basis", HasSubstr("prior: 1 x 10m40s"))));
  EXPECT_EQ(refusal(prior), "allowed");
  EXPECT_THAT(refusal(update(what, what.substr(0, what.rfind(',')))),
              HasSubstr("ReservedKey: slackline.dev/deadline-basis"));
}

// ---- depends-on --------------------------------------------------------------------------------

TEST_F(AdmissionTest, ACycleOfDependenciesIsRefusedByItsName) {
  auto prep = test::a_job("team-a/prep").gpus(1).waiting();
  prep.intent().depends_on = {"train"};
  snapshot = a_cluster().with(prep).build();
  const std::string closes = R"("slackline.dev/depends-on":"prep")";
  EXPECT_THAT(refusal(job(closes)),
              HasSubstr("DependencyCycle: slackline.dev/depends-on: train -> prep -> train"));
  EXPECT_THAT(refusal(update("", closes)), HasSubstr("DependencyCycle"));
  EXPECT_EQ(refusal(update(closes, closes)), "allowed") << "not changed by this update";
  EXPECT_THAT(refusal(job(R"("slackline.dev/depends-on":"Not A Name")")),
              HasSubstr("Unreadable: slackline.dev/depends-on"));
  facts.trusted = false;
  EXPECT_EQ(refusal(job(closes)), "allowed");
}

TEST_F(AdmissionTest, ADependencyThatIsNotThereIsAWarning) {
  EXPECT_THAT(validate(job(R"("slackline.dev/depends-on":"prep, clean")")).warnings,
              ElementsAre(HasSubstr("slackline.dev/depends-on: not there: prep, clean; it waits")));
  snapshot = a_cluster().with(test::a_job("team-a/prep")).build();
  EXPECT_THAT(validate(job(R"("slackline.dev/depends-on":"prep")")).warnings, IsEmpty());
}

TEST_F(AdmissionTest, WhatRanIsNotWarnedOfDependenciesThatAreGone) {
  const auto warnings = [&](const std::string& pairs) {
    const std::string all = R"("slackline.dev/depends-on":"prep")" + pairs;
    return validate(update(all, all + R"(,"slackline.dev/deadline":"2027-01-16T08:00:00Z")"))
        .warnings;
  };
  EXPECT_THAT(warnings(""), Contains(HasSubstr("not there: prep")));
  EXPECT_THAT(warnings(R"(,"slackline.dev/progress":"1/9 at 2027-01-15T07:00:00Z")"),
              Not(Contains(HasSubstr("not there: prep"))));
}

// ---- a Job that waits --------------------------------------------------------------------------

// A Job in Slackline's queue, applied again as it was written.
ReviewText applied_again(const std::string& spec) {
  const std::string ours = R"("slackline.dev/suspended-by":"slackline")";
  ReviewText text = update(ours, ours);
  ReviewText old = job(ours);
  old.template_metadata = kAdmitted;
  old.spec = R"("suspend":true)";
  text.old_object = test::job_text(old);
  text.spec = spec;
  return text;
}

TEST_F(AdmissionTest, AManifestThatSaysNotSuspendedLeavesTheJobInTheQueue) {
  const ReviewText again = applied_again(R"("suspend":false)");
  const AdmissionDecision decision = mutate(again);
  EXPECT_TRUE(decision.changes.suspend);
  EXPECT_THAT(decision.warnings, ElementsAre(HasSubstr("the Job waits in queue team-a")));
  EXPECT_EQ(refusal(again), "allowed");
  EXPECT_EQ(mutate(applied_again(R"("suspend":true)")).changes, AdmissionChanges());
}

TEST_F(AdmissionTest, KueueResumesAJobOfTheQueueThatWasGivenToIt) {
  const std::string both = annotations(R"("slackline.dev/suspended-by":"slackline")") +
                           R"(,"labels":{"kueue.x-k8s.io/queue-name":"main"})";
  ReviewText resumes = applied_again(R"("suspend":false)");
  resumes.metadata = both;
  EXPECT_TRUE(mutate(resumes).changes.suspend) << "not by the update that gives it away";
  ReviewText old;
  old.metadata = both;
  old.template_metadata = kAdmitted;
  old.spec = R"("suspend":true)";
  resumes.old_object = test::job_text(old);
  EXPECT_FALSE(mutate(resumes).changes.suspend);
  EXPECT_EQ(refusal(resumes), "allowed");
}

// A Job that somebody had suspended, at its creation or after its turn, and resumes now.
ReviewText resumed(const std::string& pairs, const std::string& spec) {
  ReviewText text = update("", pairs);
  ReviewText old = job("");
  old.template_metadata = kAdmitted;
  old.spec = R"("suspend":true)";
  text.old_object = test::job_text(old);
  text.spec = spec;
  return text;
}

TEST_F(AdmissionTest, AJobThatIsResumedTakesItsPlaceInTheQueue) {
  const ReviewText by_hand = resumed("", R"("suspend":false)");
  const AdmissionDecision decision = mutate(by_hand);
  EXPECT_TRUE(decision.changes.suspend);
  EXPECT_THAT(decision.changes.annotations,
              ElementsAre(Pair("slackline.dev/suspended-by", "slackline")));
  EXPECT_THAT(decision.warnings, ElementsAre(HasSubstr("the Job waits in queue team-a")));
  const ReviewText stored =
      resumed(R"("slackline.dev/suspended-by":"slackline")", R"("suspend":true)");
  EXPECT_EQ(refusal(stored), "allowed") << "as the webhook leaves it";
  EXPECT_EQ(mutate(stored).changes, AdmissionChanges());
}

TEST_F(AdmissionTest, WhatWeReleaseIsUnsuspended) {
  ReviewText release = applied_again(R"("suspend":false)");
  release.user = kUs;
  EXPECT_FALSE(mutate(release).changes.suspend);
  release = resumed("", R"("suspend":false)");
  release.user = kUs;
  EXPECT_FALSE(mutate(release).changes.suspend);
}

TEST_F(AdmissionTest, AChosenShapeReachesTheContainers) {
  ReviewText text = job(R"("slackline.dev/placements":"1x4,2x2")");
  text.spec = R"("parallelism":2,"completions":2,"completionMode":"Indexed")";
  const AdmissionChanges changes = mutate(text).changes;
  EXPECT_THAT(changes.template_annotations, ElementsAre(Pair("slackline.dev/gpus-per-node", "2"),
                                                        Pair("slackline.dev/nodes", "2")));
  EXPECT_THAT(changes.env,
              ElementsAre(EnvVariable{"SLACKLINE_NODES", "slackline.dev/nodes"},
                          EnvVariable{"SLACKLINE_GPUS_PER_NODE", "slackline.dev/gpus-per-node"},
                          EnvVariable{"PET_NNODES", "slackline.dev/nodes"},
                          EnvVariable{"PET_NPROC_PER_NODE", "slackline.dev/gpus-per-node"}));
}

TEST_F(AdmissionTest, MistakesAreRefusedWithFieldAndRemedy) {
  EXPECT_THAT(
      refusal(job(R"("slackline.dev/qos-class":"asap")")),
      HasSubstr("UnknownClass: slackline.dev/qos-class: \"asap\": write urgent, prior or normal"));
  EXPECT_THAT(refusal(job(R"("slackline.dev/placements":"4by4")")),
              HasSubstr("Unreadable: slackline.dev/placements: \"4by4\": list shapes as"));
  EXPECT_THAT(refusal(job(R"("slackline.dev/deadline-after":"soon")")),
              HasSubstr("Unreadable: slackline.dev/deadline-after: \"soon\": write it with units"));
  EXPECT_THAT(
      refusal(job(R"("slackline.dev/deadline":"2026-01-01T00:00:00Z")")),
      HasSubstr("DeadlinePast: slackline.dev/deadline: 2026-01-01T00:00:00Z is in the past"));
}

TEST_F(AdmissionTest, AnImpossibleGangIsRefusedAndAKeyThatNobodyReadsIsAWarning) {
  EXPECT_THAT(refusal(job(R"("slackline.dev/gang-size":"1000000000000")")),
              HasSubstr("Unreadable: slackline.dev/gang-size"));
  EXPECT_THAT(refusal(job(R"("slackline.dev/gpu-types":"any,A100")")),
              HasSubstr("Unreadable: slackline.dev/gpu-types: \"any,A100\": any stands alone"));
  EXPECT_THAT(
      validate(job(R"("slackline.dev/weight":"NaN","slackline.dev/variants":"a")")).warnings,
      ElementsAre(HasSubstr("write a number above zero"), HasSubstr("this key has no effect yet")));
}

// Read as another mode, it would change the request of somebody who said no.
TEST_F(AdmissionTest, AModeOfResizingThatCannotBeReadIsRefused) {
  EXPECT_THAT(refusal(job(R"("slackline.dev/resize":"never")")),
              HasSubstr("Unreadable: slackline.dev/resize: \"never\": write off, advise or auto"));
  EXPECT_EQ(refusal(job(R"("slackline.dev/resize":"auto")")), "allowed");
}

TEST_F(AdmissionTest, AllMistakesAreToldAtOnce) {
  EXPECT_THAT(refusal(job(R"("slackline.dev/qos-class":"asap","slackline.dev/placements":"4by4")")),
              AllOf(HasSubstr("qos-class"), HasSubstr("placements")));
}

TEST_F(AdmissionTest, OurKeysAreOurs) {
  EXPECT_THAT(refusal(job(R"("slackline.dev/plan":"{}")")),
              HasSubstr("ReservedKey: slackline.dev/plan"));
  EXPECT_THAT(refusal(job(R"("slackline.dev/suspended-by":"me")")), HasSubstr("ReservedKey"));
  ReviewText in_template;
  in_template.template_metadata = annotations(R"("slackline.dev/device-ids":"0")");
  EXPECT_THAT(refusal(in_template), HasSubstr("ReservedKey: slackline.dev/device-ids"));
  EXPECT_THAT(refusal(update("", R"("slackline.dev/progress":"{}")")), HasSubstr("ReservedKey"));
  EXPECT_THAT(refusal(update(R"("slackline.dev/preemptions":"3")", "")), HasSubstr("ReservedKey"));
  ReviewText ours = update("", R"("slackline.dev/plan":"{}")");
  ours.user = kUs;
  EXPECT_EQ(refusal(ours), "allowed");
  // Also where nothing is queued.
  ReviewText suspended = job(R"("slackline.dev/plan":"{}")");
  suspended.spec = R"("suspend":true)";
  EXPECT_THAT(refusal(suspended), HasSubstr("ReservedKey"));
}

TEST_F(AdmissionTest, OtherUpdatesOfAnOldJobAreNobodysBusiness) {
  // Its deadline has passed and its class is none, but this update does not touch them.
  const std::string old =
      R"("slackline.dev/deadline":"2026-01-01T00:00:00Z","slackline.dev/placements":"4by4")";
  EXPECT_EQ(refusal(update(old, old + R"(,"note":"hello")")), "allowed");
}

TEST_F(AdmissionTest, AResolvedDeadlineMovesWithItsDelay) {
  const std::string promised =
      R"("slackline.dev/deadline-after":"1h","slackline.dev/deadline":"2027-01-15T09:00:00Z")";
  const ReviewText later = update(promised, R"("slackline.dev/deadline-after":"3h",)"
                                            R"("slackline.dev/deadline":"2027-01-15T09:00:00Z")");
  EXPECT_EQ(refusal(later), "allowed");
  EXPECT_THAT(mutate(later).changes.annotations,
              ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T11:00:00Z"),
                          Pair("slackline.dev/deadline-basis", "deadline-after: 3h00m")));
  EXPECT_FALSE(mutate(later).changes.suspend) << "an update never suspends";
}

// Whoever takes `deadline-after` out of the manifest and applies it takes the promise away.
TEST_F(AdmissionTest, AResolvedDeadlineGoesWithItsDelayOrClass) {
  const std::string by_delay =
      R"("slackline.dev/deadline":"2027-01-15T09:00:00Z","slackline.dev/deadline-basis":"deadline-after: 1h")";
  const ReviewText taken_away =
      update(by_delay + R"(,"slackline.dev/deadline-after":"1h")", by_delay);
  EXPECT_EQ(refusal(taken_away), "allowed");
  EXPECT_THAT(mutate(taken_away).changes.dropped,
              ElementsAre("slackline.dev/deadline", "slackline.dev/deadline-basis"));
  const ReviewText both = update(by_delay + R"(,"slackline.dev/deadline-after":"1h")", "");
  EXPECT_THAT(mutate(both).changes.dropped, IsEmpty()) << "nothing of it is left";
  const std::string what =
      R"(,"slackline.dev/model":"resnet50","slackline.dev/batch-size":"64","slackline.dev/iterations":"1000")";
  const ReviewText by_class = update(by_delay + what + R"(,"slackline.dev/deadline-after":"1h")",
                                     by_delay + what + R"(,"slackline.dev/qos-class":"prior")");
  EXPECT_THAT(mutate(by_class).changes.dropped, IsEmpty());
  EXPECT_THAT(mutate(by_class).changes.annotations,
              Contains(Pair("slackline.dev/deadline-basis", HasSubstr("prior: "))));
  const std::string own = R"("slackline.dev/deadline":"2027-01-15T10:00:00Z")";
  const ReviewText written =
      update(by_delay + R"(,"slackline.dev/deadline-after":"1h")",
             own + R"(,"slackline.dev/deadline-basis":"deadline-after: 1h")");
  EXPECT_EQ(refusal(written), "allowed");
  EXPECT_THAT(mutate(written).changes.dropped, ElementsAre("slackline.dev/deadline-basis"));
  EXPECT_THAT(mutate(written).changes.annotations, IsEmpty()) << "what people write is the promise";
  EXPECT_EQ(mutate(update(own + R"(,"slackline.dev/deadline-after":"1h")", own)).changes,
            AdmissionChanges())
      << "it never came of the delay";
}

TEST_F(AdmissionTest, AManifestThatSaysDefaultSchedulerCanBeAppliedAgain) {
  ReviewText old = job("");
  old.template_metadata = kAdmitted;
  old.pod_spec = R"("schedulerName":"gpu-scheduler")";
  ReviewText again = update("", "");
  again.old_object = test::job_text(old);
  EXPECT_EQ(mutate(again).changes.scheduler_name, "gpu-scheduler");
}

TEST_F(AdmissionTest, AnExplicitDeadlineWinsOverALaterClass) {
  const std::string what =
      R"("slackline.dev/model":"resnet50","slackline.dev/batch-size":"64","slackline.dev/iterations":"1000",)"
      R"("slackline.dev/deadline":"2027-06-01T00:00:00Z")";
  EXPECT_EQ(mutate(update(what, what + R"(,"slackline.dev/qos-class":"prior")")).changes,
            AdmissionChanges());
}

TEST_F(AdmissionTest, UrgentNeedsTheRight) {
  const ReviewText urgent = job(R"("slackline.dev/qos-class":"urgent")");
  EXPECT_TRUE(asks_for_urgent(decoded(test::job_review_text(urgent)), facts));
  facts.urgent = UseRight::kDenied;
  EXPECT_THAT(refusal(urgent), AllOf(HasSubstr("UrgentNotAllowed"), HasSubstr("namespace team-a")));
  facts.urgent = UseRight::kUnknown;
  facts.urgent_detail = "timed out";
  EXPECT_THAT(refusal(urgent), AllOf(HasSubstr("UrgentNotAllowed"), HasSubstr("timed out")));
  EXPECT_THAT(refusal(update("", R"("slackline.dev/qos-class":"urgent")")),
              HasSubstr("UrgentNotAllowed"));
  facts.urgent = UseRight::kGranted;
  EXPECT_EQ(refusal(urgent), "allowed");
  EXPECT_FALSE(asks_for_urgent(decoded(test::job_review_text()), facts));
}

TEST_F(AdmissionTest, AConfiguredQueueNeedsTheRightButInItsOwnNamespace) {
  QueueRulebook queues;
  queues.named["vision"].shares = {{"A100", {8, 0}}};
  queues.named["plain"].max_pending = 100;
  queues.named["team-a"].shares = {{"A100", {8, 0}}};
  facts.queues = &queues;
  facts.queue = UseRight::kDenied;
  const auto in_queue = [](const std::string& queue) {
    ReviewText text;
    text.metadata = R"("labels":{"slackline.dev/queue":")" + queue + "\"}";
    return text;
  };
  EXPECT_EQ(queue_to_use(decoded(test::job_review_text(in_queue("vision"))), facts), "vision");
  EXPECT_THAT(refusal(in_queue("vision")),
              AllOf(HasSubstr("QueueNotAllowed"), HasSubstr("queues/vision"),
                    HasSubstr("namespace team-a")));
  EXPECT_THAT(refusal(in_queue("plain")), HasSubstr("QueueNotAllowed")) << "it has a limit to fill";
  EXPECT_EQ(refusal(in_queue("nobody-knows-it")), "allowed") << "a tag";
  EXPECT_THAT(validate(in_queue("visoin")).warnings,
              ElementsAre(AllOf(HasSubstr("no queue visoin is configured (did you mean vision?)"),
                                HasSubstr("the share of team-a"))));
  EXPECT_EQ(refusal(in_queue("team-a")), "allowed") << "the queue of its namespace";
  EXPECT_EQ(refusal(ReviewText()), "allowed");
  facts.queue = UseRight::kUnknown;
  facts.queue_detail = "timed out";
  EXPECT_THAT(refusal(in_queue("vision")), HasSubstr("timed out"));
  facts.queue = UseRight::kGranted;
  EXPECT_EQ(refusal(in_queue("vision")), "allowed");
}

TEST_F(AdmissionTest, APodBecomesUrgentOnlyWithTheRight) {
  ReviewText old;
  old.metadata = kAdmitted;
  ReviewText text;
  text.operation = "UPDATE";
  text.metadata =
      std::string(kAdmitted) + "," + annotations(R"("slackline.dev/qos-class":"urgent")");
  text.old_object = test::pod_text(old);
  facts.urgent = UseRight::kDenied;
  const auto refused = decide(test::pod_review_text(text), AdmissionStage::kValidate).refusal;
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason.str(), "UrgentNotAllowed");
  text.old_object = test::pod_text(text);  // it was urgent before
  EXPECT_FALSE(decide(test::pod_review_text(text), AdmissionStage::kValidate).refusal);
}

TEST_F(AdmissionTest, AFullQueueTakesNoMore) {
  facts.max_pending = 3;
  facts.pending_in_queue = 2;
  EXPECT_EQ(refusal({}), "allowed");
  facts.pending_in_queue = 3;
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("QueueFull: queue team-a: 3 tasks wait"),
                                 HasSubstr("its maxPending is 3")));
  facts.trusted = false;  // what is not known is not held against anybody
  EXPECT_EQ(refusal({}), "allowed");
}

TEST_F(AdmissionTest, AnUnknownModelIsAWarning) {
  EXPECT_THAT(validate(job(R"("slackline.dev/model":"foo")")).warnings,
              ElementsAre(AllOf(HasSubstr("slackline.dev/model: \"foo\" is unknown"),
                                HasSubstr("known: resnet50"))));
  EXPECT_THAT(mutate(job(R"("slackline.dev/model":"foo")")).warnings, IsEmpty()) << "told once";
}

TEST_F(AdmissionTest, AModelWithoutItsLengthIsAWarning) {
  const std::string model = R"("slackline.dev/model":"resnet50")";
  EXPECT_THAT(validate(job(model)).warnings,
              ElementsAre(HasSubstr("without batch-size and iterations the run time")));
  EXPECT_THAT(validate(job(model + R"(,"slackline.dev/batch-size":"64")")).warnings,
              ElementsAre(HasSubstr("without iterations")));
  EXPECT_THAT(validate(job(model + R"(,"slackline.dev/expected-duration":"2h")")).warnings,
              IsEmpty());
}

TEST_F(AdmissionTest, ABatchThatDoesNotDivideIsAWarning) {
  const std::string what = R"("slackline.dev/model":"resnet50","slackline.dev/iterations":"10",)";
  EXPECT_THAT(validate(job(what + R"("slackline.dev/batch-size":"64")")).warnings, IsEmpty());
  const std::string odd = what + R"("slackline.dev/batch-size":"250","slackline.dev/placements":)";
  EXPECT_THAT(validate(job(odd + R"("1x2,1x4")")).warnings,
              ElementsAre(HasSubstr("batch-size: 250 does not divide by the 4 GPUs of 1x4")));
  EXPECT_THAT(validate(job(odd + R"("auto")")).warnings, IsEmpty());
}

TEST_F(AdmissionTest, AnInfeasibleDeadlineNamesTheEarliestFinish) {
  const std::string what =
      R"("slackline.dev/model":"resnet50","slackline.dev/batch-size":"64","slackline.dev/iterations":"1000000",)";
  const auto warnings = validate(job(what + R"("slackline.dev/deadline-after":"1m")")).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("2027-01-15T08:01:00Z cannot be met"),
                                 HasSubstr("the earliest finish is 2027-"), HasSubstr("1x2 on K80"),
                                 HasSubstr("waiting not counted")));
  EXPECT_THAT(validate(job(what + R"("slackline.dev/deadline":"2029-01-01T00:00:00Z")")).warnings,
              IsEmpty());
}

TEST_F(AdmissionTest, SmallMistakesAreWarnings) {
  EXPECT_THAT(
      validate(job(R"("slackline.dev/batch-size":"many","slackline.dev/modle":"x")")).warnings,
      ElementsAre(HasSubstr("slackline.dev/batch-size"), HasSubstr("unknown key")));
}

TEST_F(AdmissionTest, ABarePodIsLabelledAndGated) {
  ReviewText text;
  text.metadata = annotations(R"("slackline.dev/deadline-after":"1h")");
  const AdmissionChanges changes = mutate_pod(text).changes;
  EXPECT_TRUE(changes.gate);
  EXPECT_THAT(changes.labels, ElementsAre(Pair("slackline.dev/managed", "true")));
  EXPECT_EQ(changes.scheduler_name, "gpu-scheduler");
  text.metadata =
      R"("ownerReferences":[{"kind":"ReplicaSet","name":"r","uid":"1","controller":true}])";
  EXPECT_EQ(mutate_pod(text).changes, AdmissionChanges()) << "its controller's template says";
  for (const char* of_kueue : {"queue-name", "podset"}) {
    text.metadata = R"("labels":{"kueue.x-k8s.io/)" + std::string(of_kueue) + R"(":"q"})";
    EXPECT_EQ(mutate_pod(text).changes, AdmissionChanges()) << of_kueue;
  }
}

TEST_F(AdmissionTest, APodOfAGangThatAControllerMakesIsLabelledAndGated) {
  const auto owned = [](const std::string& owner, const std::string& labels) {
    ReviewText text;
    text.user = "system:serviceaccount:kubeflow:training-operator";
    text.metadata = R"("labels":{)" + labels + R"(},"ownerReferences":[{)" + owner +
                    R"(,"name":"t5","uid":"1","controller":true}])";
    return text;
  };
  const auto torch = owned(R"("apiVersion":"kubeflow.org/v1","kind":"PyTorchJob")", "");
  const AdmissionChanges changes = mutate_pod(torch).changes;
  EXPECT_TRUE(changes.gate);
  EXPECT_THAT(changes.labels, ElementsAre(Pair("slackline.dev/managed", "true")));
  EXPECT_EQ(changes.scheduler_name, "gpu-scheduler");
  auto of_set =
      owned(R"("apiVersion":"batch/v1","kind":"Job")", R"("jobset.sigs.k8s.io/jobset-name":"llm")");
  of_set.user = kJobController;
  EXPECT_TRUE(mutate_pod(of_set).changes.gate);
  const auto of_job = owned(R"("apiVersion":"batch/v1","kind":"Job")", "");
  EXPECT_EQ(mutate_pod(of_job).changes, AdmissionChanges()) << "its Job queues";
  const auto notebook = owned(R"("apiVersion":"kubeflow.org/v1","kind":"Notebook")", "");
  EXPECT_EQ(mutate_pod(notebook).changes, AdmissionChanges());
}

// Its Job is not in the queue. With GPUs it is a member like its workers.
TEST_F(AdmissionTest, TheLauncherOfAnMpiJobIsGated) {
  const auto changes = [&](const std::string& labels, bool asks_for_gpus = false) {
    ReviewText text;
    text.user = kJobController;
    text.metadata = R"("labels":{)" + labels +
                    R"(},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",)"
                    R"("name":"hpl-launcher","uid":"1","controller":true}])";
    std::string review = test::pod_review_text(text);
    const std::string gpus = R"("nvidia.com/gpu":"2")";
    for (auto at = review.find(gpus); !asks_for_gpus && at != std::string::npos;
         at = review.find(gpus))
      review.erase(at, gpus.size());
    return decide(review, AdmissionStage::kMutate).changes;
  };
  const std::string role = R"("training.kubeflow.org/job-role":"launcher")";
  AdmissionChanges gate;
  gate.gate = true;
  EXPECT_EQ(changes(role), gate);
  const AdmissionChanges member = changes(role, /*asks_for_gpus=*/true);
  EXPECT_TRUE(member.gate);
  EXPECT_THAT(member.labels, ElementsAre(Pair("slackline.dev/managed", "true")));
  EXPECT_EQ(changes(R"("training.kubeflow.org/job-role":"worker")"), AdmissionChanges());
  EXPECT_EQ(changes(role + R"(,"slackline.dev/gang":"g")"), AdmissionChanges())
      << "people say what it belongs to";
}

TEST_F(AdmissionTest, APodOfOursIsGated) {
  ReviewText text;
  text.user = kJobController;
  text.metadata = std::string(kAdmitted);
  EXPECT_TRUE(mutate_pod(text).changes.gate);
  text.pod_spec = R"("nodeName":"gpu-1")";
  EXPECT_FALSE(mutate_pod(text).changes.gate) << "bound already";
  text.pod_spec = R"("schedulingGates":[{"name":"example.com/wait"}])";
  EXPECT_FALSE(mutate_pod(text).changes.gate) << "somebody else's gate";
  text.pod_spec = R"("schedulingGates":[{"name":"slackline.dev/queue"}])";
  EXPECT_FALSE(mutate_pod(text).changes.gate) << "gated already";
}

ReviewText pod_of_train(const std::string& pairs) {
  ReviewText text;
  text.user = kJobController;
  text.metadata =
      std::string(kAdmitted) +
      R"(,"ownerReferences":[{"kind":"Job","name":"train","uid":"job:team-a/train","controller":true}],)" +
      annotations(pairs);
  return text;
}

constexpr const char* kWrittenShape =
    R"("slackline.dev/nodes":"2","slackline.dev/gpus-per-node":"2")";

TEST_F(AdmissionTest, APodGetsTheGpusThatItsTemplateSays) {
  ReviewText text = pod_of_train(R"("slackline.dev/nodes":"1","slackline.dev/gpus-per-node":"4")");
  const AdmissionDecision decision = mutate_pod(text);
  EXPECT_FALSE(decision.refusal);
  EXPECT_EQ(decision.changes.gpus, (GpuCountChange{0, "nvidia.com/gpu", 4}));
  EXPECT_EQ(mutate_pod(pod_of_train(kWrittenShape)).changes.gpus, std::nullopt);
  text.user = "jane";
  const auto refused = mutate_pod(text).refusal;
  ASSERT_TRUE(refused) << "only a controller copies a template";
  EXPECT_EQ(refused->reason.str(), "ReservedKey");
}

TEST_F(AdmissionTest, ThePlanOfItsJobSaysIt) {
  plan_train({1, 4}, {"gpu-1"});
  const AdmissionChanges changes = mutate_pod(pod_of_train(kWrittenShape)).changes;
  EXPECT_EQ(changes.gpus, (GpuCountChange{0, "nvidia.com/gpu", 4}));
  EXPECT_THAT(changes.annotations, ElementsAre(Pair("slackline.dev/gpus-per-node", "4"),
                                               Pair("slackline.dev/nodes", "1")));
  // Without `placements` a task runs as it was written, whatever nodes its pods share.
  EXPECT_EQ(mutate_pod(pod_of_train("")).changes.gpus, std::nullopt);
}

// Where templates of Jobs take no change, its pods are resized.
TEST_F(AdmissionTest, APodGetsTheAmountsThatThePlanOfItsJobSays) {
  plan_train({1, 2}, {"gpu-1"});
  Job train = *snapshot.jobs.front();
  PlanNote plan = *train.plan;
  plan.resize = ResizeNote{.asked = {1, 2}};
  plan.resize->amounts = ContainerAmounts{"2", "4", "", "5Gi"};
  train.plan = std::make_shared<const PlanNote>(plan);
  snapshot.jobs = {std::make_shared<const Job>(train)};
  const ReviewText text = pod_of_train("");
  const AdmissionReview review = decoded(test::pod_review_text(text));
  const AdmissionChanges changes = decide_admission(review, AdmissionStage::kMutate, facts).changes;
  ASSERT_TRUE(changes.amounts);
  EXPECT_EQ(changes.amounts->amounts, *plan.resize->amounts);
  const std::string patch = wire::encode_json_patch(review, changes);
  for (const char* part : {R"("path":"/spec/containers/0/resources/requests/cpu","value":"2")",
                           R"("path":"/spec/containers/0/resources/limits/cpu","value":"4")",
                           R"("path":"/spec/containers/0/resources/requests/memory","value":"5Gi")",
                           R"("path":"/spec/containers/0/resources/limits/memory","value":"5Gi")"})
    EXPECT_THAT(patch, HasSubstr(part));
  ReviewText of_jane = text;
  of_jane.user = "jane";
  EXPECT_FALSE(mutate_pod(of_jane).changes.amounts) << "only a controller copies a template";
  AdmissionReview resized = review;
  std::get<ReviewedPod>(resized.object).facts.containers[0].amounts = {"2000m", "4", "5Gi", "5Gi"};
  EXPECT_FALSE(decide_admission(resized, AdmissionStage::kMutate, facts).changes.amounts)
      << "its template has them";
}

TEST_F(AdmissionTest, APodGetsTheBandOfThePlanOfItsJob) {
  auto admission = std::make_shared<PodAdmission>();
  admission->bands = {{"private-5", 150}, {"public-5", 50}};
  snapshot.admission = admission;
  const auto band_of = [&](const ReviewText& text) {
    const auto priority = mutate_pod(text).changes.priority;
    return priority ? priority->priority_class : "";
  };
  const ReviewText told = pod_of_train(R"("slackline.dev/band":"public-5")");
  EXPECT_EQ(band_of(pod_of_train("")), "");
  EXPECT_EQ(band_of(told), "public-5") << "its plan is not seen yet";
  plan_train({1, 2}, {"gpu-1"});
  EXPECT_EQ(band_of(told), "") << "what an earlier plan has left";
  Job train = *snapshot.jobs.front();
  PlanNote plan = *train.plan;
  plan.band = "private-5";
  train.plan = std::make_shared<const PlanNote>(plan);
  snapshot.jobs = {std::make_shared<const Job>(train)};
  EXPECT_EQ(band_of(told), "private-5");
  ReviewText text = pod_of_train("");
  const AdmissionReview review = decoded(test::pod_review_text(text));
  EXPECT_THAT(wire::encode_json_patch(review, mutate_pod(text).changes),
              HasSubstr(R"({"op":"add","path":"/spec/priorityClassName","value":"private-5"},)"
                        R"({"op":"add","path":"/spec/priority","value":150},)"
                        R"({"op":"add","path":"/spec/preemptionPolicy","value":"Never"})"));
  text.pod_spec = R"("priorityClassName":"private-5","schedulerName":"default-scheduler")";
  EXPECT_EQ(band_of(text), "") << "it has it";
  text.user = "jane";
  EXPECT_EQ(band_of(text), "") << "only a controller copies a template";
  admission->bands.erase("private-5");
  EXPECT_EQ(band_of(pod_of_train("")), "") << "the API server would refuse the pod";
}

TEST_F(AdmissionTest, WithoutAModelAClassThatIsNamedGivesTheDeadlineByTheFamilysPast) {
  const std::string nightly = R"("slackline.dev/family":"nightly")";
  const std::string normal = nightly + R"(,"slackline.dev/qos-class":"normal")";
  const auto changes = [&](const std::string& pairs) { return mutate(job(pairs)).changes; };
  facts.portraits = nights(2);
  EXPECT_THAT(changes(normal).annotations, ElementsAre(Pair("slackline.dev/suspended-by", _)))
      << "two runs are no past to promise by";
  facts.portraits = nights(3);
  EXPECT_THAT(
      changes(normal).annotations,
      ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T10:00:00Z"),
                  Pair("slackline.dev/deadline-basis", "normal: 2 x 1h00m on K80 (history)"),
                  Pair("slackline.dev/suspended-by", "slackline")));
  EXPECT_THAT(changes(nightly).annotations, ElementsAre(Pair("slackline.dev/suspended-by", _)))
      << "nobody asked for a class";
  EXPECT_THAT(changes(normal + R"(,"slackline.dev/gpu-types":"A100")").annotations,
              ElementsAre(Pair("slackline.dev/suspended-by", _)))
      << "it never ran there";
}

TEST_F(AdmissionTest, PeopleAreToldWhatTheirFamilyUsed) {
  facts.portraits = nights(3);
  const auto told = [&](const std::string& mode) {
    return validate(
               job(R"("slackline.dev/family":"nightly","slackline.dev/resize":")" + mode + R"(")"))
        .warnings;
  };
  EXPECT_THAT(
      told("advise"),
      Contains(HasSubstr("slackline.dev/resize: asks for 2 GPUs, the last 3 runs used 0.6")));
  EXPECT_THAT(told("off"), Not(Contains(HasSubstr("slackline.dev/resize"))));
}

TEST_F(AdmissionTest, APodIsToldWhereToGoOnAndWhereToReport) {
  plan_train({1, 4}, {"gpu-1"});
  EXPECT_THAT(mutate_pod(pod_of_train("")).changes.env,
              ElementsAre(EnvVariable{"SLACKLINE_ITERATION", "", "0"},
                          EnvVariable{"SLACKLINE_ATTEMPT", "", "0"}));
  Job train = *snapshot.jobs.front();
  train.progress = std::make_shared<const ProgressNote>(ProgressNote{1200, 90000, 1.7e9});
  train.preemptions = std::make_shared<const PreemptionNote>(PreemptionNote{.count = 2});
  snapshot.jobs = {std::make_shared<const Job>(std::move(train))};
  facts.workload_url = "https://slackline";
  facts.workload_ca = "PEM";
  ReviewText text = pod_of_train("");
  const std::vector<EnvVariable> all = {{"SLACKLINE_ITERATION", "", "1200"},
                                        {"SLACKLINE_ATTEMPT", "", "2"},
                                        {"SLACKLINE_URL", "", "https://slackline"},
                                        {"SLACKLINE_CA_PEM", "", "PEM"}};
  EXPECT_EQ(mutate_pod(text).changes.env, all);
  text.container = R"(,"env":[{"name":"SLACKLINE_ITERATION","value":"7"}])";
  EXPECT_EQ(mutate_pod(text).changes.env, std::vector(all.begin() + 1, all.end()))
      << "what its owner wrote wins";
  const std::string patch =
      wire::encode_json_patch(decoded(test::pod_review_text(text)), mutate_pod(text).changes);
  EXPECT_THAT(patch, HasSubstr(R"("value":{"name":"SLACKLINE_ATTEMPT","value":"2"})"));
}

TEST_F(AdmissionTest, PodsThatShareANodeKeepTheirGpus) {
  plan_train({1, 4}, {"gpu-1", "gpu-1"});
  EXPECT_EQ(mutate_pod(pod_of_train(kWrittenShape)).changes.gpus, std::nullopt);
}

}  // namespace
}  // namespace slackline::control
