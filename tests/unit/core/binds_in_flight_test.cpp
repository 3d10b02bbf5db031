#include "slackline/core/cluster/binds_in_flight.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_node;
using test::a_pod;

const std::string kShare = "example.com/share";
const NodeName kBoundNode("n1");
const NodeName kOther("n2");

GpuCatalog bind_shares() {
  GpuCatalog catalog;
  catalog.resources = {{kShare, GpuSharing::kTimeslice, true},
                       {"nvidia.com/gpu", GpuSharing::kWhole, false}};
  return catalog;
}

class BindsInFlightTest : public testing::Test {
 protected:
  // Two nodes of two shares each; the pods wait, or are on the node named.
  static ClusterSnapshot cluster(const std::vector<std::pair<std::string, std::string>>& pods) {
    auto builder =
        a_cluster().with(a_node("n1").resource(kShare, 2)).with(a_node("n2").resource(kShare, 2));
    for (const auto& [name, node] : pods)
      builder.with(node.empty() ? asks(name) : asks(name).on(node));
    return builder.build();
  }
  static test::PodBuilder asks(const std::string& name) { return a_pod(name).gpus(1, kShare); }
  static Uid uid(const std::string& name) { return asks(name).build().uid; }

  Booking book(const ClusterSnapshot& snapshot, const std::string& name, const NodeName& node) {
    return binds_.book(snapshot, asks(name).build(), node, catalog_).booking;
  }
  // As the annotation has them.
  std::string slots(const ClusterSnapshot& snapshot, const test::PodBuilder& pod,
                    const NodeName& node = kBoundNode) {
    return device_ids_text(binds_.book(snapshot, pod.build(), node, catalog_).slots);
  }

  const GpuCatalog catalog_ = bind_shares();
  BindsInFlight binds_;
};

TEST_F(BindsInFlightTest, WhatIsInFlightIsNotGivenOutAgain) {
  const auto snapshot = cluster({{"a", ""}, {"b", ""}, {"c", ""}});
  EXPECT_EQ(book(snapshot, "a", kBoundNode), Booking::kBooked);
  EXPECT_EQ(book(snapshot, "b", kBoundNode), Booking::kBooked);
  EXPECT_EQ(book(snapshot, "c", kBoundNode), Booking::kFull);
  EXPECT_EQ(book(snapshot, "c", kOther), Booking::kBooked);
  binds_.failed(uid("a"), kBoundNode);
  EXPECT_EQ(book(snapshot, "a", kOther), Booking::kBooked) << "what failed is free again";
}

TEST_F(BindsInFlightTest, APodIsInFlightOnceAtATime) {
  const auto snapshot = cluster({{"a", ""}});
  EXPECT_EQ(book(snapshot, "a", kBoundNode), Booking::kBooked);
  EXPECT_EQ(book(snapshot, "a", kBoundNode), Booking::kUnderWay);
  EXPECT_EQ(book(snapshot, "a", kOther), Booking::kUnderWay);
}

TEST_F(BindsInFlightTest, ABoundPodIsCountedOnceWhenTheWatchShowsIt) {
  const auto before = cluster({{"a", ""}, {"b", ""}, {"c", ""}});
  book(before, "a", kBoundNode);
  binds_.bound(uid("a"), kBoundNode, 1);
  binds_.settle(before, 2);
  EXPECT_EQ(binds_.size(), 1U) << "the watch lags";
  EXPECT_EQ(binds_.taken(before, uid("b")).size(), 1U);
  EXPECT_TRUE(binds_.taken(before, uid("a")).empty()) << "its own shares are free for it";
  const auto after = cluster({{"a", "n1"}, {"b", ""}, {"c", ""}});
  EXPECT_TRUE(binds_.taken(after, uid("b")).empty()) << "neither twice before it is settled";
  EXPECT_EQ(book(after, "b", kBoundNode), Booking::kBooked);
  EXPECT_EQ(book(after, "c", kBoundNode), Booking::kFull);
  binds_.settle(after, 3);
  EXPECT_EQ(binds_.size(), 1U) << "b";
}

TEST_F(BindsInFlightTest, ADoubtfulBindHoldsItsSharesUntilItCanNotHappenAnyMore) {
  const auto snapshot = cluster({{"a", ""}, {"b", ""}, {"c", ""}});
  book(snapshot, "a", kBoundNode);
  binds_.doubtful(uid("a"), kBoundNode, 10);
  book(snapshot, "b", kBoundNode);
  binds_.settle(snapshot, 10 + kDoubtfulBind_s - 1);
  EXPECT_EQ(book(snapshot, "c", kBoundNode), Booking::kFull);
  EXPECT_EQ(book(snapshot, "a", kBoundNode), Booking::kBooked) << "it may be tried again, though";
  binds_.doubtful(uid("a"), kBoundNode, 20);
  binds_.settle(snapshot, 20 + kDoubtfulBind_s);
  EXPECT_EQ(book(snapshot, "c", kBoundNode), Booking::kBooked);
}

TEST_F(BindsInFlightTest, ASuccessElsewhereEndsTheDoubt) {
  const auto snapshot = cluster({{"a", ""}});
  book(snapshot, "a", kBoundNode);
  binds_.doubtful(uid("a"), kBoundNode, 1);
  EXPECT_EQ(book(snapshot, "a", kOther), Booking::kBooked);
  EXPECT_EQ(binds_.size(), 2U);
  binds_.bound(uid("a"), kOther, 2);
  EXPECT_EQ(binds_.size(), 1U);
}

TEST_F(BindsInFlightTest, APodThatIsGoneHoldsNothing) {
  book(cluster({{"a", ""}}), "a", kBoundNode);
  binds_.bound(uid("a"), kBoundNode, 1);
  binds_.settle(cluster({}), 2);
  EXPECT_EQ(binds_.size(), 0U);
}

TEST_F(BindsInFlightTest, AnAnswerIsWaitedForWhateverTheWatchShows) {
  book(cluster({{"a", ""}}), "a", kBoundNode);
  binds_.settle(cluster({}), 1e9);
  EXPECT_EQ(binds_.size(), 1U);
}

TEST_F(BindsInFlightTest, ASuccessThatTheWatchNeverShowsIsForgottenInTheEnd) {
  const auto snapshot = cluster({{"a", ""}});
  book(snapshot, "a", kBoundNode);
  binds_.bound(uid("a"), kBoundNode, 1);
  binds_.settle(snapshot, kBelievedBind_s);
  EXPECT_EQ(binds_.size(), 1U);
  binds_.settle(snapshot, 1 + kBelievedBind_s);
  EXPECT_EQ(binds_.size(), 0U);
}

TEST_F(BindsInFlightTest, WhatKubeSchedulerCountsIsNotOurs) {
  EXPECT_TRUE(self_accounted_part(a_pod("p").gpus(4).build().requests, catalog_).gpus.empty());
  EXPECT_EQ(self_accounted_part(asks("p").build().requests, catalog_).gpu_count(kShare), 1);
}

TEST_F(BindsInFlightTest, SlotsAreThoseThatNobodyHas) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1").of("A100", 2).resource(kShare, 4))
                            .with(asks("told").on("n1").slots(kShare, {2}))
                            .with(asks("untold").on("n1"))
                            .build();
  EXPECT_EQ(slots(snapshot, asks("a")), "example.com/share=1") << "untold has the lowest";
  EXPECT_EQ(slots(snapshot, asks("b")), "example.com/share=3") << "a is under way";
  binds_.failed(uid("a"), kBoundNode);
  EXPECT_EQ(slots(snapshot, asks("c")), "example.com/share=1") << "what failed is free again";
}

TEST_F(BindsInFlightTest, ARepeatedOrderHasTheSameSlots) {
  const auto snapshot = cluster({{"a", ""}, {"b", ""}});
  EXPECT_EQ(slots(snapshot, asks("b")), "example.com/share=0");
  EXPECT_EQ(slots(snapshot, asks("a")), "example.com/share=1");
  binds_.doubtful(uid("a"), kBoundNode, 1);
  binds_.failed(uid("b"), kBoundNode);
  EXPECT_EQ(slots(snapshot, asks("a")), "example.com/share=1") << "the first may happen yet";
}

TEST_F(BindsInFlightTest, SlotsOfEveryResourceAreNamed) {
  GpuCatalog catalog = catalog_;
  catalog.resources.insert(catalog.resources.begin(), {"vgpu", GpuSharing::kVgpu, true});
  const auto snapshot =
      a_cluster().with(a_node("n1").resource(kShare, 2).resource("vgpu", 4)).build();
  const Booked booked =
      binds_.book(snapshot, asks("a").gpus(2, "vgpu").build(), kBoundNode, catalog);
  EXPECT_EQ(device_ids_text(booked.slots), "example.com/share=0;vgpu=0,1");
}

TEST_F(BindsInFlightTest, WhereOneSlotIsToldTwiceThereIsNoChoice) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1").resource(kShare, 4))
                            .with(asks("one").on("n1").slots(kShare, {2}))
                            .with(asks("other").on("n1").slots(kShare, {2}))
                            .build();
  const Booked booked = binds_.book(snapshot, asks("a").build(), kBoundNode, catalog_);
  EXPECT_EQ(booked.booking, Booking::kBooked) << "it has its share";
  EXPECT_TRUE(booked.slots.empty());
}

TEST_F(BindsInFlightTest, APodThatIsThereIsGivenNoOtherSlots) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1").resource(kShare, 4))
                            .with(asks("a").on("n1").slots(kShare, {2}))
                            .build();
  const Booked booked = binds_.book(snapshot, asks("a").build(), kBoundNode, catalog_);
  EXPECT_EQ(booked.booking, Booking::kBooked);
  EXPECT_TRUE(booked.slots.empty());
}

}  // namespace
}  // namespace slackline::core
