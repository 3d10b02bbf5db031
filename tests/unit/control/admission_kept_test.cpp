// What the plan of a running Job wrote, against whoever applies its manifest again.
#include "admission_case.h"

namespace slackline::control {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kPlanNote =
    R"("slackline.dev/plan":"{\"id\":\"p1\",\"shape\":\"2x2\",\"type\":\"K80\",\"nodes\":[\"gpu-1\",\"gpu-2\"]}")";
// One pod of two GPUs was written; two of them run.
constexpr const char* kOriginalNote = R"("slackline.dev/original":"{\"parallelism\":1}")";

std::string shape_of(int pods) {
  return format(R"("parallelism":{},"completions":{},"completionMode":"Indexed")", pods, pods);
}

// A Job that runs by its plan, and the spec with which somebody applies it.
ReviewText applied(const std::string& notes, const std::string& running_spec,
                   const std::string& spec) {
  const std::string pairs = std::string(kPlanNote) + (notes.empty() ? "" : "," + notes);
  ReviewText text = update(pairs, pairs);
  ReviewText old = job(pairs);
  old.template_metadata = kAdmitted;
  old.spec = running_spec;
  text.old_object = test::job_text(old);
  text.spec = spec;
  return text;
}

class AdmissionKeptTest : public AdmissionTest {};

TEST_F(AdmissionKeptTest, TheManifestAsItWasChangesNoPodCount) {
  const AdmissionDecision decision = mutate(applied(kOriginalNote, shape_of(2), shape_of(1)));
  EXPECT_EQ(decision.changes.kept.pods, 2);
  EXPECT_EQ(decision.changes.original, nullptr);
  EXPECT_THAT(decision.warnings, IsEmpty());
}

TEST_F(AdmissionKeptTest, AnotherPodCountIsForTheNextStart) {
  const AdmissionDecision decision = mutate(applied(kOriginalNote, shape_of(2), shape_of(4)));
  EXPECT_EQ(decision.changes.kept.pods, 2);
  ASSERT_TRUE(decision.changes.original);
  EXPECT_EQ(decision.changes.original->parallelism, 4);
  EXPECT_THAT(decision.warnings,
              ElementsAre(HasSubstr("spec.parallelism 4: counts from the next")));
  EXPECT_EQ(mutate(applied(kOriginalNote, shape_of(2), shape_of(2))).changes, AdmissionChanges())
      << "as it runs";
}

// The template of a running Job takes no change: a manifest that replaces it lacks these.
TEST_F(AdmissionKeptTest, WhatSlacklineNotedInTheTemplateStays) {
  const std::string notes =
      R"("annotations":{"slackline.dev/band":"private-7","slackline.dev/nodes":"2"})";
  ReviewText text = applied("", shape_of(1), shape_of(1));
  ReviewText old = job(kPlanNote);
  old.template_metadata = std::string(kAdmitted) + "," + notes;
  old.spec = shape_of(1);
  text.old_object = test::job_text(old);
  EXPECT_THAT(
      mutate(text).changes.template_annotations,
      ElementsAre(Pair("slackline.dev/band", "private-7"), Pair("slackline.dev/nodes", "2")));
  text.template_metadata = old.template_metadata;
  EXPECT_THAT(mutate(text).changes.template_annotations, IsEmpty());
}

TEST_F(AdmissionKeptTest, WhatTheRunIsNotJudgedByIsForTheNextStart) {
  const auto warnings = [&](const std::string& before, const std::string& after) {
    const std::string plan = kPlanNote;
    return mutate(update(plan + before, plan + after)).warnings;
  };
  const std::string types = R"(,"slackline.dev/gpu-types":"A100")";
  EXPECT_THAT(warnings("", types),
              ElementsAre(HasSubstr("slackline.dev/gpu-types: counts from the next start")));
  EXPECT_THAT(warnings(types, types), IsEmpty());
  EXPECT_THAT(warnings(R"(,"slackline.dev/checkpoint-interval":"1m")", ""),
              ElementsAre(HasSubstr("slackline.dev/checkpoint-interval: counts")));
  EXPECT_THAT(warnings("", R"(,"team":"vision")"), IsEmpty());
  EXPECT_THAT(mutate(update("", types.substr(1))).warnings, IsEmpty()) << "it has no plan";
}

// A manifest that spells out the default of the API server, which refuses it beside the policy.
TEST_F(AdmissionKeptTest, WhatThePolicyDemandsStaysWhoeverAppliesTheManifest) {
  const auto spec = [](const char* replaced) {
    return format(R"("podFailurePolicy":{{"rules":[]}},"podReplacementPolicy":"{}")", replaced);
  };
  ReviewText old = job("");
  old.template_metadata = kAdmitted;
  old.spec = spec("Failed");
  ReviewText text = update("", "");
  text.old_object = test::job_text(old);
  text.spec = spec("TerminatingOrFailed");
  const AdmissionDecision decision = mutate(text);
  EXPECT_TRUE(decision.changes.wait_to_replace);
  EXPECT_THAT(wire::encode_json_patch(decoded(test::job_review_text(text)), decision.changes),
              HasSubstr(R"("path":"/spec/podReplacementPolicy","value":"Failed")"));
  text.spec = spec("Failed");
  EXPECT_FALSE(mutate(text).changes.wait_to_replace);
}

TEST_F(AdmissionKeptTest, AParallelismByItselfStopsNoMember) {
  const AdmissionDecision decision = mutate(
      applied("", shape_of(2), R"("parallelism":1,"completions":2,"completionMode":"Indexed")"));
  EXPECT_EQ(decision.changes.kept.pods, 2);
  EXPECT_EQ(decision.changes.original, nullptr);
  EXPECT_THAT(decision.warnings, ElementsAre(HasSubstr("spec.parallelism 1: it stays 2")));
}

TEST_F(AdmissionKeptTest, WithoutAPlanThePodCountIsItsOwners) {
  ReviewText text = update("", "");
  ReviewText old = job("");
  old.template_metadata = kAdmitted;
  old.spec = shape_of(2);
  text.old_object = test::job_text(old);
  text.spec = shape_of(1);
  EXPECT_EQ(mutate(text).changes, AdmissionChanges());
}

// The API server would refuse it: the template of a running Job is immutable.
TEST_F(AdmissionKeptTest, TheManifestAsItWasChangesNoGpuCount) {
  const auto gpus_were = [](int gpus) {
    return format(R"("slackline.dev/original":"{{\"gpus\":{},\"given\":{{\"gpus\":4}}}}")", gpus);
  };
  const auto with_gpus = [&](int before) {
    ReviewText text = applied(gpus_were(before), shape_of(1), shape_of(1));
    for (std::size_t at = 0;
         (at = text.old_object.find(R"("nvidia.com/gpu":"2")", at)) != std::string::npos;)
      text.old_object.replace(at, 20, R"("nvidia.com/gpu":"4")");
    return text;
  };
  AdmissionDecision decision = mutate(with_gpus(2));
  ASSERT_EQ(decision.changes.kept.resources.size(), 1U);
  EXPECT_EQ(decision.changes.kept.resources[0].second,
            R"({"limits":{"nvidia.com/gpu":"4"},"requests":{"nvidia.com/gpu":"4"}})");
  EXPECT_EQ(decision.changes.original, nullptr);
  decision = mutate(with_gpus(1));
  ASSERT_TRUE(decision.changes.original);
  EXPECT_EQ(decision.changes.original->gpus, 2);
  EXPECT_EQ(decision.changes.original->given.gpus, 4);
  EXPECT_THAT(decision.warnings, ElementsAre(HasSubstr("2 GPUs: counts from the next start")));
  const std::string patch = wire::encode_json_patch(decoded(test::job_review_text(with_gpus(2))),
                                                    mutate(with_gpus(2)).changes);
  EXPECT_THAT(
      patch,
      HasSubstr(
          R"({"op":"add","path":"/spec/template/spec/containers/0/resources","value":{"limits")"));
}

// What is wanted is noted in `original`; the validating webhook sees only that.
TEST_F(AdmissionKeptTest, WhatIsNotedForTheNextStartIsAllowed) {
  ReviewText stored = applied(kOriginalNote, shape_of(2), shape_of(2));
  stored.metadata =
      annotations(std::string(kPlanNote) + R"(,"slackline.dev/original":"{\"parallelism\":4}")");
  EXPECT_EQ(refusal(stored), "allowed");
  stored.metadata = annotations(std::string(kPlanNote) + R"(,"slackline.dev/original":"nonsense")");
  EXPECT_THAT(refusal(stored), HasSubstr("ReservedKey"));
}

// ---- the deadline ------------------------------------------------------------------------------

constexpr const char* kModelled =
    R"(,"slackline.dev/model":"resnet50","slackline.dev/batch-size":"64","slackline.dev/iterations":"1000")";
constexpr const char* kBasis = R"(,"slackline.dev/deadline-basis":"deadline-after: 3h00m")";

std::string due(const std::string& time) {
  return R"("slackline.dev/deadline":"2027-01-)" + time + R"(:00:00Z")";
}

TEST_F(AdmissionTest, ADeadlineThatPeopleWroteIsTheirsToMoveAndToTakeOut) {
  const std::string model = R"("slackline.dev/model":"mystery")";
  const std::string own = model + "," + due("16T08");
  for (const ReviewText& moved : {update(own, model + "," + due("17T08")), update(own, model),
                                  update(model, own), update(own + R"(,"note":"hello")", own)}) {
    EXPECT_EQ(refusal(moved), "allowed");
    EXPECT_EQ(mutate(moved).changes, AdmissionChanges());
    EXPECT_THAT(mutate(moved).warnings, IsEmpty());
  }
  EXPECT_THAT(refusal(update(own, model + "," + due("14T08"))), HasSubstr("DeadlinePast"));
  EXPECT_THAT(refusal(update(own, own + kBasis)),
              HasSubstr("ReservedKey: slackline.dev/deadline-basis"));
  const std::string tight = model + R"(,"slackline.dev/expected-duration":"9h",)";
  EXPECT_THAT(validate(update(tight + due("20T08"), tight + due("15T09"))).warnings,
              Contains(HasSubstr("cannot be met: started now")));
}

TEST_F(AdmissionTest, WhereTheirsIsTakenOutTheClassGivesADeadline) {
  const std::string model = std::string(kModelled).substr(1);
  const ReviewText without = update(model + "," + due("16T08"), model);
  const AdmissionChanges changes = mutate(without).changes;
  EXPECT_THAT(changes.annotations,
              ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T08:21:20Z"),
                          Pair("slackline.dev/deadline-basis", HasSubstr("normal: 2 x 10m40s"))));
  // As it is stored, also where that has passed by now.
  std::string resolved = model;
  for (const auto& [key, value] : changes.annotations)
    resolved += ",\"" + key + "\":\"" + value + "\"";
  for (const double later_s : {0.0, 86400.0}) {
    facts.now_wall_s = 1.8e9 + later_s;
    EXPECT_EQ(refusal(update(model + "," + due("16T08"), resolved)), "allowed");
  }
}

TEST_F(AdmissionTest, ATimeBesideItsDelayDoesNotCountAndIsWarnedOf) {
  const std::string delay = R"("slackline.dev/deadline-after":"3h",)";
  const std::string promised = delay + due("15T11") + kBasis;
  for (const ReviewText& applied :
       {update(promised, delay + due("16T08") + kBasis),
        update(promised, R"("slackline.dev/deadline-after":"3h")" + std::string(kBasis))}) {
    EXPECT_THAT(mutate(applied).changes.annotations,
                ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T11:00:00Z")));
    EXPECT_THAT(mutate(applied).warnings,
                ElementsAre("slackline.dev/deadline: stays 2027-01-15T11:00:00Z, because "
                            "slackline.dev/deadline-after: 3h00m counts; change that, or remove it "
                            "to write a time"));
    EXPECT_EQ(refusal(applied), "allowed");
  }
  const ReviewText unreadable =
      update(promised, delay + R"("slackline.dev/deadline":"soon")" + std::string(kBasis));
  EXPECT_THAT(refusal(unreadable), HasSubstr("Unreadable"));
}

TEST_F(AdmissionTest, ATimeThatIsWrittenWinsOverTheClass) {
  const std::string by_class =
      R"x(,"slackline.dev/deadline-basis":"normal: 2 x 10m40s on K80 (fitted)")x" +
      std::string(kModelled);
  const ReviewText written = update(due("15T09") + by_class, due("16T08") + by_class);
  EXPECT_THAT(mutate(written).changes.dropped, ElementsAre("slackline.dev/deadline-basis"));
  EXPECT_THAT(mutate(written).changes.annotations, IsEmpty());
  EXPECT_EQ(refusal(written), "allowed");
  EXPECT_EQ(refusal(update(due("15T09") + by_class, due("16T08") + kModelled)), "allowed");
  const ReviewText taken_out = update(due("15T09") + by_class, by_class.substr(1));
  EXPECT_THAT(mutate(taken_out).changes.annotations,
              ElementsAre(Pair("slackline.dev/deadline", "2027-01-15T09:00:00Z")));
  EXPECT_THAT(mutate(taken_out).warnings,
              ElementsAre(HasSubstr("stays 2027-01-15T09:00:00Z, as its class has it")));
}

}  // namespace
}  // namespace slackline::control
