#include "wire/kube/sealed_text.h"

#include <gtest/gtest.h>

#include "support/fake_mac.h"
#include "wire/kube/annotations.h"

namespace slackline::wire {
namespace {

const ObjectKey kJob{"ml", "train"};
const Uid kUid("u1");
constexpr std::string_view kPlan =
    R"({"id":"p1-1","epoch":1,"shape":"1x4","type":"A100","nodes":["n1"]})";

PlanNote read(std::string_view annotation) {
  const auto plan = read_plan(annotation);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : PlanNote();
}

TEST(SealedText, APlanCountsOnTheObjectItWasWrittenTo) {
  const test::FakeMac mac;
  const PlanNote plan = read(seal_plan(mac, {kJob, kUid}, kPlan));
  EXPECT_EQ(plan.id, "p1-1");
  EXPECT_EQ(plan.text, kPlan);
  EXPECT_TRUE(is_ours(mac, {kJob, kUid}, plan));
  EXPECT_FALSE(is_ours(mac, {kJob, Uid("u2")}, plan));  // deleted and made again
  EXPECT_FALSE(is_ours(mac, {{"ml", "other"}, kUid}, plan));
  EXPECT_FALSE(is_ours(mac, {{"other", "train"}, kUid}, plan));
  EXPECT_FALSE(is_ours(test::FakeMac("another key"), {kJob, kUid}, plan));
}

TEST(SealedText, AnyChangeOfThePlanBreaksIt) {
  const test::FakeMac mac;
  const std::string sealed = seal_plan(mac, {kJob, kUid}, kPlan);
  const auto changed = [&](std::string_view what, std::string_view into) {
    std::string text = sealed;
    return text.replace(text.find(what), what.size(), into);
  };
  for (const std::string& text :
       {changed("n1", "n2"), changed("1x4", "2x4"), changed(R"("id")", R"( "id")"),
        changed(R"(,"mac")", R"(, "mac")"), sealed + " ", std::string(kPlan),
        changed(R"({"id")", R"({"epoch":9,"id")")})
    EXPECT_FALSE(is_ours(mac, {kJob, kUid}, read(text))) << text;
}

TEST(SealedText, APlanWithoutACodeIsReadAndNotOurs) {
  const PlanNote plan = read(kPlan);
  EXPECT_EQ(plan.code, "");
  EXPECT_FALSE(is_ours(test::FakeMac(), {kJob, kUid}, plan));
  EXPECT_EQ(with_seal(kPlan, ""), kPlan);
}

}  // namespace
}  // namespace slackline::wire
