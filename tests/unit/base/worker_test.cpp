// The thread behind everything that looks again and again.
#include "slackline/base/worker.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "slackline/base/clock.h"

namespace slackline {
namespace {

constexpr double kPause_s = 0.05;
constexpr double kForever_s = 3600;
constexpr double kPrompt_s = 10;  // far below kForever_s, far above what a busy machine needs

double now_s() {
  return system_clock().steady_s();
}

TEST(Worker, LooksFirstWhenTheOwnerSaysSo) {
  std::promise<double> after_a_wait;
  std::promise<double> at_once;
  Worker waits;
  Worker looks;
  const double began_s = now_s();
  waits.start([&] {
    if (waits.wait(kPause_s)) after_a_wait.set_value(now_s());
  });
  looks.start([&] {
    do
      at_once.set_value(now_s());
    while (looks.wait(kForever_s));
  });
  EXPECT_GE(after_a_wait.get_future().get() - began_s, kPause_s);
  EXPECT_LT(at_once.get_future().get() - began_s, kPrompt_s);
}

TEST(Worker, LooksAgainAndAgain) {
  std::promise<void> third;
  int looks = 0;
  Worker worker;
  worker.start([&] {
    while (worker.wait(0.001))
      if (++looks == 3) third.set_value();
  });
  third.get_future().wait();
  worker.stop();
  worker.join();
  EXPECT_GE(looks, 3);
}

TEST(Worker, AStopEndsTheWaitAtOnce) {
  std::promise<void> waiting;
  std::atomic<bool> looked = false;
  Worker worker;
  worker.start([&] {
    waiting.set_value();
    while (worker.wait(kForever_s))
      looked = true;
  });
  waiting.get_future().wait();
  const double stopped_s = now_s();
  worker.stop();
  worker.join();
  EXPECT_LT(now_s() - stopped_s, kPrompt_s);
  EXPECT_FALSE(looked) << "a wait cut short is no reason to look";
}

TEST(Worker, AStopDuringALookReturnsAndTheJoinWaitsForTheLook) {
  std::promise<void> looking;
  std::promise<void> go_on;
  std::atomic<int> finished = 0;
  Worker worker;
  worker.start([&] {
    do {
      looking.set_value();
      go_on.get_future().wait();
      ++finished;
    } while (worker.wait(0));
  });
  looking.get_future().wait();
  worker.stop();
  EXPECT_EQ(finished, 0) << "the stop has not waited";
  go_on.set_value();
  worker.join();
  EXPECT_EQ(finished, 1) << "the look was finished, and none came after it";
}

TEST(Worker, StoppingAndJoiningTwiceIsStoppingOnce) {
  std::atomic<int> ended = 0;
  Worker worker;
  worker.start([&] {
    while (worker.wait(kForever_s)) {
    }
    ++ended;
  });
  for (int i = 0; i < 2; ++i) {
    worker.stop();
    worker.join();
  }
  EXPECT_EQ(ended, 1);
}

TEST(Worker, WhoGoesTakesTheThreadAlong) {
  std::atomic<bool> ended = false;
  {
    Worker worker;
    worker.start([&] {
      while (worker.wait(kForever_s)) {
      }
      ended = true;
    });
  }
  EXPECT_TRUE(ended);
  const Worker never_started;
}

TEST(Worker, StoppedBeforeItWasStartedItNeverWaits) {
  std::atomic<bool> waited = true;
  Worker worker;
  worker.stop();
  worker.start([&] { waited = worker.wait(0) || worker.wait(kForever_s); });
  worker.join();
  EXPECT_FALSE(waited);
}

}  // namespace
}  // namespace slackline
