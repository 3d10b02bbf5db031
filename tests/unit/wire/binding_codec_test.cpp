#include "wire/kube/binding_codec.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

TEST(BindingCodec, ABindingCarriesUidAndAnnotations) {
  EXPECT_EQ(
      encode_binding({"n", "p"}, Uid("u"), NodeName("gpu-1"), {{"slackline.dev/a", "x\"y"}}),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"n","uid":"u",)"
      R"("annotations":{"slackline.dev/a":"x\"y"}},)"
      R"("target":{"apiVersion":"v1","kind":"Node","name":"gpu-1"}})");
  EXPECT_EQ(
      encode_binding({"n", "p"}, Uid("u"), NodeName("g"), {}),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"n","uid":"u"},)"
      R"("target":{"apiVersion":"v1","kind":"Node","name":"g"}})");
}

TEST(BindingCodec, ThePodsTruthIsRead) {
  const auto bound = decode_pod_binding(
      R"({"metadata":{"uid":"u","deletionTimestamp":"2026-11-21T10:00:00Z"},"spec":{"nodeName":"g"}})");
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->uid, Uid("u"));
  EXPECT_EQ(bound->node, NodeName("g"));
  EXPECT_TRUE(bound->deleting);
  const auto unbound = decode_pod_binding(R"({"metadata":{"uid":"u"},"spec":{}})");
  ASSERT_TRUE(unbound);
  EXPECT_TRUE(unbound->node.empty());
  EXPECT_FALSE(unbound->deleting);
}

TEST(BindingCodec, WhatIsNoPodIsAnError) {
  EXPECT_FALSE(decode_pod_binding("{}"));
  EXPECT_FALSE(decode_pod_binding("<html>"));
  EXPECT_FALSE(decode_pod_binding(R"({"kind":"Status","code":500})"));
}

}  // namespace
}  // namespace slackline::wire
