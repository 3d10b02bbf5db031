#include "http/server/buffers.h"

#include <string>

#include <gtest/gtest.h>

namespace slackline::http {
namespace {

void fill(BufferPool& pool, InputBuffer& buffer, std::string_view bytes, std::size_t most) {
  while (!bytes.empty()) {
    pool.make_room(buffer, most);
    const std::size_t count = std::min(bytes.size(), buffer.free_size());
    std::memcpy(buffer.free_space(), bytes.data(), count);
    buffer.add(count);
    bytes.remove_prefix(count);
  }
}

TEST(BufferPool, ABufferGrowsWithWhatHasArrived) {
  BufferPool pool;
  InputBuffer buffer;
  pool.make_room(buffer, std::size_t{1} << 30);
  EXPECT_EQ(buffer.capacity(), BufferPool::kInitial) << "whatever was announced";
  const std::string bytes(100'000, 'b');
  fill(pool, buffer, bytes, std::size_t{1} << 30);
  EXPECT_EQ(buffer.bytes(), bytes);
  EXPECT_LE(buffer.capacity(), 2 * bytes.size());
}

TEST(BufferPool, NoLargerThanIsNeeded) {
  BufferPool pool;
  InputBuffer buffer;
  fill(pool, buffer, std::string(20'000, 'b'), 20'000);
  EXPECT_EQ(buffer.capacity(), 20'000U);
}

TEST(BufferPool, WhatWasGivenBackIsLentAgain) {
  BufferPool pool;
  InputBuffer first;
  fill(pool, first, std::string(100'000, 'b'), 100'000);
  pool.give_back(first);
  EXPECT_EQ(first.capacity(), 0U);
  InputBuffer second;
  pool.make_room(second, 10);
  EXPECT_EQ(second.capacity(), 100'000U);
  EXPECT_EQ(second.size(), 0U);
}

TEST(BufferPool, LargeBuffersGoBackToTheSystem) {
  BufferPool pool;
  InputBuffer large;
  fill(pool, large, std::string(3 << 20, 'b'), 3 << 20);
  pool.give_back(large);
  pool.make_room(large, 10);
  EXPECT_EQ(large.capacity(), BufferPool::kInitial);
}

TEST(InputBuffer, RemovesAnsweredBytesAndKeepsThePipelinedOnes) {
  BufferPool pool;
  InputBuffer buffer;
  fill(pool, buffer, "firstsecond", 100);
  buffer.remove_front(5);
  EXPECT_EQ(buffer.bytes(), "second");
}

}  // namespace
}  // namespace slackline::http
