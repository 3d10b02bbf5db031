#include "http/server/descriptors.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace slackline::http {
namespace {

std::vector<Listener> listeners(std::initializer_list<std::size_t> connections) {
  std::vector<Listener> all;
  for (const std::size_t most : connections) {
    all.emplace_back();
    all.back().limits.connections = most;
  }
  return all;
}

TEST(DescriptorsTest, WhatFitsStaysAsItIs) {
  std::vector<Listener> all = listeners({1024, 1024, 512});
  fit_descriptors(all, wanted_descriptors(all));
  EXPECT_EQ(all[0].limits.connections, 1024U);
  EXPECT_EQ(all[2].limits.connections, 512U);
  EXPECT_EQ(all[0].limits.refusing, 64U);
}

TEST(DescriptorsTest, EachHasAPartThatTheOthersCannotTake) {
  std::vector<Listener> all = listeners({1024, 1024, 1024, 1024, 16});
  fit_descriptors(all, 1024);
  EXPECT_LE(wanted_descriptors(all), 1024U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_GE(all[i].limits.connections, 120U) << "an equal part of 1,024";
  EXPECT_EQ(all[4].limits.connections, 16U) << "who wants less has what it wants";
}

TEST(DescriptorsTest, EveryListenerServesSomebodyHoweverLowTheLimit) {
  for (const std::size_t limit : {0U, 1U, 20U, 64U}) {
    std::vector<Listener> all = listeners({1024, 1024, 1024});
    fit_descriptors(all, limit);
    for (const Listener& one : all)
      EXPECT_GE(one.limits.connections, 1U) << limit;
  }
}

TEST(DescriptorsTest, TheSoftLimitBecomesTheHardOne) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit low = usual;
  low.rlim_cur = std::min<rlim_t>(64, usual.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_descriptor_limit(), usual.rlim_max);
  rlimit now{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, usual.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
}

}  // namespace
}  // namespace slackline::http
