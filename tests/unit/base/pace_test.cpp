// How soon a thread repeats its work: at once out of what it saved, then as its share allows.
#include "slackline/base/pace.h"

#include <gtest/gtest.h>

namespace slackline {
namespace {

constexpr PaceLimits kTenth{.share = 0.1, .most_saved_s = 0.05, .most_rest_s = 0.5};

// Works whenever it may, `work_s` at a time; returns the share of the time that it took.
double share_of_a_flood(Pace pace, double began_s, double work_s, int turns) {
  double now_s = began_s;
  for (int i = 0; i < turns; ++i)
    now_s = pace.worked(now_s, now_s + work_s);
  return turns * work_s / (now_s - began_s);
}

TEST(Pace, SpendsWhatItSavedAtOnce) {
  Pace pace(kTenth);
  double now_s = 100;
  for (int i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(pace.worked(now_s, now_s + 0.01), now_s + 0.01) << i;
    now_s += 0.01;
  }
  EXPECT_GT(pace.worked(now_s, now_s + 0.01), now_s + 0.01);
}

TEST(Pace, KeepsToItsShareInAFlood) {
  EXPECT_NEAR(share_of_a_flood(Pace(kTenth), 100, 0.001, 10'000), 0.1, 0.001);
  EXPECT_NEAR(share_of_a_flood(Pace(kTenth), 100, 0.02, 10'000), 0.1, 0.001);
}

TEST(Pace, SavesUpWhileNothingIsDone) {
  Pace pace(kTenth);
  double now_s = pace.worked(100, 100.05);  // all that was saved
  EXPECT_DOUBLE_EQ(now_s, 100.05);
  now_s += 0.2;  // earns 0.02
  EXPECT_NEAR(pace.worked(now_s, now_s + 0.022), now_s + 0.022, 1e-9);
  now_s += 3600;  // an hour saves no more than the limit
  now_s = pace.worked(now_s, now_s + 0.05);
  EXPECT_NEAR(pace.worked(now_s, now_s + 0.01), now_s + 0.1, 1e-6);
}

TEST(Pace, NeverRestsLongerThanIsBearable) {
  Pace pace(kTenth);
  const double next_s = pace.worked(100, 110);
  EXPECT_DOUBLE_EQ(next_s, 110.5);
  EXPECT_NEAR(pace.worked(next_s, next_s + 0.001), next_s + 0.01,
              1e-6);  // and what was owed is forgiven
}

}  // namespace
}  // namespace slackline
