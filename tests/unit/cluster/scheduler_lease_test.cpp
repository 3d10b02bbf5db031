// Whom the looks at kube-scheduler's Lease show to hold it, and for how long that is believed.
#include "cluster/lease/scheduler_lease.h"

#include <gtest/gtest.h>

namespace slackline::cluster {
namespace {

class SeenTermTest : public testing::Test {
 protected:
  static wire::LeaseRecord held_by(const std::string& holder, double renewed_s,
                                   std::int64_t transitions = 3) {
    return {holder, 15, transitions, renewed_s, "7"};
  }
  // A look that takes half a second.
  void look(double at_s, const wire::LeaseRecord& lease) { term_.see(lease, at_s, at_s + 0.5); }

  SeenTerm term_;
};

TEST_F(SeenTermTest, CountsOnceARenewalWasSeen) {
  look(100, held_by("a_1", 5000));
  EXPECT_EQ(term_.since(101), std::nullopt) << "it may have been lost long ago";
  look(101, held_by("a_1", 5000));
  EXPECT_EQ(term_.since(102), std::nullopt);
  look(102, held_by("a_1", 5002));
  EXPECT_EQ(term_.since(103), 100.5) << "when it was first seen to hold it";
}

TEST_F(SeenTermTest, EndsADurationAfterTheLookBeforeTheRenewal) {
  look(100, held_by("a_1", 5000));
  look(101, held_by("a_1", 5002));
  EXPECT_TRUE(term_.since(114.9));
  EXPECT_FALSE(term_.since(115)) << "renewed at 100 at the earliest: others may take it";
  look(130, held_by("a_1", 5002));
  EXPECT_FALSE(term_.since(130));
  look(131, held_by("a_1", 5031));
  EXPECT_EQ(term_.since(131), 100.5) << "nobody has held it in between";
}

TEST_F(SeenTermTest, AnotherHolderIsAnotherTerm) {
  look(100, held_by("a_1", 5000));
  look(101, held_by("a_1", 5002));
  look(102, held_by("b_1", 5003, 4));
  EXPECT_EQ(term_.holder(), "b_1");
  EXPECT_EQ(term_.since(103), std::nullopt);
  look(104, held_by("b_1", 5005, 4));
  EXPECT_EQ(term_.since(105), 102.5);
  look(106, held_by("b_1", 5007, 6));
  EXPECT_EQ(term_.since(107), std::nullopt) << "somebody else held it in between";
}

TEST_F(SeenTermTest, AFreeLeaseIsNobodys) {
  look(100, held_by("a_1", 5000));
  look(101, held_by("a_1", 5002));
  look(102, held_by("", 5003));
  look(103, held_by("", 5004));
  EXPECT_EQ(term_.since(104), std::nullopt);
  look(105, held_by("a_1", 5005));
  look(106, held_by("a_1", 5006));
  EXPECT_EQ(term_.since(107), 105.5);
  term_.see_none();
  EXPECT_EQ(term_.holder(), "");
  EXPECT_EQ(term_.since(107), std::nullopt);
}

}  // namespace
}  // namespace slackline::cluster
