#include "wire/kube/annotations.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/model/contract.h"

namespace slackline::wire {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Annotations, AreReadIntoAnIntent) {
  const auto intent = read_intent({{"slackline.dev/model", "resnet50"},
                                   {"slackline.dev/mode", "training"},
                                   {"slackline.dev/batch-size", "256"},
                                   {"slackline.dev/iterations", "90000"},
                                   {"slackline.dev/expected-duration", "3h30m"},
                                   {"slackline.dev/expected-duration-on", "A100"},
                                   {"slackline.dev/qos-class", "prior"},
                                   {"slackline.dev/deadline", "1970-01-02T00:00:00Z"},
                                   {"slackline.dev/deadline-after", "6h"},
                                   {"slackline.dev/gpu-types", "RTX3090, P40,K40"},
                                   {"slackline.dev/placements", "1x4, 2x2"},
                                   {"slackline.dev/gang-size", "4"},
                                   {"slackline.dev/family", "bert-large"},
                                   {"slackline.dev/checkpoint-interval", "10m"},
                                   {"slackline.dev/last-checkpoint-time", "1970-01-01T01:00:00Z"},
                                   {"kubernetes.io/other", "x"}},
                                  {{"slackline.dev/gang", "g"}, {"slackline.dev/queue", "q"}});
  ASSERT_NE(intent, nullptr);
  EXPECT_THAT(intent->problems, IsEmpty());
  EXPECT_EQ(intent->model, "resnet50");
  EXPECT_EQ(intent->mode, WorkloadMode::kTraining);
  EXPECT_EQ(intent->batch_size, 256);
  EXPECT_EQ(intent->iterations, 90000);
  EXPECT_EQ(intent->expected_duration_s, 12600);
  EXPECT_EQ(intent->expected_duration_on, GpuType("A100"));
  EXPECT_EQ(intent->qos_class, QosClass::kPrior);
  EXPECT_EQ(intent->deadline_s, 86400);
  EXPECT_EQ(intent->deadline_after_s, 21600);
  EXPECT_THAT(intent->gpu_types, ElementsAre(GpuType("RTX3090"), GpuType("P40"), GpuType("K40")));
  EXPECT_THAT(intent->placements, ElementsAre(Placement{1, 4}, Placement{2, 2}));
  EXPECT_EQ(intent->gang, "g");
  EXPECT_EQ(intent->gang_size, 4);
  EXPECT_EQ(intent->family, "bert-large");
  EXPECT_EQ(intent->queue, "q");
  EXPECT_EQ(intent->checkpoint_interval_s, 600);
  EXPECT_EQ(intent->last_checkpoint_s, 3600);
}

TEST(Annotations, OfALargeModelCountReplicasAndTokens) {
  const auto intent = read_intent({{"slackline.dev/batch-size", "64"},
                                   {"slackline.dev/model-parallel", "8"},
                                   {"slackline.dev/tokens", "1000000"},
                                   {"slackline.dev/tokens-per-sample", "4096"}},
                                  {});
  ASSERT_NE(intent, nullptr);
  EXPECT_TRUE(intent->problems.empty());
  EXPECT_EQ(intent->model_parallel, 8);
  EXPECT_EQ(intent->iterations, 4) << "1000000 / (64 x 4096), rounded up";
  const auto wrong = read_intent({{"slackline.dev/model-parallel", "0"},
                                  {"slackline.dev/tokens", "many"},
                                  {"slackline.dev/tokens-per-sample", "-1"}},
                                 {});
  EXPECT_EQ(wrong->problems.size(), 3U);
}

TEST(Annotations, AnyAndAutoLiftTheConstraint) {
  const auto intent =
      read_intent({{"slackline.dev/gpu-types", "any"}, {"slackline.dev/placements", "auto"}}, {});
  ASSERT_NE(intent, nullptr);
  EXPECT_TRUE(intent->any_gpu_type);
  EXPECT_TRUE(intent->any_placement);
}

TEST(Annotations, BlanksAroundAValueSayNothing) {
  const auto intent = read_intent({{"slackline.dev/deadline", " 1970-01-02T00:00:00Z\n"},
                                   {"slackline.dev/qos-class", "prior "}},
                                  {});
  EXPECT_EQ(intent->deadline_s, 86400);
  EXPECT_EQ(intent->qos_class, QosClass::kPrior);
  EXPECT_TRUE(intent->problems.empty());
}

TEST(Annotations, WithoutAnyOfOursThereIsNoIntent) {
  EXPECT_EQ(read_intent({{"kubectl.kubernetes.io/x", "y"}}, {{"app", "z"}}), nullptr);
  EXPECT_EQ(read_intent({}, {{"slackline.dev/managed", "true"}}), nullptr);
}

TEST(Annotations, WhatSlacklineWritesIsNobodysMistake) {
  for (const contract::Key& key : contract::kKeys) {
    if (key.writer == contract::Writer::kPeople || key.name == contract::kPlan) continue;
    EXPECT_EQ(read_intent({{key.name, "A100"}}, {}), nullptr) << key.name;
  }
}

TEST(Annotations, AMisspelledKeyNamesOneThatPeopleWrite) {
  const auto intent =
      read_intent({{"slackline.dev/gpu-typess", "A100"}, {"slackline.dev/plann", "x"}}, {});
  ASSERT_NE(intent, nullptr);
  ASSERT_EQ(intent->problems.size(), 2U);
  EXPECT_THAT(intent->problems[0], HasSubstr("did you mean slackline.dev/gpu-types?"));
  EXPECT_THAT(intent->problems[1], Not(HasSubstr("slackline.dev/plan?")));
}

TEST(Annotations, DependenciesAreJobsByName) {
  const auto intent = read_intent({{"slackline.dev/depends-on", "prep, clean,prep"}}, {});
  ASSERT_NE(intent, nullptr);
  EXPECT_EQ(intent->depends_on, (std::vector<std::string>{"prep", "clean"}));
  for (const char* wrong : {"", "a,,b", "Prep", "team/prep", "a b"}) {
    const auto bad = read_intent({{"slackline.dev/depends-on", wrong}}, {});
    ASSERT_NE(bad, nullptr) << wrong;
    EXPECT_TRUE(bad->depends_on.empty());
    ASSERT_EQ(bad->problems.size(), 1U);
    EXPECT_NE(bad->problems[0].find("list at most 64 Jobs"), std::string::npos);
  }
}

TEST(Annotations, KueuesQueueIsReadWhereOursIsAbsent) {
  const auto kueue = read_intent({}, {{"kueue.x-k8s.io/queue-name", "k"}});
  ASSERT_NE(kueue, nullptr);
  EXPECT_EQ(kueue->queue, "k");
  const auto both =
      read_intent({}, {{"kueue.x-k8s.io/queue-name", "k"}, {"slackline.dev/queue", "q"}});
  EXPECT_EQ(both->queue, "q");
}

struct Mistake {
  const char* key;
  const char* value;
  const char* remedy;
};

class Problems : public testing::TestWithParam<Mistake> {};

TEST_P(Problems, NameKeyValueAndRemedy) {
  const Mistake& mistake = GetParam();
  const std::string key = std::string("slackline.dev/") + mistake.key;
  const auto intent = read_intent({{key, mistake.value}}, {});
  ASSERT_NE(intent, nullptr);
  ASSERT_EQ(intent->problems.size(), 1U);
  EXPECT_THAT(intent->problems[0],
              AllOf(HasSubstr(key), HasSubstr(mistake.value), HasSubstr(mistake.remedy)));
}

INSTANTIATE_TEST_SUITE_P(EveryKey, Problems,
                         testing::Values(Mistake{"model", "", "1 to 253"},
                                         Mistake{"mode", "test", "training or inference"},
                                         Mistake{"batch-size", "12x", "whole number"},
                                         Mistake{"iterations", "0", "from 1"},
                                         Mistake{"expected-duration", "3 hours", "3h30m"},
                                         Mistake{"expected-duration", "3600", "3600s or 1h"},
                                         Mistake{"expected-duration-on", "A100,T4", "the one GPU"},
                                         Mistake{"expected-duration-on", "any", "the one GPU"},
                                         Mistake{"deadline-after", "-1h", "above zero"},
                                         Mistake{"qos-class", "Urgent", "urgent, prior or normal"},
                                         Mistake{"deadline", "tomorrow", "RFC 3339"},
                                         Mistake{"gpu-types", "A100,,K80", "any"},
                                         Mistake{"placements", "4", "1x4,2x2"},
                                         Mistake{"gpu-types", "any,A100", "any stands alone"},
                                         Mistake{"gang", "g", "a label"},
                                         Mistake{"gang-size", "1000000000000", "from 1 to 65536"},
                                         Mistake{"weight", "NaN", "a number above zero"},
                                         Mistake{"weight", "2", "this key has no effect yet"},
                                         Mistake{"min-replicas", "-1", "from 1 to 65536"},
                                         Mistake{"max-replicas", "4", "this key has no effect yet"},
                                         Mistake{"resize", "zz", "off, advise or auto"},
                                         Mistake{"variants", "a", "write 1 to 8 variants"},
                                         Mistake{"gpu-tipes", "A100", "slackline.dev/gpu-types"}));

// What is told of `variants`.
std::string told_of(std::string_view variants) {
  const auto intent = read_intent({{"slackline.dev/variants", std::string(variants)}}, {});
  return intent->problems.empty() ? "" : intent->problems.front();
}

TEST(Annotations, VariantsAreChecked) {
  const std::string good =
      R"([{"id":"b256","share":100,"batch":256,"speed":{"P100":412},"env":{"BATCH":"256"}})";
  EXPECT_THAT(told_of(good + R"(,{"id":"b64"}])"), HasSubstr("has no effect yet; remove it"));
  std::string nine = good;
  for (int i = 0; i < 8; ++i)
    nine += format(R"(,{{"id":"{}"}})", i);
  for (const std::string& bad :
       {nine + "]", good + R"(,{"id":"b256"}])", std::string("[]"), std::string("{}"),
        std::string("[1]"), std::string(R"([{"batch":1}])"), std::string(R"([{"id":""}])"),
        std::string(R"([{"id":"a","share":0}])"), std::string(R"([{"id":"a","share":101}])"),
        std::string(R"([{"id":"a","batch":1.5}])"), std::string(R"([{"id":"a","speed":3}])"),
        std::string(R"([{"id":"a","speed":{"P100":0}}])"),
        std::string(R"([{"id":"a","env":{"A":1}}])"), std::string(R"([{"id":"a","gpus":2}])")})
    EXPECT_THAT(told_of(bad), HasSubstr("write 1 to 8 variants")) << bad;
}

TEST(Annotations, AHugeOrHostileValueMakesAShortProblem) {
  const std::string huge(1 << 20, 'x');
  const auto intent = read_intent(
      {{"slackline.dev/batch-size", huge}, {"slackline.dev/mode", "a\nlevel=error \x1b[31m"}}, {});
  ASSERT_NE(intent, nullptr);
  for (const std::string& problem : intent->problems) {
    EXPECT_LT(problem.size(), 400U);
    EXPECT_EQ(problem.find_first_of("\n\x1b"), std::string::npos);
  }
}

TEST(Plan, IsReadWhole) {
  const std::string text =
      R"({"id":"p-7","epoch":3,"shape":"2x4","type":"A100","nodes":["n1","n2"],)"
      R"("promoted":true,"later":{}})";
  const auto plan = read_plan(text);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->id, "p-7");
  EXPECT_EQ(plan->epoch, 3);
  EXPECT_EQ(plan->shape, (Placement{2, 4}));
  EXPECT_EQ(plan->gpu_type, GpuType("A100"));
  EXPECT_THAT(plan->nodes, ElementsAre(NodeName("n1"), NodeName("n2")));
  EXPECT_TRUE(plan->promoted);
  EXPECT_NE(plan->value_hash,
            read_plan(R"({"id":"p-7","shape":"1x1","nodes":["n1"]})")->value_hash);
}

TEST(Plan, ThatCannotBeReadIsAProblem) {
  const auto intent = read_intent({{"slackline.dev/plan", "{}"}}, {});
  ASSERT_NE(intent, nullptr);
  EXPECT_THAT(intent->problems, ElementsAre(HasSubstr("slackline.dev/plan: id is missing")));
}

TEST(Plan, IsRefusedWhereItSaysNothing) {
  EXPECT_FALSE(read_plan("not json"));
  EXPECT_FALSE(read_plan(R"({"id":"p","shape":"2x4","nodes":[]})"));
  EXPECT_FALSE(read_plan(R"({"id":"p","shape":"many","nodes":["n"]})"));
  EXPECT_FALSE(read_plan(R"([1])"));
}

}  // namespace
}  // namespace slackline::wire
