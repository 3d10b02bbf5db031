#include "http/server/thread_pool.h"

#include <atomic>
#include <latch>
#include <set>

#include <gtest/gtest.h>

namespace slackline::http {
namespace {

TEST(ThreadPool, RunsEveryTaskBeforeItStops) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(3, 2000);
    for (int i = 0; i < 1000; ++i)
      ASSERT_TRUE(pool.submit("a", [&done] { ++done; }));
  }
  EXPECT_EQ(done, 1000);
}

TEST(ThreadPool, StartsAThreadForEachTaskThatBlocks) {
  std::latch all_running(8);
  ThreadPool pool(8, 8);
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(
        pool.submit(i % 2 == 0 ? "a" : "b", [&all_running] { all_running.arrive_and_wait(); }));
  all_running.wait();  // would hang with fewer than eight threads
}

TEST(ThreadPool, RefusesWhenThreadsAndQueueAreFull) {
  std::latch release(1);
  ThreadPool pool(2, 2);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(pool.submit("a", [&release] { release.wait(); }));
  EXPECT_FALSE(pool.submit("a", [] {})) << "the last quarter is for others";
  // It waits too: peers take turns, so it may run before the third of "a".
  EXPECT_TRUE(pool.submit("b", [&release] { release.wait(); }));
  EXPECT_FALSE(pool.submit("c", [] {}));
  release.count_down();
}

TEST(ThreadPool, PeersTakeTurns) {
  std::latch release(1);
  std::vector<std::string> order;
  {
    ThreadPool pool(1, 99);
    ASSERT_TRUE(pool.submit("greedy", [&release] { release.wait(); }));
    for (int i = 0; i < 50; ++i)
      ASSERT_TRUE(pool.submit("greedy", [&order] { order.emplace_back("greedy"); }));
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(pool.submit("modest", [&order] { order.emplace_back("modest"); }));
    release.count_down();
  }
  ASSERT_EQ(order.size(), 52U);
  EXPECT_EQ(order[0], "modest");
  EXPECT_EQ(order[2], "modest");
}

TEST(ThreadPool, ReusesAnIdleThread) {
  Mutex mutex;
  std::set<std::thread::id> seen;
  ThreadPool pool(16, 16);
  for (int i = 0; i < 50; ++i) {
    std::latch done(1);
    ASSERT_TRUE(pool.submit("a", [&] {
      {
        const MutexLock lock(mutex);
        seen.insert(std::this_thread::get_id());
      }
      done.count_down();
    }));
    done.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // until the worker waits again
  }
  pool.stop();
  EXPECT_LT(seen.size(), 5U);
}

TEST(ThreadPool, RefusesAfterStop) {
  ThreadPool pool(1, 1);
  pool.stop();
  EXPECT_FALSE(pool.submit("a", [] {}));
}

}  // namespace
}  // namespace slackline::http
