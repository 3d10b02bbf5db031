// The bounded queue between those that ask and those that do.
#include "slackline/base/mailbox.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(Mailbox, HandsOutInOrderAndRefusesWhatIsOverItsLimit) {
  Mailbox<int> mailbox(2);
  EXPECT_TRUE(mailbox.push(1));
  EXPECT_FALSE(mailbox.full());
  EXPECT_TRUE(mailbox.push(2));
  EXPECT_TRUE(mailbox.full());
  EXPECT_FALSE(mailbox.push(3));
  EXPECT_EQ(mailbox.pop(), 1);
  EXPECT_EQ(mailbox.wait_pop(), 2);
  EXPECT_EQ(mailbox.pop(), std::nullopt);
}

TEST(Mailbox, APushOverTakesThePlaceOfWhatWaitsAlsoInAFullOne) {
  Mailbox<int> mailbox(2);
  mailbox.push(10);
  mailbox.push(20);
  EXPECT_TRUE(mailbox.push_over(11, [](int other) { return other / 10 == 1; }));
  EXPECT_FALSE(mailbox.push_over(30, [](int other) { return other / 10 == 3; }));
  EXPECT_EQ(mailbox.pop(), 11);
  EXPECT_EQ(mailbox.pop(), 20);
}

TEST(Mailbox, AClosedOneTakesNothingAndKeepsNobodyWaiting) {
  Mailbox<int> mailbox(9);
  mailbox.push(1);
  mailbox.close();
  EXPECT_FALSE(mailbox.push(2));
  EXPECT_EQ(mailbox.wait_pop(), std::nullopt) << "what waits is given up";
  EXPECT_EQ(mailbox.pop(), 1) << "unless somebody wants it";
}

TEST(Mailbox, ClearedItIsEmptyAndOpen) {
  Mailbox<int> mailbox(1);
  mailbox.push(1);
  mailbox.clear();
  EXPECT_EQ(mailbox.pop(), std::nullopt);
  EXPECT_TRUE(mailbox.push(2));
}

TEST(Mailbox, WakesEveryWorkerWhenItIsClosed) {
  Mailbox<int> mailbox(100);
  Mailbox<int> done(100);
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back([&] {
      while (const auto item = mailbox.wait_pop())
        done.push(*item);
    });
  int sum = 0;
  for (int i = 1; i <= 100; ++i)
    mailbox.push(i);
  for (int i = 1; i <= 100; ++i)
    sum += *done.wait_pop();
  mailbox.close();
  for (std::thread& worker : workers)
    worker.join();
  EXPECT_EQ(sum, 5050);
}

}  // namespace
}  // namespace slackline
