#include "http/buffers.h"

#include <string>

#include <gtest/gtest.h>

namespace slackline::http {
namespace {

TEST(BufferPool, GrowingKeepsTheBytes) {
  BufferPool pool(1 << 20);
  InputBuffer buffer;
  ASSERT_TRUE(pool.borrow(buffer));
  std::memcpy(buffer.free_space(), "abc", 3);
  buffer.add(3);
  ASSERT_TRUE(pool.grow(buffer, 100'000));
  EXPECT_EQ(buffer.bytes(), "abc");
}

TEST(BufferPool, TheBudgetBoundsAllBuffersTogether) {
  BufferPool pool(3 * BufferPool::kInitial);
  InputBuffer first;
  InputBuffer second;
  ASSERT_TRUE(pool.borrow(first));
  ASSERT_TRUE(pool.grow(first, 2 * BufferPool::kInitial));
  ASSERT_TRUE(pool.borrow(second));
  EXPECT_FALSE(pool.grow(second, 2 * BufferPool::kInitial));
  pool.give_back(first);
  InputBuffer third;
  EXPECT_TRUE(pool.borrow(third)) << "what was given back is lent again";
  EXPECT_EQ(third.size(), 0U);
}

TEST(BufferPool, LargeBuffersGoBackToTheSystem) {
  BufferPool pool(4 << 20);
  for (int i = 0; i < 100; ++i) {
    InputBuffer buffer;
    ASSERT_TRUE(pool.borrow(buffer));
    ASSERT_TRUE(pool.grow(buffer, 3 << 20)) << "round " << i;
    pool.give_back(buffer);
  }
}

TEST(InputBuffer, RemovesAnsweredBytesAndKeepsThePipelinedOnes) {
  BufferPool pool(1 << 20);
  InputBuffer buffer;
  ASSERT_TRUE(pool.borrow(buffer));
  std::memcpy(buffer.free_space(), "firstsecond", 11);
  buffer.add(11);
  buffer.remove_front(5);
  EXPECT_EQ(buffer.bytes(), "second");
}

}  // namespace
}  // namespace slackline::http
