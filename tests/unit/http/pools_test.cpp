#include "http/pools.h"

#include <atomic>
#include <latch>
#include <set>

#include <gtest/gtest.h>

namespace slackline::http {
namespace {

TEST(ThreadPool, RunsEveryTaskBeforeItStops) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(3, 1000);
    for (int i = 0; i < 1000; ++i)
      ASSERT_TRUE(pool.submit([&done] { ++done; }));
  }
  EXPECT_EQ(done, 1000);
}

TEST(ThreadPool, StartsAThreadForEachTaskThatBlocks) {
  std::latch all_running(8);
  ThreadPool pool(8, 0);
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(pool.submit([&all_running] { all_running.arrive_and_wait(); }));
  all_running.wait();  // would hang with fewer than eight threads
}

TEST(ThreadPool, RefusesWhenThreadsAndQueueAreFull) {
  std::latch release(1);
  ThreadPool pool(2, 1);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(pool.submit([&release] { release.wait(); }));
  EXPECT_FALSE(pool.submit([] {}));
  release.count_down();
}

TEST(ThreadPool, ReusesAnIdleThread) {
  Mutex mutex;
  std::set<std::thread::id> seen;
  ThreadPool pool(16, 16);
  for (int i = 0; i < 50; ++i) {
    std::latch done(1);
    ASSERT_TRUE(pool.submit([&] {
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
  EXPECT_FALSE(pool.submit([] {}));
}

}  // namespace
}  // namespace slackline::http
