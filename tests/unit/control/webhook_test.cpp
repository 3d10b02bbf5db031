#include "control/serve/webhook.h"

#include <gmock/gmock.h>

#include "cluster/api/reviewer.h"
#include "control/state/settings.h"
#include "slackline/base/text.h"
#include "support/admission_bodies.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "wire/admission/admission_codec.h"

namespace slackline::control {
namespace {

using test::ReviewText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UrgentReviewer final : public cluster::Reviewer {
 public:
  Result<std::optional<Requester>> who_is(const std::string&) override {
    return fail(ErrorCode::kUnavailable, "the webhook shows no tokens");
  }
  Result<bool> may(const Requester&, const ApiDemand&) override {
    ++asked;
    return answer;
  }
  Result<bool> answer = true;
  int asked = 0;
};

class WebhookTest : public ::testing::Test {
 protected:
  WebhookTest() {
    decisions.mode = Mode::kActive;
    decisions.catalog = default_gpu_catalog();
    limit_queues(2);
  }

  void limit_queues(std::int64_t max_pending) {
    Settings now;
    now.own_user = "us";
    now.queues.defaults.max_pending = max_pending;
    settings.set(now);
  }

  static AdmissionReview urgent() {
    ReviewText text;
    text.metadata = R"("annotations":{"slackline.dev/qos-class":"urgent"})";
    return review(text);
  }
  static AdmissionReview review(const ReviewText& text = {}) {
    return wire::decode_admission(test::job_review_text(text), default_gpu_catalog()).value();
  }
  static AdmissionReview named(const std::string& name) {
    AdmissionReview out = review();
    std::get<ReviewedJob>(out.object).job.key.name = name;
    return out;
  }
  static AdmissionReview in_queue(const std::string& queue, const std::string& name) {
    ReviewText text;
    text.metadata = R"("labels":{"slackline.dev/queue":")" + queue + "\"}";
    AdmissionReview out = review(text);
    std::get<ReviewedJob>(out.object).job.key.name = name;
    return out;
  }
  std::string reason(const AdmissionReview& asked,
                     AdmissionStage stage = AdmissionStage::kValidate) {
    const AdmissionDecision decision = webhook.answer(asked, stage);
    return decision.refusal ? std::string(decision.refusal->reason.str()) : "";
  }

  Published<Settings> settings;
  DecisionOptions decisions;
  Published<Known> known{make_known({})};
  test::FakeClock clock;
  test::FakeSource source{test::a_cluster().build()};
  UrgentReviewer reviewer;
  Webhook webhook{settings, decisions, known, source, &reviewer, clock};
};

TEST_F(WebhookTest, ShadowModeIsInert) {
  decisions.mode = Mode::kShadow;
  reviewer.answer = false;
  for (const AdmissionStage stage : {AdmissionStage::kMutate, AdmissionStage::kValidate}) {
    const AdmissionDecision decision = webhook.answer(urgent(), stage);
    EXPECT_FALSE(decision.refusal);
    EXPECT_THAT(decision.warnings, IsEmpty());
    EXPECT_EQ(decision.changes, AdmissionChanges());
  }
  EXPECT_EQ(reviewer.asked, 0);
}

TEST_F(WebhookTest, AdviseModeOnlyWarns) {
  decisions.mode = Mode::kAdvise;
  reviewer.answer = false;
  EXPECT_EQ(webhook.answer(urgent(), AdmissionStage::kMutate).changes, AdmissionChanges());
  const AdmissionDecision decision = webhook.answer(urgent(), AdmissionStage::kValidate);
  EXPECT_FALSE(decision.refusal);
  EXPECT_THAT(
      decision.warnings,
      ElementsAre(HasSubstr("in active mode this would be refused: slackline.dev/qos-class")));
}

TEST_F(WebhookTest, WhatIsNotCreatedYetIsJudgedAsInActiveModeAndNotCounted) {
  decisions.mode = Mode::kShadow;
  reviewer.answer = false;
  EXPECT_FALSE(webhook.foretell(urgent()).refusal) << "nobody asks for whom it will be";
  ReviewText late;
  late.metadata = R"("annotations":{"slackline.dev/deadline":"2001-01-01T00:00:00Z"})";
  const AdmissionDecision decision = webhook.foretell(review(late));
  ASSERT_TRUE(decision.refusal);
  EXPECT_EQ(decision.refusal->reason.str(), reason::kDeadlinePast);
  for (const char* name : {"a", "b", "c"})
    EXPECT_FALSE(webhook.foretell(named(name)).refusal) << name << ": the queue takes two";
  decisions.mode = Mode::kActive;
  EXPECT_EQ(reason(named("d")), "");
  EXPECT_EQ(reviewer.asked, 0);
}

TEST_F(WebhookTest, UrgentIsAskedForOnceInAWhile) {
  EXPECT_EQ(reason(urgent()), "");
  EXPECT_EQ(reason(urgent()), "");
  EXPECT_EQ(reviewer.asked, 1);
  clock.advance(11);
  reviewer.answer = false;
  EXPECT_EQ(reason(urgent()), "UrgentNotAllowed");
  EXPECT_EQ(reviewer.asked, 2);
  clock.advance(3);  // a denial is not kept for long: the right may have been given
  reviewer.answer = true;
  EXPECT_EQ(reason(urgent()), "");
}

TEST_F(WebhookTest, WhoMayUseAQueueWithAShareIsAskedFor) {
  Settings now;
  now.queues.named["vision"].shares = {{"A100", {8, 0}}};
  settings.set(now);
  ReviewText text;
  text.metadata = R"("labels":{"slackline.dev/queue":"vision"})";
  reviewer.answer = false;
  EXPECT_EQ(reason(review(text)), "QueueNotAllowed");
  EXPECT_EQ(reason(review()), "") << "nobody is asked about the queue of the namespace";
  EXPECT_EQ(reviewer.asked, 1);
  clock.advance(3);
  reviewer.answer = true;
  EXPECT_EQ(reason(review(text)), "");
  EXPECT_FALSE(webhook.foretell(review(text)).refusal);
}

TEST_F(WebhookTest, WhereTheRightCannotBeAskedUrgentIsRefusedWithTheReason) {
  reviewer.answer = fail(ErrorCode::kTimeout, "no answer within 0.5 s");
  const AdmissionDecision decision = webhook.answer(urgent(), AdmissionStage::kValidate);
  ASSERT_TRUE(decision.refusal);
  EXPECT_THAT(decision.refusal->message, HasSubstr("no answer within 0.5 s"));
  reviewer.answer = true;
  EXPECT_EQ(reason(urgent()), "") << "a failure is not remembered";
}

TEST_F(WebhookTest, ABurstCannotSlipPastTheLimitOfAQueue) {
  EXPECT_EQ(reason(named("a")), "");
  EXPECT_EQ(reason(named("b"), AdmissionStage::kMutate), "");
  EXPECT_EQ(reason(named("b")), "");
  EXPECT_EQ(reason(named("b")), "") << "it does not count itself";
  EXPECT_EQ(reason(named("c"), AdmissionStage::kMutate), "QueueFull");
  clock.advance(3);  // they never appeared: their creation failed elsewhere
  EXPECT_EQ(reason(named("c")), "");
}

TEST_F(WebhookTest, InventedQueuesFillTheLimitOfTheirNamespace) {
  limit_queues(3);
  int admitted = 0;
  for (int i = 0; i < 10; ++i)
    if (reason(in_queue(format("q-{}", i), format("job-{}", i))).empty()) ++admitted;
  EXPECT_EQ(admitted, 3);
  EXPECT_EQ(reason(named("without-a-queue")), "QueueFull");
}

TEST_F(WebhookTest, NobodyFillsAConfiguredQueueWithoutTheRight) {
  Settings now;
  now.queues.named["vision"].max_pending = 1;
  settings.set(now);
  reviewer.answer = false;
  EXPECT_EQ(reason(in_queue("vision", "mallory")), "QueueNotAllowed");
  reviewer.answer = true;
  clock.advance(60);  // the answer is remembered for a while
  EXPECT_EQ(reason(in_queue("vision", "jane")), "") << "it is not full";
}

TEST_F(WebhookTest, EachQueueHasItsOwnLimit) {
  Settings now;
  now.queues.defaults.max_pending = 1;
  now.queues.named["vision"].max_pending = 2;
  settings.set(now);
  reviewer.answer = true;
  const auto in_vision = [](const std::string& name) { return in_queue("vision", name); };
  EXPECT_EQ(reason(named("a")), "");
  EXPECT_EQ(reason(named("b")), "QueueFull");
  EXPECT_EQ(reason(in_vision("c")), "");
  EXPECT_EQ(reason(in_vision("d")), "");
  EXPECT_EQ(reason(in_vision("e")), "QueueFull");
  limit_queues(3);  // the file has changed
  EXPECT_EQ(reason(in_vision("e")), "");
}

TEST_F(WebhookTest, OnlyJobsThatWeHoldBackFillAQueue) {
  limit_queues(1);
  source.show(test::a_cluster()
                  .with(test::a_job("team-a/somebody-elses").gpus(1).suspended())
                  .with(test::a_job("team-a/runs").gpus(1).managed())
                  .with(test::a_job("team-b/waits").gpus(1).waiting())
                  .build());
  EXPECT_EQ(reason(named("a"), AdmissionStage::kMutate), "");
  source.show(test::a_cluster().with(test::a_job("team-a/ours").gpus(1).waiting()).build());
  EXPECT_EQ(reason(named("a"), AdmissionStage::kMutate), "QueueFull");
}

TEST_F(WebhookTest, ReviewsOfWhatNeverComesDoNotKeepAQueueFull) {
  int refused = 0;
  for (int turn = 0; turn < 100; ++turn) {
    for (const char* name : {"forged-1", "forged-2"})
      webhook.answer(named(name), AdmissionStage::kValidate);
    if (!reason(named("honest"), AdmissionStage::kMutate).empty()) ++refused;
    clock.advance(2.5);
  }
  EXPECT_EQ(refused, 1) << "once: then the namespace has lost its credit";
  clock.advance(RecentAdmissions::kDistrusted_s + 1);
  EXPECT_EQ(reason(named("a")), "");
  EXPECT_EQ(reason(named("b")), "");
  EXPECT_EQ(reason(named("c")), "QueueFull") << "it has credit again";
}

TEST_F(WebhookTest, BarePodsWaitInAQueueToo) {
  const auto pod = [](const std::string& name) {
    AdmissionReview out =
        wire::decode_admission(test::pod_review_text(), default_gpu_catalog()).value();
    std::get<ReviewedPod>(out.object).pod.key.name = name;
    return out;
  };
  EXPECT_EQ(reason(pod("a")), "");
  source.show(test::a_cluster()
                  .with(test::a_pod("team-a/a").gpus(1).managed().gated())
                  .with(test::a_pod("team-a/of-a-job").gpus(1).managed().gated().of_job("j"))
                  .with(test::a_pod("team-a/runs").gpus(1).managed())
                  .build());
  EXPECT_EQ(reason(pod("b")), "");
  EXPECT_EQ(reason(pod("c")), "QueueFull");
  EXPECT_EQ(reason(named("a-job")), "QueueFull");
}

TEST_F(WebhookTest, ALabelledGangOfBarePodsIsOneTask) {
  limit_queues(1);
  const auto member = [](const std::string& name, const std::string& gang) {
    ReviewText text;
    text.metadata = R"("labels":{"slackline.dev/gang":")" + gang + R"("})";
    AdmissionReview out =
        wire::decode_admission(test::pod_review_text(text), default_gpu_catalog()).value();
    std::get<ReviewedPod>(out.object).pod.key.name = name;
    return out;
  };
  EXPECT_EQ(reason(member("a-0", "a")), "");
  EXPECT_EQ(reason(member("a-1", "a")), "");
  EXPECT_EQ(reason(member("b-0", "b")), "QueueFull");
}

class WebhookGangsTest : public WebhookTest {
 protected:
  static std::string owned_by(const std::string& version, const std::string& kind,
                              const std::string& name) {
    return R"("ownerReferences":[{"apiVersion":")" + version + R"(","kind":")" + kind +
           R"(","name":")" + name + R"(","uid":"1","controller":true}])";
  }
  static AdmissionReview pod(const std::string& name, const std::string& metadata,
                             const std::string& user = "system:serviceaccount:kubeflow:op") {
    ReviewText text;
    text.user = user;
    text.metadata = metadata;
    AdmissionReview out =
        wire::decode_admission(test::pod_review_text(text), default_gpu_catalog()).value();
    std::get<ReviewedPod>(out.object).pod.key.name = name;
    return out;
  }
  static AdmissionReview torch(const std::string& name, const std::string& gang) {
    return pod(name, owned_by("kubeflow.org/v1", "PyTorchJob", gang));
  }
  static AdmissionReview of_set(const std::string& name, const std::string& set) {
    ReviewText text;
    text.metadata = owned_by("jobset.x-k8s.io/v1alpha2", "JobSet", set);
    AdmissionReview out = review(text);
    std::get<ReviewedJob>(out.object).job.key.name = name;
    return out;
  }
  static Pod shown(const std::string& name, const std::string& kind, const std::string& gang) {
    Pod pod = test::a_pod("team-a/" + name).gpus(1).managed().gated().owned_by(kind, gang).build();
    OwnerGang made;
    made.kind = kind;
    made.name = gang;
    pod.owner_gang = std::make_shared<const OwnerGang>(made);
    return pod;
  }
};

TEST_F(WebhookGangsTest, AGangCountsOnceAndIsNeverRefusedByHalves) {
  EXPECT_EQ(reason(torch("t1-0", "t1")), "");
  EXPECT_EQ(reason(torch("t2-0", "t2")), "");
  EXPECT_EQ(reason(torch("t3-0", "t3")), "QueueFull") << "its controller tries again later";
  EXPECT_EQ(reason(named("a-job")), "QueueFull");
  EXPECT_EQ(reason(torch("t1-1", "t1")), "") << "part of what is there";
  source.show(test::a_cluster()
                  .add(shown("t1-0", "PyTorchJob", "t1"))
                  .add(shown("t1-1", "PyTorchJob", "t1"))
                  .add(shown("t2-0", "PyTorchJob", "t2"))
                  .build());
  clock.advance(60);
  EXPECT_EQ(reason(torch("t3-0", "t3")), "QueueFull");
  EXPECT_EQ(reason(torch("t1-2", "t1")), "");
  Pod runs = shown("t1-0", "PyTorchJob", "t1");
  runs.node = NodeName("n");
  runs.gated = runs.our_gate = false;
  source.show(test::a_cluster()
                  .with(test::a_node("n").of("T4", 4))
                  .add(runs)
                  .add(shown("t2-0", "PyTorchJob", "t2"))
                  .with(test::a_job("team-a/waits").gpus(1).waiting())
                  .build());
  EXPECT_EQ(reason(torch("t1-1", "t1")), "") << "it replaces a lost one";
  EXPECT_EQ(reason(torch("t4-0", "t4")), "QueueFull");
}

TEST_F(WebhookGangsTest, AJobSetIsCountedByItsJobs) {
  limit_queues(1);
  EXPECT_EQ(reason(of_set("s1-a-0", "s1")), "");
  EXPECT_EQ(reason(of_set("s1-b-0", "s1")), "");
  EXPECT_EQ(reason(of_set("s2-a-0", "s2")), "QueueFull");
  Pod of_job = shown("s1-a-0-0", "JobSet", "s1");
  of_job.owner = OwnerRef{"Job", "s1-a-0", Uid("job")};
  source.show(test::a_cluster().add(of_job).build());
  clock.advance(60);
  EXPECT_EQ(reason(of_set("s2-a-0", "s2")), "QueueFull");
  const std::string set = R"("labels":{"jobset.sigs.k8s.io/jobset-name":"s2"},)";
  EXPECT_EQ(reason(pod("s2-a-0-0", set + owned_by("batch/v1", "Job", "s2-a-0"),
                       "system:serviceaccount:kube-system:job-controller")),
            "")
      << "its Job was counted";
}

TEST_F(WebhookGangsTest, AGroupThatTheStatefulSetControllerMakesCountsToo) {
  limit_queues(1);
  const auto leader = [](const std::string& number) {
    return pod("vllm-" + number,
               R"("labels":{"leaderworkerset.sigs.k8s.io/name":"vllm",)"
               R"("leaderworkerset.sigs.k8s.io/group-index":")" +
                   number + R"("},)" + owned_by("apps/v1", "StatefulSet", "vllm"),
               "system:serviceaccount:kube-system:statefulset-controller");
  };
  EXPECT_EQ(reason(leader("0")), "");
  EXPECT_EQ(reason(leader("1")), "QueueFull");
}

TEST_F(WebhookGangsTest, AGangMovesIntoAQueueWithRoomOnly) {
  Settings now;
  now.queues.named["vision"].max_pending = 1;
  settings.set(now);
  reviewer.answer = true;
  source.show(test::a_cluster()
                  .add(shown("t1-0", "PyTorchJob", "t1"))
                  .with([] {
                    auto job = test::a_job("team-a/waits").gpus(1).waiting();
                    job.intent().queue = "vision";
                    return job;
                  }())
                  .build());
  ReviewText text;
  const std::string owner =
      R"("slackline.dev/managed":"true"},)" + owned_by("kubeflow.org/v1", "PyTorchJob", "t1");
  text.pod_spec = R"("schedulingGates":[{"name":"slackline.dev/queue"}])";
  text.metadata = R"("labels":{)" + owner;
  text.old_object = test::pod_text(text);
  text.operation = "UPDATE";
  text.metadata = R"("labels":{"slackline.dev/queue":"vision",)" + owner;
  EXPECT_EQ(
      reason(wire::decode_admission(test::pod_review_text(text), default_gpu_catalog()).value()),
      "QueueFull");
}

TEST_F(WebhookTest, AFloodOfQuestionsForARightIsRated) {
  const auto ask = [&](int i, const std::string& ns) {
    AdmissionReview out = urgent();
    out.user.name = format("user-{}", i);
    out.ns = ns;
    return reason(out, AdmissionStage::kValidate);
  };
  for (int i = 0; i < 300; ++i)
    ask(i, "team-a");
  EXPECT_EQ(reviewer.asked, Rights::kNamespaceBurst);
  EXPECT_EQ(ask(1000, "team-a"), "UrgentNotAllowed");
  EXPECT_EQ(ask(1000, "team-b"), "") << "others are still heard";
  for (int i = 0; i < 300; ++i)
    ask(i, format("made-up-{}", i));
  EXPECT_EQ(reviewer.asked, Rights::kBurst);
  EXPECT_EQ(reason(named("modest")), "") << "nothing but urgent is refused";
  clock.advance(10);
  EXPECT_EQ(ask(2000, "team-a"), "");
}

TEST_F(WebhookTest, ADryRunTakesNoPlace) {
  for (const char* name : {"a", "b", "c"}) {
    AdmissionReview dry = named(name);
    dry.dry_run = true;
    EXPECT_EQ(reason(dry), "");
  }
}

}  // namespace
}  // namespace slackline::control
