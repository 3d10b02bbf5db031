#include "cluster/api/object_path.h"

#include <gtest/gtest.h>

namespace slackline::cluster {
namespace {

TEST(ObjectPath, NamesWhatKubernetesNames) {
  EXPECT_EQ(object_path("/api/v1", "pods", {"team-a", "train-0.x"}),
            "/api/v1/namespaces/team-a/pods/train-0.x");
  EXPECT_EQ(collection_path("/api/v1", "events", "team-a"), "/api/v1/namespaces/team-a/events");
  EXPECT_EQ(cluster_object_path("/apis/a/v1", "things", "x"), "/apis/a/v1/things/x");
}

TEST(ObjectPath, WhatWouldNameSomethingElseIsRefused) {
  for (const char* bad :
       {"", ".", "..", "a/b", "../x", "x?dryRun=All", "x#f", "a\r\nX: y", "%2e%2e"}) {
    EXPECT_FALSE(object_path("/api/v1", "pods", {bad, "x"})) << bad;
    EXPECT_FALSE(object_path("/api/v1", "pods", {"team", bad})) << bad;
    EXPECT_FALSE(collection_path("/api/v1", "pods", bad)) << bad;
    EXPECT_FALSE(cluster_object_path("/api/v1", "nodes", bad)) << bad;
  }
}

}  // namespace
}  // namespace slackline::cluster
