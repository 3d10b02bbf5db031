// What the webhook says to who creates a Job that will not do what its author expects, and the
// deadline that a class gives by what people state.
#include "admission_case.h"
#include "control/query/written_book.h"

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

// ---- what has no effect -------------------------------------------------------------------------

TEST_F(AdmissionTest, WhatIsWrittenOnAJobThatIsNotQueuedIsWarnedOf) {
  const std::string pairs =
      R"("slackline.dev/depends-on":"prep","slackline.dev/deadline-after":"4h")";
  std::string cpu_only = test::job_review_text(job(pairs));
  for (std::size_t at = 0; (at = cpu_only.find("nvidia.com/gpu", at)) != std::string::npos;)
    cpu_only.replace(at, 14, "cpu");
  EXPECT_THAT(decide(cpu_only, AdmissionStage::kValidate).warnings,
              ElementsAre("slackline.dev/deadline-after, slackline.dev/depends-on: without effect: "
                          "Slackline does not queue the Job, which asks for no GPU"));
  ReviewText kueue = job(pairs);
  kueue.metadata += R"(,"labels":{"kueue.x-k8s.io/queue-name":"q"})";
  EXPECT_THAT(validate(kueue).warnings, ElementsAre(HasSubstr("which is queued by Kueue")));
  ReviewText gated = job(pairs);
  gated.pod_spec += R"(,"schedulingGates":[{"name":"example.com/gate"}])";
  EXPECT_THAT(validate(gated).warnings, ElementsAre(HasSubstr("which has scheduling gates")));
  gated.pod_spec = R"("nodeName":"gpu-1")";
  EXPECT_THAT(validate(gated).warnings,
              ElementsAre(HasSubstr("which names its node itself (spec.nodeName)")));
  EXPECT_EQ(mutate(gated).changes, AdmissionChanges()) << "kube-scheduler is not asked";
  kueue.metadata = R"("labels":{"kueue.x-k8s.io/queue-name":"q"})";
  EXPECT_THAT(validate(kueue).warnings, IsEmpty()) << "nothing is written for Slackline";
}

TEST_F(AdmissionTest, AResourceThatNoNodeListsIsWarnedOf) {
  std::string text = test::job_review_text(job(R"("slackline.dev/expected-duration":"2h")"));
  const std::string gpus = R"("limits":{"nvidia.com/gpu":"2")";
  text.replace(text.find(gpus), gpus.size(), gpus + R"(,"example.com/hca":"1")");
  EXPECT_THAT(decide(text, AdmissionStage::kValidate).warnings,
              Contains(HasSubstr("no node lists example.com/hca")));
}

TEST_F(AdmissionTest, TheLabelOfAGangOnOneJobIsWarnedOf) {
  ReviewText labelled = job(R"("slackline.dev/expected-duration":"2h")");
  labelled.template_metadata = R"("labels":{"slackline.dev/gang":"pair"})";
  EXPECT_THAT(validate(labelled).warnings,
              Contains(HasSubstr("slackline.dev/gang: without effect")));
  labelled.spec = R"("parallelism":2,"completions":2)";
  EXPECT_THAT(validate(labelled).warnings, Not(Contains(HasSubstr("without effect"))))
      << "its pods start one by one but for the label";
  labelled.spec = R"("parallelism":1,"completions":4)";
  EXPECT_THAT(validate(labelled).warnings, Not(Contains(HasSubstr("without effect"))))
      << "one after another is one by one, too";
}

TEST_F(AdmissionTest, TheSizeOfAGangWithoutItsLabelIsWarnedOf) {
  const std::string pairs =
      R"("slackline.dev/expected-duration":"2h","slackline.dev/gang-size":"2")";
  EXPECT_THAT(validate(job(pairs)).warnings,
              Contains(HasSubstr("slackline.dev/gang-size: without effect: the Job starts as a "
                                 "whole")));
  ReviewText several = job(pairs);
  several.spec = R"("parallelism":2,"completions":2)";
  EXPECT_THAT(validate(several).warnings,
              Contains("slackline.dev/gang-size: without effect: the pods of the Job have no label "
                       "slackline.dev/gang"));
  several.template_metadata = R"("labels":{"slackline.dev/gang":"pair"})";
  EXPECT_THAT(validate(several).warnings, Not(Contains(HasSubstr("without effect"))));
}

TEST_F(AdmissionTest, AJobThatSaysItIsNotManagedIsToldThatItIs) {
  const auto says = HasSubstr("slackline.dev/managed: without effect: the label of the namespace");
  ReviewText text = job(R"("slackline.dev/expected-duration":"2h")");
  EXPECT_THAT(mutate(text).warnings, IsEmpty());
  text.template_metadata = R"("labels":{"slackline.dev/managed":"false"})";
  EXPECT_THAT(mutate(text).warnings, ElementsAre(says));
  text.template_metadata = "";
  text.metadata += R"(,"labels":{"slackline.dev/managed":"false"})";
  EXPECT_THAT(validate(text).warnings, Contains(says));
}

TEST_F(AdmissionTest, WhatAQuotaDemandsAndAContainerLeavesOutIsWarnedOf) {
  auto quota = std::make_shared<ResourceQuota>();
  quota->key = {"team-a", "q"};
  quota->must_state = {"limits.memory"};
  snapshot.quotas = {quota};
  EXPECT_THAT(validate(job("")).warnings,
              Contains(HasSubstr("states no limits.memory, which the ResourceQuota q demands")));
  snapshot.quotas.clear();
  EXPECT_THAT(validate(job("")).warnings, Not(Contains(HasSubstr("limits.memory"))));
}

TEST_F(AdmissionTest, MoreGpusThanAnyNodeHasAreWarnedOf) {
  const std::string stated = R"("slackline.dev/expected-duration":"2h")";
  const auto warnings = [&](const std::string& pairs) { return validate(job(pairs)).warnings; };
  EXPECT_THAT(warnings(stated), IsEmpty());
  snapshot = a_cluster().with(a_node("gpu-1").of("K80", 1)).build();
  EXPECT_THAT(warnings(stated),
              Contains("spec.template: 2 nvidia.com/gpu per pod: the largest node has 1"));
  EXPECT_THAT(warnings(stated + R"(,"slackline.dev/placements":"1x1")"),
              Not(Contains(HasSubstr("the largest node"))))
      << "it may take fewer";
  facts.trusted = false;
  EXPECT_THAT(warnings(stated), Not(Contains(HasSubstr("the largest node"))));
}

// ---- qos-class and expected-duration -----------------------------------------------------------

TEST_F(AdmissionTest, WithoutAModelAClassThatIsNamedGivesTheDeadlineByTheStatedDuration) {
  const std::string stated = R"("slackline.dev/expected-duration":"2h")";
  const std::string prior = stated + R"(,"slackline.dev/qos-class":"prior")";
  const auto changes = [&](const std::string& pairs) {
    return mutate(job(pairs)).changes.annotations;
  };
  EXPECT_THAT(changes(prior), ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T10:00:00Z"),
                                          Pair("slackline.dev/deadline-basis",
                                               "prior: 1 x 2h00m (expected-duration)"),
                                          Pair("slackline.dev/suspended-by", _)));
  EXPECT_THAT(changes(prior + R"(,"slackline.dev/expected-duration-on":"A100")"),
              Contains(Pair("slackline.dev/deadline-basis",
                            "prior: 1 x 2h00m on A100 (expected-duration)")));
  EXPECT_THAT(changes(prior + R"(,"slackline.dev/gpu-types":"K80")"),
              Contains(Pair("slackline.dev/deadline-basis",
                            "prior: 1 x 2h00m on K80 (expected-duration)")));
  EXPECT_THAT(changes(stated), ElementsAre(Pair("slackline.dev/suspended-by", _)))
      << "nobody asked for a class";
  ReviewText waves = job(prior);
  waves.spec = R"("parallelism":2,"completions":6)";
  EXPECT_THAT(mutate(waves).changes.annotations,
              Contains(Pair("slackline.dev/deadline-basis", HasSubstr("prior: 1 x 6h00m"))))
      << "what is stated is of one pod";
}

TEST_F(AdmissionTest, WhatPeopleStateWinsOverThePastForAClassToo) {
  facts.portraits = nights(3);
  const std::string nightly =
      R"("slackline.dev/family":"nightly","slackline.dev/qos-class":"normal")";
  EXPECT_THAT(mutate(job(nightly)).changes.annotations,
              Contains(Pair("slackline.dev/deadline-basis", "normal: 2 x 1h00m on K80 (history)")));
  EXPECT_THAT(
      mutate(job(nightly + R"(,"slackline.dev/expected-duration":"2h")")).changes.annotations,
      Contains(Pair("slackline.dev/deadline-basis", "normal: 2 x 2h00m (expected-duration)")));
}

TEST_F(AdmissionTest, AClassThatGivesNoDeadlineIsWarnedOf) {
  const std::string prior = R"("slackline.dev/qos-class":"prior")";
  EXPECT_THAT(validate(job(prior)).warnings,
              ElementsAre("slackline.dev/qos-class: gives no deadline, because nobody knows how "
                          "long the Job runs; write slackline.dev/expected-duration, or "
                          "slackline.dev/deadline-after"));
  for (const char* more :
       {R"("slackline.dev/expected-duration":"2h")", R"("slackline.dev/deadline-after":"6h")"})
    EXPECT_THAT(validate(job(prior + "," + more)).warnings, IsEmpty()) << more;
}

TEST_F(AdmissionTest, AnUnknownModelWithAStatedDurationLosesNoDeadline) {
  const std::string unknown = R"("slackline.dev/model":"mystery")";
  EXPECT_THAT(validate(job(unknown)).warnings,
              Contains(HasSubstr("cannot be predicted and its class gives no deadline")));
  const auto warnings =
      validate(job(unknown + R"(,"slackline.dev/expected-duration":"2h")")).warnings;
  EXPECT_THAT(warnings, Contains(HasSubstr("\"mystery\" is unknown, so its run time is taken from "
                                           "slackline.dev/expected-duration; known: resnet50")));
  EXPECT_THAT(warnings, Not(Contains(HasSubstr("no deadline"))));
}

// ResNet-101 from ResNet-50, because both begin with "resnet".
TEST_F(AdmissionTest, AGuessByTheLettersOfANameIsWarnedOf) {
  const std::string all =
      R"("slackline.dev/model":"resnet101","slackline.dev/batch-size":"64","slackline.dev/iterations":"100")";
  EXPECT_THAT(validate(job(all)).warnings,
              Contains(AllOf(HasSubstr("slackline.dev/model: \"resnet101\" was never measured"),
                             HasSubstr("whose names begin with \"resnet\""),
                             HasSubstr("write slackline.dev/expected-duration"))));
  for (const char* more :
       {R"(,"slackline.dev/expected-duration":"2h")", R"(,"slackline.dev/family":"resnet")"})
    EXPECT_THAT(validate(job(all + more)).warnings, Not(Contains(HasSubstr("measured")))) << more;
  snapshot.node_table.types = {GpuType("P100")};
  EXPECT_THAT(validate(job(all)).warnings,
              Contains(HasSubstr("nothing tells how fast \"resnet101\" is on the GPU types")));
  EXPECT_THAT(validate(job(R"("slackline.dev/model":"ResNet-50")")).warnings,
              Contains(HasSubstr("did you mean resnet50?")));
}

// ---- activeDeadlineSeconds ---------------------------------------------------------------------

ReviewText ended_after(const std::string& seconds, const std::string& pairs) {
  ReviewText text = job(pairs);
  text.spec = R"("parallelism":1,"completions":1,"activeDeadlineSeconds":)" + seconds;
  return text;
}

TEST_F(AdmissionTest, OfATimeLimitShorterThanTheRunOneIsWarned) {
  const std::string stated = R"("slackline.dev/expected-duration":"2h")";
  EXPECT_THAT(validate(ended_after("600", stated)).warnings,
              ElementsAre("spec.activeDeadlineSeconds: the Job will be ended after 10m00s, and it "
                          "is expected to run 2h00m (slackline.dev/expected-duration); write more "
                          "seconds, or leave the limit out"));
  facts.trusted = false;
  EXPECT_THAT(validate(ended_after("600", stated)).warnings,
              ElementsAre(HasSubstr("it is expected to run 2h00m")))
      << "what people state needs no cluster";
  facts.trusted = true;
  EXPECT_THAT(validate(ended_after("7200", stated)).warnings, IsEmpty());
  EXPECT_THAT(validate(ended_after("600", "")).warnings, IsEmpty()) << "nobody knows its length";
}

TEST_F(AdmissionTest, AModelIsHeldAgainstTheTimeLimitInItsFastestShape) {
  const std::string modelled =
      R"("slackline.dev/model":"resnet50","slackline.dev/batch-size":"64",)"
      R"("slackline.dev/iterations":"1000")";
  EXPECT_THAT(validate(ended_after("60", modelled)).warnings,
              ElementsAre(AllOf(HasSubstr("will be ended after 1m00s, and it is predicted to run "),
                                HasSubstr(" at best (1x2 on K80); write more seconds"))));
  EXPECT_THAT(validate(ended_after("900", modelled)).warnings, IsEmpty());
}

TEST_F(AdmissionTest, OfPodsThatStartOneByOneEachIsHeldAgainstTheTimeLimit) {
  ReviewText waves = job(R"("slackline.dev/expected-duration":"2h")");
  waves.spec = R"("parallelism":2,"completions":6,"activeDeadlineSeconds":600)";
  EXPECT_THAT(validate(waves).warnings,
              Contains(HasSubstr("and each of its pods is expected to run 2h00m")));
  waves.spec = R"("parallelism":1,"completions":6,"activeDeadlineSeconds":600)";
  EXPECT_THAT(validate(waves).warnings,
              Contains(HasSubstr("600 s count from the turn of the first of 6 pods")));
  EXPECT_THAT(validate(waves).warnings,
              Contains(HasSubstr("and each of its pods is expected to run 2h00m")));
  waves.spec = R"("parallelism":2,"completions":6,"activeDeadlineSeconds":7200)";
  EXPECT_THAT(validate(waves).warnings, Not(Contains(HasSubstr("is expected to run"))));
}

TEST_F(AdmissionTest, PodsThatComeAfterOthersCountForTheDeadline) {
  ReviewText waves =
      job(R"("slackline.dev/expected-duration":"10m","slackline.dev/deadline-after":"1h")");
  waves.spec = R"("parallelism":1,"completions":1)";
  EXPECT_THAT(validate(waves).warnings, IsEmpty());
  waves.spec = R"("parallelism":4,"completions":40)";
  EXPECT_THAT(validate(waves).warnings,
              Contains(AllOf(HasSubstr("cannot be met: started now, the earliest finish is "),
                             HasSubstr("10 times one after the other; waiting not counted)"))));
  waves.spec = R"("parallelism":1,"completions":7)";
  EXPECT_THAT(validate(waves).warnings, Contains(HasSubstr("7 times one after the other")));
  waves.spec = R"("parallelism":1,"completions":5)";
  EXPECT_THAT(validate(waves).warnings, IsEmpty()) << "one hour is enough for five";
}

TEST_F(AdmissionTest, AJobThatRunsIsNotToldOfAStartNow) {
  const std::string tight = R"("slackline.dev/expected-duration":"9h","slackline.dev/deadline":)";
  ReviewText moved =
      update(tight + R"("2027-01-20T08:00:00Z")", tight + R"("2027-01-15T09:00:00Z")");
  EXPECT_THAT(validate(moved).warnings, Contains(HasSubstr("cannot be met: started now")));
  std::string runs = test::job_review_text(moved);
  const std::string status = R"("status":{})";
  for (std::size_t at = 0; (at = runs.find(status, at)) != std::string::npos; at += status.size())
    runs.replace(at, status.size(), R"("status":{"startTime":"2027-01-15T07:00:00Z","active":1})");
  EXPECT_THAT(decide(runs, AdmissionStage::kValidate).warnings,
              Not(Contains(HasSubstr("cannot be met"))));
}

// ---- shares ------------------------------------------------------------------------------------

TEST_F(AdmissionTest, ASharesWarningIsOfATypeThatFitsAndOfWhatIsFull) {
  snapshot = a_cluster().with(a_node("k1").of("K80", 4)).with(a_node("t1").of("T4", 1)).build();
  QueueRulebook queues;
  queues.named["team-a"].max_running = 3;
  facts.queues = &queues;
  WrittenBook book;
  book.shares.types = {{.gpu_type = "K80", .gpus = 4, .owned = 4}, {.gpu_type = "T4", .gpus = 1}};
  const auto warnings = [&] {
    facts.book = std::make_shared<const WrittenBook>(book);
    return validate(job(R"("slackline.dev/expected-duration":"1h")")).warnings;
  };
  EXPECT_THAT(warnings(), Contains(HasSubstr("queue team-a has no share of K80")))
      << "a T4 node has one GPU, and a pod asks for two";
  book.shares.lines = {{.queue = "team-a", .gpu_type = "K80", .share = {2, 0}, .own = 2}};
  EXPECT_THAT(warnings(), Contains(HasSubstr("the share of queue team-a has no room for 2 K80")));
  book.full_queues = {"team-a"};
  EXPECT_THAT(warnings(), Contains(HasSubstr("as it may at a time (maxRunning 3)")));
}

// ---- placements --------------------------------------------------------------------------------

TEST_F(AdmissionTest, ShapesThatAreNeverChosenAreWarnedOf) {
  const auto warnings = [&](const std::string& pairs) { return validate(job(pairs)).warnings; };
  const std::string named = R"("slackline.dev/placements":"1x2,1x4")";
  const std::string modelled =
      R"(,"slackline.dev/model":"resnet50","slackline.dev/batch-size":"64",)"
      R"("slackline.dev/iterations":"1000")";
  EXPECT_THAT(warnings(named),
              ElementsAre("slackline.dev/placements: has no effect, the Job runs as it is written "
                          "(1x2): without slackline.dev/model nobody knows how fast other shapes "
                          "are; write it, with batch-size and iterations"));
  EXPECT_THAT(warnings(R"("slackline.dev/placements":"auto")"),
              ElementsAre(HasSubstr("placements: has no effect")));
  EXPECT_THAT(warnings(R"("slackline.dev/placements":"1x2")"), IsEmpty()) << "as it is written";
  EXPECT_THAT(warnings(named + R"(,"slackline.dev/resize":"auto")"), IsEmpty())
      << "right-sizing takes another shape where one is allowed";
  EXPECT_THAT(warnings(named + modelled), IsEmpty());
}

TEST_F(AdmissionTest, ShapesThatTheJobCannotTakeAreWarnedOf) {
  const std::string modelled =
      R"("slackline.dev/model":"resnet50","slackline.dev/batch-size":"64",)"
      R"("slackline.dev/iterations":"1000","slackline.dev/placements":)";
  ReviewText text = job(modelled + R"("1x2,2x1")");
  EXPECT_THAT(validate(text).warnings,
              ElementsAre("slackline.dev/placements: has no effect, the Job runs as it is written "
                          "(1x2): the number of its pods may change only with completionMode: "
                          "Indexed and completions equal to parallelism"));
  text.spec = R"("parallelism":1,"completions":1,"completionMode":"Indexed")";
  EXPECT_THAT(validate(text).warnings, IsEmpty());
  text.spec = R"("parallelism":1,"completions":4)";
  EXPECT_THAT(validate(text).warnings,
              Contains(HasSubstr("(1x2): its pods start one by one, each as it is written")));
  text = job(modelled + R"("auto")");
  text.pod_spec =
      R"("initContainers":[{"name":"warm","resources":{"limits":{"nvidia.com/gpu":"1"}}}])";
  EXPECT_THAT(
      validate(text).warnings,
      ElementsAre(AllOf(HasSubstr("completions equal to parallelism, the GPUs of a pod only where "
                                  "a single container asks for them"))));
}

}  // namespace
}  // namespace slackline::control
