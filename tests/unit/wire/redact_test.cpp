#include "wire/kube/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slackline/base/text.h"
#include "wire/kube/kube_decode.h"

namespace slackline::wire {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// The core's rule, as far as these tests need it.
std::string stem(std::string_view name) {
  const std::size_t dash = name.find('-');
  const std::string_view rest = dash == name.npos ? std::string_view() : name.substr(dash + 1);
  const bool generated =
      rest.size() == 36 ||
      (rest.size() == 5 && rest.find_first_not_of("bcdfghjklmnpqrstvwxz2456789") == rest.npos);
  return std::string(generated ? name.substr(0, dash) : name);
}

Result<RedactedDump> redact(std::string_view text) {
  const GpuCatalog catalog = default_gpu_catalog();
  return redact_dump(text,
                     {.catalog = catalog,
                      .is_public_model = [](std::string_view model) { return model == "resnet50"; },
                      .stem = stem});
}

RedactedDump redacted(const std::string& items) {
  const auto dump = redact(format(R"({{"kind":"List","apiVersion":"v1","items":[{}]}})", items));
  EXPECT_TRUE(dump) << dump.error().message;
  return dump ? *dump : RedactedDump{};
}

json only_item(const std::string& item) {
  return json::parse(redacted(item).json)["items"][0];
}

// "secret" stands wherever people write names.
constexpr const char* kSecretJob = R"({
  "apiVersion": "batch/v1", "kind": "Job",
  "metadata": {"name": "secret-train-x7k2p", "namespace": "secret", "uid": "secret-uid",
    "generateName": "secret-train-", "managedFields": [{"manager": "secret"}],
    "labels": {"secret.io/secret": "secret", "node-role.kubernetes.io/secret": "", "secret-k8s.io/x": "secret", "app": "secret", "slackline.dev/queue": "secret"},
    "annotations": {"slackline.dev/model": "secret", "slackline.dev/family": "secret",
      "slackline.dev/depends-on": "secret", "slackline.dev/expected-duration": "2h",
      "slackline.dev/admitted": "{\"user\":\"secret\"}", "secret.io/note": "secret", "slackline.dev/famly": "secret",
      "kubectl.kubernetes.io/last-applied-configuration": "{\"secret\":1}",
      "slackline.dev/plan": "{\"id\":\"secret-1\",\"shape\":\"1x4\",\"type\":\"A100\",\"nodes\":[\"secret-0\"]}"},
    "ownerReferences": [{"apiVersion": "secret.io/v1", "kind": "SecretRun", "name": "secret",
      "uid": "secret", "controller": true}]},
  "spec": {"parallelism": 2, "template": {"metadata": {"labels": {"team": "secret"}},
    "spec": {"schedulerName": "secret", "serviceAccountName": "secret",
      "nodeSelector": {"secret": "secret", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"},
      "tolerations": [{"key": "secret", "value": "secret", "operator": "Equal", "effect": "NoSchedule"}],
      "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions": [{"key": "secret", "operator": "In", "values": ["secret"]}]}]}}},
      "volumes": [{"name": "secret", "persistentVolumeClaim": {"claimName": "secret"}}],
      "containers": [{"name": "secret", "image": "secret.io/secret:v1", "command": ["secret"],
        "env": [{"name": "SECRET", "value": "secret"}],
        "resources": {"limits": {"nvidia.com/gpu": "4", "secret.io/thing": "1"}}}]}}},
  "status": {"conditions": [{"type": "Failed", "status": "True", "message": "secret"}]}})";

TEST(Redact, NoNameIsLeftAndNoNumberIsLost) {
  const RedactedDump dump = redacted(kSecretJob);
  EXPECT_THAT(dump.json, Not(HasSubstr("ecret")));
  EXPECT_THAT(dump.json, Not(HasSubstr("SECRET")));
  const json job = json::parse(dump.json)["items"][0];
  EXPECT_EQ(job["spec"]["parallelism"], 2);
  const json& notes = job["metadata"]["annotations"];
  EXPECT_EQ(notes["slackline.dev/expected-duration"], "2h");
  const json plan = json::parse(notes["slackline.dev/plan"].get<std::string>());
  EXPECT_EQ(plan["shape"], "1x4");
  EXPECT_EQ(plan["type"], "A100");
  const json& spec = job["spec"]["template"]["spec"];
  EXPECT_EQ(spec["nodeSelector"]["nvidia.com/gpu.product"], "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(spec["containers"][0]["resources"]["limits"], json({{"nvidia.com/gpu", "4"}}));
  EXPECT_EQ(spec["tolerations"][0]["effect"], "NoSchedule");
  EXPECT_EQ(spec["tolerations"][0]["key"], spec["nodeSelector"].items().begin().key());
}

TEST(Redact, EqualNamesStayEqualAndInOrder) {
  const json items = json::parse(redacted(R"(
      {"kind": "Node", "metadata": {"name": "gpu-b"}},
      {"kind": "Node", "metadata": {"name": "gpu-a"}},
      {"kind": "Node", "metadata": {"name": "gpu-a-1"}},
      {"kind": "Pod", "metadata": {"name": "p", "namespace": "team"}, "spec": {"nodeName": "gpu-a"}})")
                                     .json)["items"];
  const auto name = [&](std::size_t item) {
    return items[item]["metadata"]["name"].get<std::string>();
  };
  EXPECT_LT(name(1), name(2));
  EXPECT_LT(name(2), name(0));
  EXPECT_EQ(items[3]["spec"]["nodeName"], name(1));
}

TEST(Redact, WhatWasGeneratedInANameIsToldFromTheRest) {
  const json items = json::parse(redacted(R"(
      {"kind": "Job", "metadata": {"name": "train-x7k2p"}},
      {"kind": "Job", "metadata": {"name": "train-bcdfg"}},
      {"kind": "Job", "metadata": {"name": "train-6ba7b810-9dad-11d1-80b4-00c04fd430c8"}},
      {"kind": "Job", "metadata": {"name": "exp-17"}},
      {"kind": "Job", "metadata": {"name": "exp-18"}})")
                                     .json)["items"];
  const auto of = [&](std::size_t item) {
    return stem(items[item]["metadata"]["name"].get<std::string>());
  };
  EXPECT_EQ(of(0), of(1));
  EXPECT_EQ(of(0), of(2));
  EXPECT_NE(of(3), of(4));
}

TEST(Redact, ModelsThatEverybodyKnowsAndGpusStay) {
  const json job = only_item(R"({"kind": "Job", "metadata": {"name": "a", "annotations": {
      "slackline.dev/model": "resnet50", "slackline.dev/gpu-types": "A100,T4"}}})");
  EXPECT_EQ(job["metadata"]["annotations"]["slackline.dev/model"], "resnet50");
  EXPECT_EQ(job["metadata"]["annotations"]["slackline.dev/gpu-types"], "A100,T4");
}

TEST(Redact, WhatMakesAGangOfEachJobOfAJobSetStays) {
  const json job = only_item(R"({"kind": "Job", "metadata": {"name": "a", "annotations": {
      "alpha.jobset.sigs.k8s.io/exclusive-topology": "topology.kubernetes.io/zone"}}})");
  EXPECT_EQ(job["metadata"]["annotations"]["alpha.jobset.sigs.k8s.io/exclusive-topology"],
            "topology.kubernetes.io/zone");
}

TEST(Redact, WhatANamespaceSaysOfItsPodsStays) {
  const json ns = only_item(R"({"kind": "Namespace", "metadata": {"name": "a",
      "labels": {"pod-security.kubernetes.io/enforce": "restricted"}, "annotations": {
      "scheduler.alpha.kubernetes.io/defaultTolerations":
          "[{\"key\":\"secret\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}]"}}})");
  EXPECT_EQ(ns["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted");
  const json notes = ns["metadata"]["annotations"];
  const json list =
      json::parse(notes["scheduler.alpha.kubernetes.io/defaultTolerations"].get<std::string>());
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["operator"], "Exists");
  EXPECT_EQ(list[0]["effect"], "NoSchedule");
  EXPECT_NE(list[0]["key"], "secret");
}

TEST(Redact, VolumesKeepTheNodesThatReachThem) {
  const RedactedDump dump = redacted(R"({"kind": "PersistentVolumeClaim",
        "metadata": {"name": "work", "namespace": "team"}, "spec": {"volumeName": "disk"}},
      {"kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": {
        "claimRef": {"namespace": "team", "name": "work"}, "csi": {"volumeHandle": "secret"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
          {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]}]}}}})");
  const json items = json::parse(dump.json)["items"];
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0]["spec"]["volumeName"], items[1]["metadata"]["name"]);
  EXPECT_EQ(items[1]["spec"]["claimRef"], items[0]["metadata"]);
  EXPECT_FALSE(items[1]["spec"].contains("csi"));
  const json terms = items[1]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"];
  EXPECT_EQ(terms[0]["matchExpressions"][0]["key"], "topology.kubernetes.io/zone");
}

TEST(Redact, OtherKindsAreLeftOutAndOtherTextsRefused) {
  const RedactedDump dump = redacted(R"({"kind": "Secret", "metadata": {"name": "token"}}, 7,
      {"kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "4"}, "max": {"nvidia.com/gpu": "2"}}]}},
      {"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard":
        {"requests.nvidia.com/gpu": "8", "pods": "3", "count/pods": "9", "count/secrets": "1",
         "gold.storageclass.storage.k8s.io/requests.storage": "1Ti"}}},
      {"kind": "RuntimeClass", "metadata": {"name": "r"}, "overhead": {"podFixed": {"cpu": "250m"}}})");
  EXPECT_EQ(dump.objects, 3u);
  EXPECT_EQ(dump.left_out, 2u);
  const json items = json::parse(dump.json)["items"];
  EXPECT_EQ(
      items[0]["spec"]["limits"][0],
      json::parse(
          R"({"type": "Container", "default": {"cpu": "4"}, "max": {"nvidia.com/gpu": "2"}})"));
  EXPECT_EQ(items[1]["spec"]["hard"],
            json::parse(R"({"requests.nvidia.com/gpu": "8", "pods": "3", "count/pods": "9"})"));
  EXPECT_EQ(items[2]["overhead"]["podFixed"]["cpu"], "250m");
  EXPECT_FALSE(redact("[]"));
  const auto lists = redact(
      R"({"kind":"List","items":[{"kind":"NodeList","items":[{"metadata":{"name":"n"}}]}]})");
  ASSERT_TRUE(lists);
  EXPECT_EQ(lists->objects, 1u);
  EXPECT_FALSE(redact("error: no"));
  EXPECT_FALSE(redact(R"({"items":[{"kind":"Node","metadata":{"name":"n"}}]})")) << "cut short";
  const std::string deep = R"({"kind":"Node","metadata":{"name":"n"},"spec":)" +
                           std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_FALSE(redact(deep));
}

}  // namespace
}  // namespace slackline::wire
