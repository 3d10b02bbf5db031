#include "wire/kube/kube_decode.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/model/pod_ask.h"

namespace slackline::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class T>
T decoded(KubeKind kind, const std::string& json) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto object = decoder.object(kind, json);
  EXPECT_TRUE(object) << object.error().message;
  return object ? std::get<T>(*object) : T{};
}

TEST(KubeDecode, ANodeKeepsWhatSchedulingNeeds) {
  const Node node = decoded<Node>(KubeKind::kNode, R"({
    "kind":"Node","apiVersion":"v1",
    "metadata":{"name":"gpu-1","uid":"u-1","resourceVersion":"7","managedFields":[{"x":{}}],
      "labels":{"zone":"b","nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB","arch":"amd64"}},
    "spec":{"unschedulable":true,"taints":[
      {"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"},
      {"key":"soft","effect":"PreferNoSchedule"},{"key":"dead","effect":"NoExecute"}]},
    "status":{"capacity":{"cpu":"128","nvidia.com/gpu":"9","amd.com/gpu":"2","memory":"x"},
      "allocatable":{"cpu":"127500m","memory":"1000Gi","pods":"110","nvidia.com/gpu":"8",
                     "ephemeral-storage":"1e12","hugepages-1Gi":"0","rdma/hca":"4",
                     "devices.example.com/fuse":"9e18","attachable-volumes-aws-ebs":"39"},
      "conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}],
      "images":[{"names":["a"],"sizeBytes":1}]}})");
  EXPECT_EQ(node.name, NodeName("gpu-1"));
  EXPECT_EQ(node.uid, Uid("u-1"));
  EXPECT_EQ(node.gpu_type, GpuType("A100"));
  EXPECT_EQ(node.allocatable.cpu_milli, 127500);
  EXPECT_EQ(node.allocatable.memory_bytes, std::int64_t{1000} << 30);
  EXPECT_EQ(node.allocatable.pods, 110);
  EXPECT_EQ(node.allocatable.gpu_count("nvidia.com/gpu"), 8);
  EXPECT_EQ(node.unhealthy, (ResourceAmounts{{"amd.com/gpu", 2}, {"nvidia.com/gpu", 1}}));
  EXPECT_EQ(node.allocatable.others, (ResourceAmounts{{"devices.example.com/fuse", kMaxAmount},
                                                      {"ephemeral-storage", 1'000'000'000'000},
                                                      {"rdma/hca", 4}}));
  EXPECT_THAT(node.labels, testing::ElementsAre(testing::Pair("arch", "amd64"), testing::_,
                                                testing::Pair("zone", "b")));
  ASSERT_EQ(node.taints.size(), 3U);
  EXPECT_EQ(node.taints[0].value, "present");
  EXPECT_EQ(node.taints[1].effect, TaintEffect::kPreferNoSchedule);
  EXPECT_EQ(node.taints[2].effect, TaintEffect::kNoExecute);
  EXPECT_TRUE(node.unschedulable);
  EXPECT_TRUE(node.ready);
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(KubeDecode, ANodeThatIsNotReadySaysSo) {
  const Node since = decoded<Node>(KubeKind::kNode, R"({"metadata":{"name":"n"},"status":{
      "conditions":[{"type":"Ready","status":"Unknown",
                     "lastTransitionTime":"2027-01-15T08:00:00Z"}]}})");
  EXPECT_FALSE(since.ready);
  EXPECT_EQ(since.unready_since_s, 1800000000);
  for (const char* status : {"False", "Unknown"})
    EXPECT_FALSE(decoded<Node>(KubeKind::kNode, R"({"metadata":{"name":"n"},"status":{"conditions":[
        {"type":"Ready","status":")" + std::string(status) +
                                                    R"("}]}})")
                     .ready);
}

Node node_with_gpus(const std::string& quantity) {
  return decoded<Node>(KubeKind::kNode, R"({"metadata":{"name":"n"},"status":{"allocatable":{
      "cpu":"4","memory":"10.5","nvidia.com/gpu":")" +
                                            quantity + R"("}}})");
}

TEST(KubeDecode, ANodeWithMoreGpusThanAnyHasAProblemAndNoneOfThem) {
  for (const char* quantity : {"4097", "1e6", "0.5Gi", "2147483647", "3G", "4294967304", "1Pi"}) {
    const Node node = node_with_gpus(quantity);
    EXPECT_EQ(node.allocatable.gpu_total(), 0) << quantity;
    EXPECT_THAT(node.problems, ElementsAre(HasSubstr("no node has more than 4096"))) << quantity;
    EXPECT_THAT(node.problems.front(), HasSubstr("status.allocatable[nvidia.com/gpu]"));
  }
  const Node largest = node_with_gpus("4096");
  EXPECT_EQ(largest.allocatable.gpu_total(), 4096);
  EXPECT_THAT(largest.problems, IsEmpty());
}

TEST(KubeDecode, HalfAGpuOfANodeIsNone) {
  const Node node = node_with_gpus("4.5");
  EXPECT_EQ(node.allocatable.gpu_total(), 4);
  EXPECT_EQ(node.allocatable.memory_bytes, 10);
  EXPECT_THAT(node.problems, IsEmpty());
  const Pod pod = decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"p"},"spec":{"containers":[
      {"resources":{"limits":{"nvidia.com/gpu":"4.5"}}}]}})");
  EXPECT_EQ(pod.requests.gpu_total(), 5) << "what is asked for is rounded as Kubernetes does";
}

TEST(KubeDecode, CountsOfPodsAreNoLargerThanTheApiHasThem) {
  const Job job = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"j"},
      "spec":{"parallelism":9223372036854775807,"completions":9223372036854775807},
      "status":{"succeeded":9223372036854775807,"active":-5}})");
  EXPECT_EQ(job.parallelism, 2147483647);
  EXPECT_EQ(job.completions, 2147483647);
  EXPECT_EQ(job.succeeded, 2147483647);
  EXPECT_EQ(job.active, 0);
  EXPECT_EQ(job.wanted_pods(), 0);
}

TEST(KubeDecode, AnUnreadableQuantityMarksItsNodeOnly) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto list =
      decoder.list(KubeKind::kNode, R"({"kind":"NodeList","metadata":{"resourceVersion":"9"},
    "items":[{"metadata":{"name":"bad"},"status":{"allocatable":{"nvidia.com/gpu":"1Mi1","cpu":"4"}}},
             {"metadata":{"name":"good"},"status":{"allocatable":{"nvidia.com/gpu":"4"}}}]})");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->items.size(), 2U);
  const Node& bad = std::get<Node>(list->items[0]);
  EXPECT_THAT(bad.problems, ElementsAre(HasSubstr("status.allocatable[nvidia.com/gpu]")));
  EXPECT_EQ(bad.allocatable.cpu_milli, 4000);
  EXPECT_THAT(std::get<Node>(list->items[1]).problems, IsEmpty());
}

constexpr const char* kGpuPod = R"({
  "metadata":{"name":"bert-0","namespace":"team-a","uid":"u-7","creationTimestamp":"2026-11-21T10:00:00Z",
    "labels":{"slackline.dev/managed":"true","slackline.dev/gang":"bert","app":"bert"},
    "annotations":{"slackline.dev/model":"bert","slackline.dev/plan":
      "{\"id\":\"p1\",\"epoch\":2,\"shape\":\"1x4\",\"type\":\"A100\",\"nodes\":[\"gpu-1\"],\"promoted\":false}"},
    "ownerReferences":[{"kind":"ReplicaSet","name":"no","uid":"x"},
                       {"kind":"Job","name":"bert","uid":"j-1","controller":true}]},
  "spec":{"nodeName":"gpu-1","schedulerName":"gpu-scheduler","priority":7,
    "nodeSelector":{"zone":"a","arch":"amd64"},
    "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"gpu","operator":"In","values":["a","b"]},
                             {"key":"n","operator":"Gt","values":["3"]}],
         "matchFields":[{"key":"metadata.name","operator":"NotIn","values":["gpu-9"]}]},
        {}]}},
      "podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}]}},
    "tolerations":[{"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"},
                   {"operator":"Exists"},{"key":"k","value":"v"},{"key":"n","operator":"Gt","value":"3"}],
    "schedulingGates":[{"name":"example.com/other"},{"name":"slackline.dev/queue"}],
    "volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"d"}}],
    "containers":[{"ports":[{"containerPort":80,"hostPort":8080}],
                   "resources":{"limits":{"nvidia.com/gpu":"4"}}}]},
  "status":{"phase":"Running","startTime":"2026-11-21T10:00:05Z","nominatedNodeName":"gpu-2"}})";

TEST(KubeDecode, SlotsOfAPodAreReadOrTakenToBeUntold) {
  const auto slots = [](const std::string& text) {
    return decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"p","annotations":{
      "slackline.dev/device-ids":")" + text +
                                            R"("}},"spec":{"containers":[
      {"resources":{"limits":{"nvidia.com/gpu":"2"}}}]}})")
        .device_slots;
  };
  EXPECT_THAT(slots("nvidia.com/gpu=3,5"), ElementsAre(DeviceSlots{"nvidia.com/gpu", {3, 5}}));
  EXPECT_THAT(slots("3,5"), IsEmpty());
  EXPECT_THAT(slots(""), IsEmpty());
}

TEST(KubeDecode, APodIsReadWhole) {
  const Pod pod = decoded<Pod>(KubeKind::kPod, kGpuPod);
  EXPECT_EQ(pod.key, (ObjectKey{"team-a", "bert-0"}));
  EXPECT_EQ(pod.uid, Uid("u-7"));
  ASSERT_TRUE(pod.owner);
  EXPECT_EQ(pod.owner->kind, "Job");
  EXPECT_EQ(pod.owner->uid, Uid("j-1"));
  EXPECT_EQ(pod.node, NodeName("gpu-1"));
  EXPECT_EQ(pod.nominated_node, NodeName("gpu-2"));
  EXPECT_EQ(pod.phase, PodPhase::kRunning);
  EXPECT_TRUE(pod.gated);
  EXPECT_TRUE(pod.our_gate);
  EXPECT_TRUE(pod.managed);
  EXPECT_FALSE(pod.in_pod_group);
  EXPECT_FALSE(pod.deleting);
  EXPECT_EQ(pod.grace_s, 30) << "as the API server fills it in";
  EXPECT_EQ(pod.priority, 7);
  EXPECT_EQ(pod.scheduler_name, "gpu-scheduler");
  EXPECT_EQ(pod.created_s, 1795255200);
  EXPECT_EQ(pod.started_s, 1795255205);
  EXPECT_EQ(pod.labels.size(), 3U);
  ASSERT_NE(pod.intent, nullptr);
  EXPECT_EQ(pod.intent->model, "bert");
  EXPECT_EQ(pod.intent->gang, "bert");
  EXPECT_THAT(pod.intent->problems, IsEmpty());
  ASSERT_NE(pod.plan, nullptr);
  EXPECT_EQ(pod.plan->id, "p1");
}

TEST(KubeDecode, APodsConstraintsAreRead) {
  const Pod pod = decoded<Pod>(KubeKind::kPod, kGpuPod);
  ASSERT_NE(pod.constraints, nullptr);
  const SchedulingConstraints& constraints = *pod.constraints;
  EXPECT_THAT(constraints.node_selector,
              ElementsAre(testing::Pair("arch", "amd64"), testing::Pair("zone", "a")));
  ASSERT_EQ(constraints.affinity_terms.size(), 2U);
  ASSERT_EQ(constraints.affinity_terms[0].size(), 3U);
  EXPECT_EQ(constraints.affinity_terms[0][1].op, MatchOperator::kGt);
  EXPECT_EQ(constraints.affinity_terms[0][2].key, "metadata.name");
  ASSERT_EQ(constraints.affinity_terms[1].size(), 1U) << "an empty term matches no node";
  EXPECT_THAT(constraints.affinity_terms[1][0].values, IsEmpty());
  ASSERT_EQ(constraints.tolerations.size(), 3U) << "the operator we do not know is left out";
  EXPECT_EQ(constraints.tolerations[0].effect, TaintEffect::kNoSchedule);
  EXPECT_TRUE(constraints.tolerations[1].exists);
  EXPECT_FALSE(constraints.tolerations[1].effect);
  EXPECT_EQ(constraints.tolerations[2].value, "v");
  EXPECT_TRUE(constraints.has_host_ports);
  EXPECT_TRUE(constraints.has_pod_affinity);
  EXPECT_TRUE(constraints.has_volume_claims);
}

// As the plug-ins InterPodAffinity, PodTopologySpread and NodePorts judge pods that are alike.
TEST(KubeDecode, HowManyPodsOfATaskMayShareANodeIsRead) {
  const auto spread = [](const std::string& rules, const std::string& port = "") {
    const Pod pod = decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"a","namespace":"n",
        "labels":{"app":"x","batch.kubernetes.io/job-name":"a"}},"spec":{)" +
                                                     rules + R"(
        "containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}},"ports":[)" +
                                                     port + "]}]}}");
    return spread_of(pod.constraints.get());
  };
  const auto apart = [&](const std::string& term) {
    return spread(R"("affinity":{"podAntiAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":[{)" +
                  term + "}]}},");
  };
  const std::string host = R"("topologyKey":"kubernetes.io/hostname",)";
  const std::string own = R"("labelSelector":{"matchLabels":{"app":"x"}})";
  EXPECT_EQ(apart(host + own).most, 1);
  EXPECT_EQ(apart(host + R"("labelSelector":{})").most, 1);
  EXPECT_EQ(apart(host + R"("labelSelector":{"matchExpressions":[
      {"key":"batch.kubernetes.io/job-name","operator":"In","values":["a"]}]})")
                .most,
            1);
  EXPECT_EQ(apart(host + own + R"(,"namespaces":["n"])").most, 1);
  EXPECT_EQ(apart(host + own + R"(,"namespaceSelector":{})").most, 1);
  EXPECT_FALSE(apart(host + own + R"(,"namespaces":["other"])").most);
  EXPECT_FALSE(apart(host + own + R"(,"mismatchLabelKeys":["app"])").most);
  EXPECT_FALSE(apart(host + R"("labelSelector":{"matchLabels":{"app":"y"}})").most);
  EXPECT_FALSE(apart(host + own).apart);
  const OwnSpread racks = apart(R"("topologyKey":"rack",)" + own);
  EXPECT_EQ(racks.most, 1);
  ASSERT_TRUE(racks.apart);
  EXPECT_EQ(std::pair(racks.apart->label, racks.apart->skew), std::pair(std::string("rack"), 0L));
  EXPECT_FALSE(apart(R"("topologyKey":"rack","labelSelector":{"matchLabels":{"app":"y"}})").apart);
  const OwnSpread zones = spread(R"("topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone",
      "whenUnsatisfiable":"DoNotSchedule",)" +
                                 own + "}],");
  EXPECT_FALSE(zones.skew || zones.most);
  ASSERT_TRUE(zones.apart);
  EXPECT_EQ(std::pair(zones.apart->label, zones.apart->skew), std::pair(std::string("zone"), 2L));
  const auto evenly = [&](const std::string& rule) {
    return spread(R"("topologySpreadConstraints":[{"maxSkew":2,)" + host + own + rule + "}],");
  };
  EXPECT_EQ(evenly(R"(,"whenUnsatisfiable":"DoNotSchedule")").skew, 2);
  EXPECT_FALSE(evenly(R"(,"whenUnsatisfiable":"ScheduleAnyway")").skew);
  EXPECT_FALSE(evenly(R"(,"whenUnsatisfiable":"DoNotSchedule",
      "matchLabelKeys":["batch.kubernetes.io/job-completion-index"])")
                   .skew);
  const auto together = [&](const std::string& terms) {
    return spread(R"("affinity":{"podAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":[)" +
                  terms + "]}},")
        .together;
  };
  const std::string rack = R"({"topologyKey":"rack",)" + own + "}";
  EXPECT_EQ(together(rack + "," + rack + R"(,{"topologyKey":"block",)" + own + "}"),
            (std::vector<std::string>{"block", "rack"}));
  EXPECT_THAT(together(R"({"topologyKey":"rack","labelSelector":{"matchLabels":{"app":"y"}}})"),
              ::testing::IsEmpty());
  EXPECT_EQ(spread("", R"({"containerPort":80,"hostPort":80})").most, 1);
  EXPECT_FALSE(spread("", R"({"containerPort":80})").most);
  EXPECT_EQ(spread(R"("hostNetwork":true,)", R"({"containerPort":80})").most, 1);
}

TEST(KubeDecode, OfAPodWithoutGpusOnlyItsAmountsAreKept) {
  const Pod pod = decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"web","namespace":"n",
      "labels":{"app":"web"}},"spec":{"nodeSelector":{"a":"b"},
      "containers":[{"resources":{"requests":{"cpu":"1"}}}]}})");
  EXPECT_THAT(pod.labels, IsEmpty());
  EXPECT_EQ(pod.constraints, nullptr);
  EXPECT_EQ(pod.intent, nullptr);
  EXPECT_EQ(pod.requests.cpu_milli, 1000);
}

TEST(KubeDecode, NullsAndUnknownFieldsAreTolerated) {
  const Pod pod =
      decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"p","labels":null,"annotations":null,
      "creationTimestamp":null,"deletionTimestamp":null,"ownerReferences":null},
      "spec":{"containers":null,"schedulingGates":null,"priority":null,"someday":{"a":[1,2]}},
      "status":null,"extra":[]})");
  EXPECT_EQ(pod.key.name, "p");
  EXPECT_EQ(pod.requests.pods, 1);
  EXPECT_FALSE(pod.deleting);
  EXPECT_FALSE(pod.gated);
}

TEST(KubeDecode, APodTellsWhoEndsIt) {
  const auto disruption_of = [](const std::string& status) {
    return decoded<Pod>(KubeKind::kPod,
                        R"({"metadata":{"name":"p","namespace":"d"},"status":{)" + status + "}}")
        .disruption;
  };
  const auto target = [](const std::string& reason, const std::string& is = "True") {
    return R"("conditions":[{"type":"Ready","status":"False"},{"type":"DisruptionTarget","status":")" +
           is + R"(","reason":")" + reason + R"(","lastTransitionTime":"2027-01-15T08:00:00Z"}])";
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(DisruptionKind::kOtherTarget); ++i) {
    const auto kind = static_cast<DisruptionKind>(i);
    const auto read = disruption_of(target(std::string(to_string(kind))));
    ASSERT_TRUE(read) << to_string(kind);
    EXPECT_EQ(read->kind, kind);
    EXPECT_EQ(read->at_s, 1800000000);
  }
  EXPECT_EQ(disruption_of(target("SomethingNew"))->kind, DisruptionKind::kOtherTarget);
  EXPECT_FALSE(disruption_of(target("EvictionByEvictionAPI", "False")));
  EXPECT_EQ(disruption_of(R"("phase":"Failed","reason":"UnexpectedAdmissionError")")->kind,
            DisruptionKind::kUnexpectedAdmissionError);
  EXPECT_FALSE(disruption_of(R"("phase":"Failed","reason":"Error")"));
}

TEST(KubeDecode, APodTellsWhetherKubeSchedulerHasRefusedIt) {
  const auto refused = [](const std::string& is, const std::string& reason) {
    return decoded<Pod>(
               KubeKind::kPod,
               R"({"metadata":{"name":"p"},"status":{"conditions":[{"type":"PodScheduled","status":")" +
                   is + R"(","reason":")" + reason + R"(","message":"0/2 nodes"}]}})")
        .unschedulable;
  };
  EXPECT_EQ(refused("False", "Unschedulable"), "0/2 nodes");
  EXPECT_FALSE(refused("False", "SchedulingGated")) << "nobody has looked";
  EXPECT_FALSE(refused("False", "SchedulerError"));
  EXPECT_FALSE(refused("True", ""));
}

TEST(KubeDecode, APodIsReadyOnceItSaysSo) {
  const auto ready = [](const std::string& is) {
    return decoded<Pod>(
               KubeKind::kPod,
               R"({"metadata":{"name":"p"},"status":{"conditions":[{"type":"Ready","status":")" +
                   is + R"("}]}})")
        .ready;
  };
  EXPECT_TRUE(ready("True"));
  EXPECT_FALSE(ready("False"));
  EXPECT_FALSE(decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"p"}})").ready);
}

TEST(KubeDecode, APodGroupsMemberIsMarked) {
  EXPECT_TRUE(decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"p"},
      "spec":{"schedulingGroup":{"podGroupName":"g"}}})")
                  .in_pod_group);
}

TEST(KubeDecode, AnUnreadablePlanIsNoPlanAndSaysSo) {
  const Pod pod = decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"p",
      "annotations":{"slackline.dev/plan":"{"}}})");
  EXPECT_EQ(pod.plan, nullptr);
  ASSERT_NE(pod.intent, nullptr);
  EXPECT_THAT(pod.intent->problems, ElementsAre(HasSubstr("slackline.dev/plan: not JSON")));
}

TEST(KubeDecode, AJobCarriesItsOwnAndItsTemplatesIntent) {
  const Job job = decoded<Job>(KubeKind::kJob, R"({
    "metadata":{"name":"j","namespace":"n","uid":"u","creationTimestamp":"2026-11-21T10:00:00Z",
      "annotations":{"slackline.dev/model":"bert","slackline.dev/iterations":"10"}},
    "spec":{"parallelism":4,"completions":4,"completionMode":"Indexed","suspend":true,
      "template":{"metadata":{"annotations":{"slackline.dev/model":"gpt2"}},
        "spec":{"priority":3,"priorityClassName":"high",
         "containers":[{"resources":{"limits":{"nvidia.com/gpu":"2"}}}]}}},
    "status":{"active":1,"succeeded":2,"failed":3,"conditions":[{"type":"Suspended","status":"True"}]}})");
  EXPECT_TRUE(job.is_gang());
  EXPECT_TRUE(job.suspended);
  EXPECT_FALSE(job.finished);
  EXPECT_EQ(job.active, 1);
  EXPECT_EQ(job.succeeded, 2);
  EXPECT_EQ(job.failed, 3);
  EXPECT_EQ(job.pod_requests.gpu_total(), 2);
  EXPECT_EQ(job.priority, 0);  // a number in a template is anybody's
  EXPECT_EQ(job.priority_class, "high");
  ASSERT_NE(job.intent, nullptr);
  EXPECT_EQ(job.intent->model, "gpt2") << "the template is what its pods carry";
  EXPECT_EQ(job.intent->iterations, 10);
}

TEST(KubeDecode, AJobIsFinishedByItsConditions) {
  for (const char* type : {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"})
    EXPECT_TRUE(decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"j"},"status":{"conditions":[
        {"type":")" + std::string(type) + R"(","status":"True"}]}})")
                    .finished);
}

TEST(KubeDecode, AJobThatWillBeCompleteHasSucceeded) {
  const Job job = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"j"},"status":{"conditions":[
      {"type":"SuccessCriteriaMet","status":"True","lastTransitionTime":"1970-01-01T00:01:40Z"}]}})");
  EXPECT_EQ(job.completed_s, 100.0) << "it has no completionTime before its last pod has ended";
  EXPECT_EQ(job.ended_s, 100.0);
}

TEST(KubeDecode, NothingTakesThePlaceOfAnIndexThatFailedForGood) {
  const auto ended = [](const std::string& indexes) {
    return decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"j"},
        "status":{"succeeded":1,"failedIndexes":")" +
                                            indexes + R"("}})")
        .succeeded;
  };
  EXPECT_EQ(ended(""), 1);
  EXPECT_EQ(ended("0"), 2);
  EXPECT_EQ(ended("0,3-5,7"), 6);
  for (const char* nonsense : {"x", "5-3", "-1", "0-9223372036854775807", ",,"})
    EXPECT_EQ(ended(nonsense), 1) << nonsense;
}

TEST(KubeDecode, ADisruptionBudgetIsRead) {
  const auto budget = decoded<DisruptionBudget>(KubeKind::kDisruptionBudget, R"({
    "metadata":{"name":"b","namespace":"n"},"spec":{"selector":{"matchLabels":{"app":"x"},
      "matchExpressions":[{"key":"t","operator":"Exists"}]}},
    "status":{"disruptionsAllowed":2,"disruptedPods":{"p1":"2026-11-21T10:00:00Z"}}})");
  EXPECT_EQ(budget.disruptions_allowed, 2);
  EXPECT_THAT(budget.disrupted_pods, ElementsAre("p1"));
  EXPECT_EQ(budget.match_labels.size(), 1U);
  EXPECT_EQ(budget.match_expressions.size(), 1U);
  EXPECT_FALSE(budget.selects_nothing);
  EXPECT_TRUE(decoded<DisruptionBudget>(KubeKind::kDisruptionBudget,
                                        R"({"metadata":{"name":"b"},"spec":{"selector":null}})")
                  .selects_nothing);
}

TEST(KubeDecode, AResourceQuotaIsReadAsFarAsItConcernsPods) {
  const auto quota = decoded<ResourceQuota>(KubeKind::kResourceQuota, R"({
    "metadata":{"name":"q","namespace":"n","uid":"u"},
    "spec":{"hard":{"requests.nvidia.com/gpu":"8","requests.cpu":"1500m","memory":"2Gi",
      "count/pods":"10","limits.cpu":"1","count/jobs.batch":"3","requests.storage":"5Gi",
      "pods":"many"}},
    "status":{"used":{"requests.nvidia.com/gpu":"3","requests.cpu":"250m"}}})");
  std::vector<std::string> limits;
  for (const QuotaLimit& limit : quota.limits)
    limits.push_back(format("{} {}/{}", limit.resource, limit.used, limit.hard));
  EXPECT_THAT(limits, ElementsAre("count/pods 0/10", "cpu 250/1500", "memory 0/2147483648",
                                  "nvidia.com/gpu 3/8"));
  EXPECT_THAT(quota.must_state, ElementsAre("limits.cpu", "memory", "requests.cpu"));
  EXPECT_FALSE(quota.other_scopes);
  EXPECT_FALSE(quota.needs_cpu_or_memory);
}

TEST(KubeDecode, AContainerThatStatesZeroOfCpuOrMemoryIsTold) {
  const auto job = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"j"},"spec":{"template":{
    "spec":{"containers":[
      {"resources":{"requests":{"cpu":"0"},"limits":{"nvidia.com/gpu":"1"}}},
      {"resources":{"requests":{"cpu":"1"},"limits":{"memory":"0"}}},
      {"resources":{"limits":{"cpu":"1","memory":"1Gi"}}},
      {}]}}}})");
  ASSERT_TRUE(job.ask);
  std::vector<bool> zero;
  for (const ContainerAsk& container : job.ask->containers)
    zero.push_back(container.zero);
  EXPECT_THAT(zero, ElementsAre(true, true, false, false));
}

TEST(KubeDecode, ScopesOfAQuotaAreReadInBothSpellings) {
  const auto list = decoded<ResourceQuota>(
      KubeKind::kResourceQuota, R"({"metadata":{"name":"q"},"spec":{"scopes":["NotBestEffort"]}})");
  EXPECT_TRUE(list.needs_cpu_or_memory);
  EXPECT_FALSE(list.other_scopes);
  const auto selector = decoded<ResourceQuota>(KubeKind::kResourceQuota, R"({
    "metadata":{"name":"q"},"spec":{"scopeSelector":{"matchExpressions":[
      {"scopeName":"PriorityClass","operator":"In","values":["high"]}]}}})");
  EXPECT_TRUE(selector.other_scopes);
}

TEST(KubeDecode, AListTellsWhereItGoesOn) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto list =
      decoder.list(KubeKind::kPod, R"({"metadata":{"resourceVersion":"41","continue":"tok"},
      "items":[{"metadata":{"name":"a"}},null,7,{"metadata":{}}]})");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->resource_version, "41");
  EXPECT_EQ(list->continue_token, "tok");
  EXPECT_EQ(list->items.size(), 1U);
  EXPECT_EQ(list->skipped, 3U);
  EXPECT_TRUE(decoder.list(KubeKind::kPod, R"({"metadata":{},"items":null})")->items.empty());
}

TEST(KubeDecode, AStatusInsteadOfAListIsItsError) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto list = decoder.list(KubeKind::kPod, R"({"kind":"Status","code":410,"reason":"Expired",
      "message":"too old resource version"})");
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, ErrorCode::kGone);
  EXPECT_THAT(list.error().message, HasSubstr("too old resource version"));
}

TEST(KubeDecode, WatchFramesOfEveryTypeAreRead) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto added = decoder.watch_frame(KubeKind::kPod, R"({"type":"ADDED","object":{"kind":"Pod",
      "metadata":{"name":"p","namespace":"n","resourceVersion":"12"}}})");
  ASSERT_TRUE(added);
  EXPECT_EQ(added->type, WatchType::kAdded);
  EXPECT_EQ(added->resource_version, "12");
  EXPECT_EQ(std::get<Pod>(std::get<KubeObject>(added->payload)).key.name, "p");

  const auto bookmark =
      decoder.watch_frame(KubeKind::kPod, R"({"type":"BOOKMARK","object":{"metadata":{
      "resourceVersion":"13","annotations":{"k8s.io/initial-events-end":"true"}}}})");
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->resource_version, "13");
  EXPECT_TRUE(bookmark->initial_events_end);

  const auto error =
      decoder.watch_frame(KubeKind::kPod, R"({"type":"ERROR","object":{"kind":"Status",
      "code":410,"reason":"Expired","message":"m","details":{"retryAfterSeconds":3}}})");
  ASSERT_TRUE(error);
  EXPECT_EQ(std::get<KubeStatus>(error->payload).code, 410);
  EXPECT_EQ(std::get<KubeStatus>(error->payload).retry_after_s, 3);
  EXPECT_THAT(error->resource_version, IsEmpty());
}

TEST(KubeDecode, OddWatchFramesMoveNoVersion) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto unknown = decoder.watch_frame(
      KubeKind::kPod, R"({"type":"NEW","object":{"metadata":{"resourceVersion":"5"}}})");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->type, WatchType::kUnknown);
  EXPECT_THAT(unknown->resource_version, IsEmpty());
  const auto bare = decoder.watch_frame(KubeKind::kPod, R"({"type":"BOOKMARK","object":{}})");
  ASSERT_TRUE(bare);
  EXPECT_THAT(bare->resource_version, IsEmpty());
  EXPECT_FALSE(decoder.watch_frame(KubeKind::kPod, R"({"type":"ADDED"})"));
  EXPECT_FALSE(decoder.watch_frame(KubeKind::kPod, R"({"type":"ADDED","object":{"metadata":{}}})"));
  EXPECT_FALSE(decoder.watch_frame(KubeKind::kPod, R"({"type":"ADD)"));
  EXPECT_FALSE(decoder.watch_frame(KubeKind::kPod, "[]"));
}

TEST(KubeDecode, ADumpMayMixKindsAndLists) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto dump = decoder.dump(R"({"kind":"List","items":[
      {"kind":"Node","metadata":{"name":"n1"}},{"kind":"Service","metadata":{"name":"s"}},
      {"kind":"PodList","items":[{"metadata":{"name":"p1"}},{"metadata":{"name":"p2"}}]},
      {"kind":"Job","metadata":{"name":"j1"}},{"kind":"PodDisruptionBudget","metadata":{"name":"b"}}]})");
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->items.size(), 5U);
  EXPECT_EQ(dump->skipped, 0U);
  EXPECT_TRUE(decoder.dump(R"({"kind":"Node","metadata":{"name":"alone"}})")->items.size() == 1U);
  EXPECT_FALSE(decoder.dump("[]"));
}

// Each of them was taken for an empty cluster.
TEST(KubeDecode, WhatIsNoDumpIsRefusedAndAnEmptyClusterIsSaid) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto refusal = [&](std::string_view json) {
    const auto dump = decoder.dump(json);
    return dump ? "taken" : dump.error().message;
  };
  EXPECT_THAT(refusal("{}"), HasSubstr("no kind"));
  EXPECT_THAT(refusal(R"x({"Error from server (Forbidden)":"nodes is forbidden"})x"),
              HasSubstr("kubectl get nodes,pods,jobs"));
  EXPECT_THAT(refusal(R"({"apiVersion":"v1","items":[{"kind":"Node","metadata":{"name":"n"}}]})"),
              HasSubstr("cut short"));
  EXPECT_THAT(refusal(R"({"kind":"List","apiVersion":"v1"})"), HasSubstr("items: []"));
  EXPECT_THAT(refusal(R"({"kind":"List","items":{"a":1}})"), HasSubstr("items: []"));
  EXPECT_THAT(refusal(R"({"kind":"Status","message":"no"})"), HasSubstr("Status"));
  EXPECT_THAT(refusal(R"({"kind":"ConfigMapList","items":[]})"), HasSubstr("ConfigMapList"));
  EXPECT_EQ(refusal(R"({"kind":"List","items":[]})"), "taken");
  EXPECT_THAT(refusal(R"({"kind":"List","items":[],"items":[]})"), HasSubstr("several lists"));
  constexpr std::string_view kNode = R"({"kind":"Node","metadata":{"name":"n"}})";
  EXPECT_THAT(refusal(format("{}\n{}\n", kNode, kNode)), HasSubstr("jq -s"));
  EXPECT_THAT(refusal(R"({"kind":"List","items":[{} {}]})"), HasSubstr("malformed"));
}

TEST(KubeDecode, WhatADumpLeavesOutIsNamed) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto dump = decoder.dump(R"({"kind":"List","items":[{"kind":"Node","metadata":{}},7,
      {"kind":"Node","metadata":{"name":"n"}},{"kind":"NodeList"},{"metadata":{"name":"x"}}]})");
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->skipped, 4U);
  EXPECT_THAT(dump->skipped_examples,
              ElementsAre("items[0]: Node: metadata.name is missing", "items[1]: no object",
                          "items[3]: NodeList without items"));
}

TEST(KubeDecode, WhatADumpHasTwiceAndWhatWasRefusedIsNamed) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto dump = decoder.dump(R"({"kind":"List","items":[
      {"kind":"Pod","metadata":{"name":"p","namespace":"a"}},
      {"kind":"Pod","metadata":{"name":"p","namespace":"b"}},
      {"kind":"PodList","items":[{"metadata":{"name":"p","namespace":"a"}}]},
      {"kind":"Status","message":"jobs is forbidden"}]})");
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->items.size(), 3U);
  EXPECT_THAT(dump->skipped_examples,
              ElementsAre("items[2].items[0]: Pod a/p is there twice, and the last one counts",
                          "items[3]: a Status: jobs is forbidden"));
}

TEST(KubeDecode, AJobAndItsPodsTellTheirTimes) {
  const Job done = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"j"},"spec":{},
    "status":{"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:01:40Z",
      "conditions":[{"type":"Suspended","status":"False"},{"type":"Complete","status":"True"}]}})");
  ASSERT_TRUE(done.started_s && done.completed_s);
  EXPECT_EQ(*done.completed_s - *done.started_s, 100);
  EXPECT_TRUE(done.finished);
  EXPECT_TRUE(done.resumed);
  const Job failed = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"j"},"spec":{},
    "status":{"conditions":[{"type":"Suspended","status":"True"},{"type":"Failed","status":"True"}]}})");
  EXPECT_FALSE(failed.started_s || failed.completed_s || failed.resumed);
  EXPECT_TRUE(failed.finished);
  EXPECT_EQ(done.ended_s, done.completed_s);
  const Job broken = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"j"},"spec":{},
    "status":{"startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"FailureTarget",
      "status":"True","lastTransitionTime":"2026-01-01T00:01:00Z"},{"type":"Failed",
      "status":"True","lastTransitionTime":"2026-01-01T00:01:40Z"}]}})");
  ASSERT_TRUE(broken.ended_s);
  EXPECT_EQ(*broken.ended_s - *broken.started_s, 100);
  const Pod over = decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"p"},"spec":{},
    "status":{"phase":"Failed","startTime":"2026-01-01T00:00:00Z","containerStatuses":[
      {"state":{"terminated":{"finishedAt":"2026-01-01T00:00:09Z"}}},
      {"state":{"terminated":{"finishedAt":"2026-01-01T00:00:07Z"}}},{"state":{}}]}})");
  ASSERT_TRUE(over.started_s && over.ended_s);
  EXPECT_EQ(*over.ended_s - *over.started_s, 9);
  const Pod restarted = decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"p"},"spec":{},
    "status":{"containerStatuses":[{"restartCount":0},{"restartCount":2}]}})");
  EXPECT_TRUE(restarted.restarted);
}

TEST(KubeDecode, APodTellsItsImagesDigestAndWhetherItRanOutOfMemory) {
  const auto pod = [](const std::string& statuses) {
    return decoded<Pod>(KubeKind::kPod,
                        R"({"metadata":{"name":"p","namespace":"ml"},"spec":{"containers":[
      {"name":"proxy","image":"p:1"},
      {"name":"main","image":"t:1","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},
      "status":{"containerStatuses":[)" +
                            statuses + "]}}");
  };
  const Pod running = pod(R"({"name":"proxy","imageID":"p@sha256:1"},
    {"name":"main","imageID":"docker-pullable://r.io/t@sha256:2","state":{"running":{}}})");
  EXPECT_EQ(running.image_digest, "sha256:2") << "of the container with the GPUs";
  EXPECT_FALSE(running.out_of_memory);
  EXPECT_EQ(pod(R"({"name":"main","imageID":"sha256:3"})").image_digest, "sha256:3");
  EXPECT_EQ(pod(R"({"name":"main","imageID":"t:1"})").image_digest, "") << "it says none";
  EXPECT_EQ(pod("").image_digest, "");
  EXPECT_TRUE(
      pod(R"({"name":"main","state":{"terminated":{"reason":"OOMKilled"}}})").out_of_memory);
  EXPECT_TRUE(pod(R"({"name":"main","state":{"running":{}},"restartCount":1,
    "lastState":{"terminated":{"reason":"OOMKilled"}}})")
                  .out_of_memory);
  EXPECT_FALSE(pod(R"({"name":"main","state":{"terminated":{"reason":"Error"}}})").out_of_memory);
}

TEST(KubeDecode, APodTellsWhenItsContainerWithGpusStarted) {
  const auto began_s = [](const std::string& state) {
    return decoded<Pod>(KubeKind::kPod,
                        R"({"metadata":{"name":"p","namespace":"ml"},"spec":{"containers":[
      {"name":"proxy","image":"p:1"},
      {"name":"main","image":"t:1","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},
      "status":{"startTime":"2026-01-01T00:00:00Z","containerStatuses":[
        {"name":"proxy","state":{"running":{"startedAt":"2026-01-01T00:00:01Z"}}},
        {"name":"main","state":)" +
                            state + "}]}}")
        .began_s;
  };
  constexpr double kNewYear_s = 1767225600;
  EXPECT_EQ(began_s(R"({"running":{"startedAt":"2026-01-01T00:01:00Z"}})"), kNewYear_s + 60);
  EXPECT_EQ(began_s(R"({"terminated":{"startedAt":"2026-01-01T00:01:00Z",
    "finishedAt":"2026-01-01T00:02:00Z"}})"),
            kNewYear_s + 60);
  EXPECT_EQ(began_s(R"({"waiting":{"reason":"ContainerCreating"}})"), std::nullopt);
}

TEST(KubeDecode, APodTellsWhatKeepsItsContainerFromStarting) {
  const auto pod = [](const std::string& phase, const std::string& statuses) {
    return decoded<Pod>(KubeKind::kPod,
                        R"({"metadata":{"name":"p","namespace":"ml"},"spec":{"nodeName":"n1",
      "containers":[{"name":"main","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},
      "status":{"phase":")" +
                            phase + "\"," + statuses + "}}")
        .not_starting;
  };
  const std::string pulls = R"("containerStatuses":[{"name":"proxy","state":{"running":{}}},
    {"name":"main","state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off"}}}])";
  EXPECT_EQ(pod("Pending", pulls), "ImagePullBackOff: Back-off");
  EXPECT_EQ(pod("Running", pulls), "") << "a part of it works";
  EXPECT_EQ(pod("Pending", R"("containerStatuses":[
    {"state":{"waiting":{"reason":"ContainerCreating"}}}])"),
            "");
  EXPECT_EQ(pod("Pending", R"("initContainerStatuses":[
    {"state":{"waiting":{"reason":"CrashLoopBackOff"}}}],
    "containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}])"),
            "CrashLoopBackOff");
}

TEST(KubeDecode, APodTellsThatItsGpuWasFullWhereItsMessageDoes) {
  const auto pod = [](const std::string& state) {
    return decoded<Pod>(KubeKind::kPod,
                        R"({"metadata":{"name":"p","namespace":"ml"},"spec":{"containers":[
      {"name":"main","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},
      "status":{"containerStatuses":[{"name":"main","state":{"terminated":)" +
                            state + "}}]}}");
  };
  constexpr auto kMessage =
      R"(torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB)";
  EXPECT_TRUE(
      pod(std::string(R"({"exitCode":1,"message":")") + kMessage + "\"}").gpu_out_of_memory);
  EXPECT_FALSE(
      pod(std::string(R"({"exitCode":0,"message":")") + kMessage + "\"}").gpu_out_of_memory)
      << "it went on";
  EXPECT_FALSE(pod(R"({"exitCode":1,"message":"out of disk"})").gpu_out_of_memory);
  EXPECT_FALSE(pod(R"({"exitCode":137,"reason":"OOMKilled"})").gpu_out_of_memory);
}

TEST(KubeDecode, AJobTellsTheAmountsOfItsOnlyContainer) {
  const auto amounts = [](const std::string& spec) {
    return decoded<Job>(KubeKind::kJob,
                        R"({"metadata":{"name":"j"},"spec":{"template":{"spec":)" + spec + "}}}")
        .amounts;
  };
  const std::string main = R"({"name":"main","resources":{
      "requests":{"cpu":"500m","memory":"64Gi"},"limits":{"memory":"64Gi","nvidia.com/gpu":"1"}}})";
  const auto found = amounts(R"({"containers":[)" + main + "]}");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (ContainerAmounts{"500m", "", "64Gi", "64Gi"}));
  EXPECT_FALSE(amounts(R"({"containers":[)" + main + R"(,{"name":"proxy"}]})"));
  EXPECT_FALSE(amounts(R"({"initContainers":[{"name":"load"}],"containers":[)" + main + "]}"));
  EXPECT_FALSE(amounts(R"({"containers":[{"name":"main"}]})")) << "without GPUs";
}

TEST(KubeDecode, ANamespaceTellsItsModeOfResizing) {
  const auto mode = [](const std::string& value) {
    return decoded<Namespace>(
               KubeKind::kNamespace,
               R"({"metadata":{"name":"ml","annotations":{"slackline.dev/resize":")" + value +
                   "\"}}}")
        .resize;
  };
  EXPECT_EQ(mode("auto"), ResizeMode::kAuto);
  EXPECT_EQ(mode("off"), ResizeMode::kOff);
  EXPECT_EQ(mode("sometimes"), std::nullopt);
}

TEST(KubeDecode, ANamespaceTellsTheNodesOfItsPods) {
  const auto selector = [](const std::string& annotations) {
    return decoded<Namespace>(KubeKind::kNamespace,
                              R"({"metadata":{"name":"ml","annotations":{)" + annotations + "}}}")
        .pods.node_selector;
  };
  const std::string kubernetes = R"("scheduler.alpha.kubernetes.io/node-selector":)";
  const std::string openshift = R"("openshift.io/node-selector":)";
  EXPECT_EQ(selector(kubernetes + R"("zone = a,disk=ssd")"),
            (Labels{{"disk", "ssd"}, {"zone", "a"}}));
  EXPECT_EQ(selector(openshift + R"("pool==ml")"), (Labels{{"pool", "ml"}}));
  EXPECT_EQ(selector(kubernetes + R"("",)" + openshift + R"("pool=ml")"), Labels())
      << "OpenShift does not look where the other is";
  EXPECT_EQ(selector(kubernetes + "\"zone in (a)\""), Labels());
}

TEST(KubeDecode, ANamespaceTellsTheTolerationsAndTheLevelOfItsPods) {
  const auto pods = [](const std::string& metadata) {
    return decoded<Namespace>(KubeKind::kNamespace,
                              R"({"metadata":{"name":"ml",)" + metadata + "}}")
        .pods;
  };
  const NamespaceAdmission of_notes = pods(R"("annotations":{
    "scheduler.alpha.kubernetes.io/defaultTolerations":
      "[{\"key\":\"pool\",\"operator\":\"Equal\",\"value\":\"ml\",\"effect\":\"NoSchedule\"}]",
    "scheduler.alpha.kubernetes.io/tolerationsWhitelist":"[{\"operator\":\"Exists\"}]"})");
  EXPECT_EQ(of_notes.tolerations,
            (std::vector<Toleration>{{"pool", false, "ml", TaintEffect::kNoSchedule}}));
  EXPECT_EQ(of_notes.allowed_tolerations, (std::vector<Toleration>{{"", true, "", std::nullopt}}));
  EXPECT_EQ(pods(R"("annotations":{"scheduler.alpha.kubernetes.io/defaultTolerations":"[{"})"),
            NamespaceAdmission());
  EXPECT_EQ(pods(R"("annotations":{"scheduler.alpha.kubernetes.io/tolerationsWhitelist":
                 "[{\"key\":\"pool\"},{\"key\":\"sla\",\"operator\":\"Gt\",\"value\":\"9\"}]"})"),
            NamespaceAdmission())
      << "one that cannot be judged may allow what the others do not";
  const auto level = [&](const std::string& text) {
    return pods(R"("labels":{"pod-security.kubernetes.io/enforce":")" + text + "\"}").pod_security;
  };
  EXPECT_EQ(level("restricted"), "restricted");
  EXPECT_EQ(level("privileged"), "") << "it refuses nothing";
}

TEST(KubeDecode, ARuntimeClassTellsWhatItAddsToPods) {
  const auto runtime = decoded<RuntimeClass>(KubeKind::kRuntimeClass, R"({
    "metadata":{"name":"sandbox","uid":"r"},"handler":"runsc",
    "overhead":{"podFixed":{"cpu":"250m","memory":"1Mi"}},
    "scheduling":{"nodeSelector":{"runtime":"sandbox"},
      "tolerations":[{"key":"sandbox","operator":"Exists","effect":"NoSchedule"}]}})");
  EXPECT_EQ(runtime.key.name, "sandbox");
  EXPECT_EQ(runtime.overhead.cpu_milli, 250);
  EXPECT_EQ(runtime.overhead.memory_bytes, 1 << 20);
  EXPECT_EQ(runtime.node_selector, (Labels{{"runtime", "sandbox"}}));
  ASSERT_EQ(runtime.tolerations.size(), 1U);
  EXPECT_TRUE(runtime.tolerations[0].exists);

  const Job job = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"train"},
    "spec":{"template":{"spec":{"runtimeClassName":"sandbox","overhead":{"cpu":"1"},
      "containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}})");
  ASSERT_NE(job.constraints, nullptr);
  EXPECT_EQ(job.constraints->runtime_class, "sandbox");
  EXPECT_TRUE(job.constraints->has_overhead);
}

TEST(KubeDecode, AVolumeTellsItsClaimAndTheNodesThatReachIt) {
  const auto claim = decoded<VolumeClaim>(KubeKind::kVolumeClaim, R"({
    "metadata":{"name":"work","namespace":"team","uid":"c"},"spec":{"volumeName":"disk-7"}})");
  EXPECT_EQ(claim.key, (ObjectKey{"team", "work"}));
  EXPECT_EQ(claim.volume, "disk-7");
  const auto volume = decoded<Volume>(KubeKind::kVolume, R"({
    "metadata":{"name":"disk-7","uid":"v"},"spec":{"claimRef":{"namespace":"team","name":"work"},
      "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
        {"key":"topology.kubernetes.io/zone","operator":"In","values":["b"]}]}]}}}})");
  EXPECT_EQ(volume.claim, claim.key);
  ASSERT_EQ(volume.terms.size(), 1U);
  EXPECT_EQ(volume.terms[0],
            (NodeSelectorTerm{{"topology.kubernetes.io/zone", MatchOperator::kIn, {"b"}}}));
  const auto everywhere =
      decoded<Volume>(KubeKind::kVolume, R"({"metadata":{"name":"nfs"},"spec":{"nfs":{}}})");
  EXPECT_TRUE(everywhere.terms.empty());
}

TEST(KubeDecode, ThePodsOfATaskClaimVolumesByName) {
  constexpr std::string_view kSpec = R"("spec":{"volumes":[
      {"name":"w","persistentVolumeClaim":{"claimName":"work"}},{"name":"tmp","emptyDir":{}},
      {"name":"scratch","ephemeral":{"volumeClaimTemplate":{}}}],
      "containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]})";
  const auto pod =
      decoded<Pod>(KubeKind::kPod, R"({"metadata":{"name":"train-0"},)" + std::string(kSpec) + "}");
  ASSERT_NE(pod.constraints, nullptr);
  EXPECT_EQ(pod.constraints->claims, (std::vector<std::string>{"work", "train-0-scratch"}));
  const auto job = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"train"},
    "spec":{"template":{)" + std::string(kSpec) + "}}}");
  ASSERT_NE(job.constraints, nullptr);
  EXPECT_EQ(job.constraints->claims, (std::vector<std::string>{"work"})) << "its pods bring theirs";
  EXPECT_TRUE(job.constraints->has_volume_claims);
}

TEST(KubeDecode, ADeviceClassTellsWhichResourceItServes) {
  const auto named = decoded<DeviceClass>(KubeKind::kDeviceClass, R"({
    "metadata": {"name": "gpu.example.com", "uid": "d1"},
    "spec": {"extendedResourceName": "nvidia.com/gpu", "selectors": []}})");
  EXPECT_EQ(named.key.name, "gpu.example.com");
  EXPECT_EQ(named.resource, "nvidia.com/gpu");
  EXPECT_EQ(
      decoded<DeviceClass>(KubeKind::kDeviceClass, R"({"metadata": {"name": "nic"}})").resource,
      "");
}

TEST(KubeDecode, ALimitRangeTellsWhatConcernsPods) {
  const auto range = decoded<LimitRange>(KubeKind::kLimitRange, R"({
    "metadata":{"name":"small","namespace":"team","uid":"l"},
    "spec":{"limits":[
      {"type":"Container","default":{"cpu":"2","nvidia.com/gpu":"1","ephemeral-storage":"1Gi"},
       "defaultRequest":{"cpu":"500m","memory":"x"}},
      {"type":"PersistentVolumeClaim","max":{"storage":"1Ti"}},
      {"type":"Pod","min":{"memory":"1Ki"},"max":{"cpu":"8"},
       "maxLimitRequestRatio":{"cpu":"1.5","memory":"2"}}]}})");
  using Amounts = std::vector<NamedAmount>;
  EXPECT_EQ(range.key, (ObjectKey{"team", "small"}));
  const LimitRange::Item container{false, Amounts{{"cpu", 500}},
                                   Amounts{{"cpu", 2000}, {"nvidia.com/gpu", 1}}};
  const LimitRange::Item pod{true,
                             {},
                             {},
                             Amounts{{"memory", 1024}},
                             Amounts{{"cpu", 8000}},
                             Amounts{{"cpu", 1500}, {"memory", 2000}}};
  EXPECT_EQ(range.items, (std::vector<LimitRange::Item>{container, pod}));

  const Job job = decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"train"},
    "spec":{"template":{"spec":{"initContainers":[{"restartPolicy":"Always"}],
      "containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}})");
  ASSERT_NE(job.ask, nullptr);
  ASSERT_EQ(job.ask->containers.size(), 2U);
  EXPECT_EQ(job.ask->containers[1].kind, ContainerAsk::Kind::kSidecar);
}

TEST(KubeDecode, ADumpHasWhatAdmissionAdds) {
  const auto list = KubeDecoder(default_gpu_catalog()).dump(R"({"kind":"List","items":[
    {"kind":"RuntimeClass","metadata":{"name":"sandbox"}},
    {"kind":"LimitRange","metadata":{"name":"small","namespace":"team"}}]})");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<RuntimeClass>(list->items[0]));
  EXPECT_TRUE(std::holds_alternative<LimitRange>(list->items[1]));
}

TEST(KubeDecode, AJobTellsItsImageAndHowItsNameWasMade) {
  const Job job =
      decoded<Job>(KubeKind::kJob, R"({"metadata":{"name":"train-x7k2p","generateName":"train-"},
    "spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"p:1"},
      {"name":"main","image":"t:1","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}})");
  EXPECT_EQ(job.image, "t:1");
  EXPECT_EQ(job.generate_name, "train-");
}

TEST(KubeDecode, AJobThatNamesItsNodeIsNotForTheQueue) {
  const auto job = [](const char* spec) {
    return decoded<Job>(KubeKind::kJob, format(R"({{"metadata":{{"name":"train"}},
        "spec":{{"template":{{"spec":{{{}"containers":[{{"name":"main","resources":
        {{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}}}}}})",
                                               spec));
  };
  EXPECT_TRUE(job("").is_for_queue());
  EXPECT_FALSE(job("").names_node);
  const Job named = job(R"("nodeName":"n1",)");
  EXPECT_TRUE(named.names_node);
  EXPECT_FALSE(named.is_for_queue());
}

TEST(KubeDecode, AJobTellsWhenKubernetesEndsIt) {
  const auto limit = [](const char* labels, const char* spec) {
    return decoded<Job>(KubeKind::kJob,
                        format(R"({{"metadata":{{"name":"j","labels":{{{}}}}},"spec":{{{}}}}})",
                               labels, spec))
        .run_limit_s();
  };
  EXPECT_EQ(limit("", ""), std::nullopt);
  EXPECT_EQ(limit("", R"("activeDeadlineSeconds":900)"), 900);
  const char* kueue = R"("kueue.x-k8s.io/max-exec-time-seconds":"600")";
  EXPECT_EQ(limit(kueue, ""), 600);
  EXPECT_EQ(limit(kueue, R"("activeDeadlineSeconds":900)"), 600);
  EXPECT_EQ(limit(R"("kueue.x-k8s.io/max-exec-time-seconds":"soon")", ""), std::nullopt);
}

TEST(KubeDecode, AJobThatIsGivenToKueueWaitsWithUsNoMore) {
  const auto with = [](const char* labels) {
    return decoded<Job>(KubeKind::kJob, format(R"({{"metadata":{{"name":"j","labels":{{{}}},
        "annotations":{{"slackline.dev/suspended-by":"slackline"}}}},"spec":{{"suspend":true}}}})",
                                               labels));
  };
  EXPECT_TRUE(with("").waits_with_us());
  const Job given = with(R"("kueue.x-k8s.io/queue-name":"main")");
  EXPECT_TRUE(given.kueue && given.suspended);
  EXPECT_FALSE(given.suspended_by_us || given.waits_with_us());
}

TEST(KubeDecode, AJobTellsTheCpuLimitThatAllItsContainersHave) {
  const auto limit = [](const char* second) {
    return decoded<Job>(KubeKind::kJob, std::string(R"({"metadata":{"name":"j"},"spec":{"template":
        {"spec":{"containers":[{"name":"a","resources":{"limits":
        {"cpu":"1500m","nvidia.com/gpu":"1"}}},)") +
                                            second + "]}}}}")
        .cpu_limit_milli;
  };
  EXPECT_EQ(limit(R"({"name":"b","resources":{"limits":{"cpu":"2"}}})"), 3500);
  EXPECT_EQ(limit(R"({"name":"b"})"), std::nullopt) << "that one may use the whole node";
}

TEST(KubeDecode, BrokenJsonIsAnErrorWithItsPlace) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto cut = decoder.object(KubeKind::kPod, R"({"metadata":{"name":"p")");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(cut.error().message, HasSubstr("byte 23"));
  const std::string deep = std::string(2000, '[') + std::string(2000, ']');
  EXPECT_THAT(decoder.object(KubeKind::kPod, deep).error().message, HasSubstr("deeper than 1024"));
  EXPECT_THAT(decoder.object(KubeKind::kPod, "{\"a\":\"\xff\"}").error().message,
              HasSubstr("UTF-8"));
  EXPECT_THAT(decoder.object(KubeKind::kPod, "").error().message, HasSubstr("empty"));
}

TEST(KubeDecode, AStatusIsDecodedOnItsOwn) {
  const auto status = decode_status(R"({"kind":"Status","code":429,"reason":"TooManyRequests",
      "message":"slow down","details":{"retryAfterSeconds":2}})");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 429);
  EXPECT_EQ(status->retry_after_s, 2);
  EXPECT_FALSE(decode_status(R"({"kind":"Pod"})"));
  EXPECT_FALSE(decode_status("<html>"));
}

}  // namespace
}  // namespace slackline::wire
