#include "wire/kube/stop_book_codec.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

TEST(StopBookCodecTest, AConfigMapIsReadAsItWasWritten) {
  const BookedStop of_job{.stopped = {"team-a", "runs"},
                          .uid = Uid("u-1"),
                          .count = 2,
                          .controller = {},
                          .account = "mallory",
                          .at_s = 1700000000,
                          .gpu_s = 12.5,
                          .asker = {"mallory", "asks"},
                          .in_vain_s = 1700000030};
  const BookedStop of_pod{.stopped = {"team-a", "web-1"},
                          .uid = Uid("u-2"),
                          .controller = Uid("set"),
                          .account = "vision",
                          .at_s = 1700000100,
                          .gpu_s = 3};
  const StopBookDto written{"42", {of_job, of_pod}};
  const auto read = decode_stop_book(encode_stop_book({"ns", "name"}, written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->resource_version, "42");
  EXPECT_EQ(read->stops, written.stops);
  EXPECT_EQ(read->unreadable, 0U);
}

TEST(StopBookCodecTest, WhatIsNoStopIsLeftOutAndCounted) {
  const auto read = decode_stop_book(
      R"({"metadata":{"resourceVersion":"1"},"data":{"stops":"nonsense\n\n{}\n{\"uid\":\"u\",\"at\":\"2026-01-01T00:00:00Z\",\"gpuSeconds\":1e300}\n{\"uid\":\"u\",\"at\":\"2026-01-01T00:00:00Z\",\"gpuSeconds\":5,\"account\":\"a\"}\n"}})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->unreadable, 3U);
  ASSERT_EQ(read->stops.size(), 1U);
  EXPECT_EQ(read->stops[0].account, "a");
  EXPECT_TRUE(decode_stop_book(R"({"metadata":{"resourceVersion":"1"}})")->stops.empty());
  EXPECT_FALSE(decode_stop_book(R"({"kind":"Status"})"));
}

}  // namespace
}  // namespace slackline::wire
