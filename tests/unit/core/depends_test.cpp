// Tasks that wait for others.
#include "slackline/core/cluster/depends.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using Names = std::vector<std::string>;

test::JobBuilder after(const std::string& name, Names depends_on) {
  auto job = a_job(name).gpus(1).waiting();
  job.intent().depends_on = std::move(depends_on);
  return job;
}

test::JobBuilder succeeded(const std::string& name) {
  return a_job(name).finished().completed(100);
}

std::string reason_of(const ClusterSnapshot& snapshot, const std::string& name) {
  const auto hindrance = Dependencies(snapshot).of(*snapshot.find_job("default", name));
  return hindrance ? std::string(hindrance->reason) + ": " + hindrance->detail : "free";
}

TEST(DependsTest, ATaskIsFreeOnceAllThatItDependsOnHaveSucceeded) {
  auto builder = a_cluster().with(after("train", {"prep", "clean"})).with(succeeded("clean"));
  EXPECT_EQ(reason_of(builder.build(), "train"), "DependencyMissing: prep");
  auto pending = builder;
  EXPECT_EQ(reason_of(pending.with(a_job("prep")).build(), "train"), "DependencyPending: prep");
  auto failed = builder;
  EXPECT_EQ(reason_of(failed.with(a_job("prep").finished()).build(), "train"),
            "DependencyFailed: prep");
  EXPECT_EQ(reason_of(builder.with(succeeded("prep")).build(), "train"), "free");
}

TEST(DependsTest, TheWorstReasonIsTold) {
  const auto snapshot = a_cluster()
                            .with(after("train", {"slow", "gone", "broken"}))
                            .with(a_job("slow"))
                            .with(a_job("broken").finished())
                            .build();
  EXPECT_EQ(reason_of(snapshot, "train"), "DependencyFailed: broken");
}

TEST(DependsTest, AJobOfAnotherNamespaceIsAnother) {
  const auto snapshot =
      a_cluster().with(after("train", {"prep"})).with(succeeded("other/prep")).build();
  EXPECT_EQ(reason_of(snapshot, "train"), "DependencyMissing: prep");
}

TEST(DependsTest, ACycleIsNamedAndWhoeverWaitsForItOnlyWaits) {
  const auto snapshot = a_cluster()
                            .with(after("a", {"b"}))
                            .with(after("b", {"c", "free"}))
                            .with(after("c", {"a"}))
                            .with(after("d", {"a"}))
                            .with(after("self", {"self"}))
                            .with(after("free", {"start"}))
                            .with(a_job("start"))
                            .build();
  EXPECT_EQ(reason_of(snapshot, "a"), "DependencyCycle: a -> b -> c -> a");
  EXPECT_EQ(reason_of(snapshot, "c"), "DependencyCycle: c -> a -> b -> c");
  EXPECT_EQ(reason_of(snapshot, "self"), "DependencyCycle: self -> self");
  EXPECT_EQ(reason_of(snapshot, "d"), "DependencyPending: a");
  EXPECT_EQ(reason_of(snapshot, "free"), "DependencyPending: start");
}

TEST(DependsTest, AJobThatIsOverBreaksTheCycle) {
  auto over = after("b", {"a"}).finished().completed(5);
  const auto snapshot = a_cluster().with(after("a", {"b"})).with(over).build();
  EXPECT_EQ(reason_of(snapshot, "a"), "free");
}

TEST(DependsTest, AJobThatIsNotThereYetMayCloseACycle) {
  const auto snapshot =
      a_cluster().with(after("b", {"c"})).with(after("c", {"new"})).with(after("e", {})).build();
  const ObjectKey created{"default", "new"};
  EXPECT_EQ(dependency_cycle(snapshot, created, {"e", "b"}), (Names{"new", "b", "c", "new"}));
  EXPECT_EQ(dependency_cycle(snapshot, created, {"e"}), Names{});
  EXPECT_EQ(dependency_cycle(snapshot, {"other", "new"}, {"b"}), Names{});
}

}  // namespace
}  // namespace slackline::core
