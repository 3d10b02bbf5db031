// To which gang pods and Jobs belong, by what their controllers write on them.
#include "wire/gangs/owner_gang.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "wire/kube/kube_decode.h"

namespace slackline::wire {
namespace {

// "KIND NAME UID PART SIZE", and of one of several that an object makes its role; empty: it is in
// none.
std::string gang_of(const std::string& owner, const std::string& labels = "{}",
                    const std::string& annotations = "{}", const std::string& name = "") {
  JsonDocument document;
  const std::string text = R"({"ownerReferences":[{"kind":"Node","name":"no","uid":"x"},{)" +
                           owner + R"(,"uid":"u1","controller":true}],"labels":)" + labels +
                           R"(,"annotations":)" + annotations + R"(,"name":")" + name + "\"}";
  const auto metadata = document.parse(text);
  if (!metadata) return metadata.error().message;
  const auto gang = read_owner_gang(*metadata);
  if (!gang) return "";
  const std::string size = gang->of_jobs ? "of Jobs" : std::to_string(gang->size.value_or(0));
  const bool of_several = !gang->object.empty() && !gang->role.empty();
  return format("{} {} uid={} part={} size={}{}", gang->kind, gang->name, gang->uid.str(),
                gang->part, size,
                of_several ? format(" role={} of {}", gang->role, gang->object) : "");
}

std::string owner(const std::string& api, const std::string& kind, const std::string& name) {
  return R"("apiVersion":")" + api + R"(","kind":")" + kind + R"(","name":")" + name + "\"";
}

TEST(OwnerGang, KubeflowAndRayMakeOneOfAllPodsWithoutSayingHowMany) {
  for (const char* kind : {"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"})
    EXPECT_EQ(gang_of(owner("kubeflow.org/v1", kind, "t5")),
              std::string(kind) + " t5 uid=u1 part= size=0");
  EXPECT_EQ(gang_of(owner("kubeflow.org/v2beta1", "MPIJob", "hpl")),
            "MPIJob hpl uid=u1 part= size=0");
  EXPECT_EQ(gang_of(owner("ray.io/v1", "RayCluster", "tune")),
            "RayCluster tune uid=u1 part= size=0");
}

TEST(OwnerGang, AJobSetMakesOneOfItsJobsInEachAttempt) {
  const std::string labels = R"({"jobset.sigs.k8s.io/jobset-name":"llm",
      "jobset.sigs.k8s.io/jobset-uid":"u9","jobset.sigs.k8s.io/restart-attempt":"2"})";
  EXPECT_EQ(gang_of(owner("jobset.x-k8s.io/v1alpha2", "JobSet", "llm"), labels),
            "JobSet llm uid=u1 part=2 size=of Jobs");
  EXPECT_EQ(gang_of(owner("batch/v1", "Job", "llm-workers-0"), labels),
            "JobSet llm uid=u9 part=2 size=of Jobs");
  EXPECT_EQ(gang_of(owner("batch/v1", "Job", "train")), "") << "a Job of nobody";
}

// The first pod of each Job gets a node, then the others come to the same rack.
TEST(OwnerGang, WithExclusiveTopologyEachJobOfAJobSetIsOne) {
  const std::string rack = R"({"alpha.jobset.sigs.k8s.io/exclusive-topology":"rack"})";
  const auto labels = [](const std::string& number) {
    return R"({"jobset.sigs.k8s.io/jobset-name":"llm","jobset.sigs.k8s.io/jobset-uid":"u9",
        "jobset.sigs.k8s.io/replicatedjob-name":"workers","jobset.sigs.k8s.io/restart-attempt":"2",
        "batch.kubernetes.io/job-completion-index":")" +
           number + R"("})";
  };
  const std::string pod = owner("batch/v1", "Job", "llm-workers-1");
  const std::string gang = "JobSet llm-workers-1 uid= part=2 size=0";
  EXPECT_EQ(gang_of(pod, labels("0"), rack), gang + " role=workers/first of llm");
  EXPECT_EQ(gang_of(pod, labels("3"), rack), gang + " role=workers/others of llm");
  const std::string job = owner("jobset.x-k8s.io/v1alpha2", "JobSet", "llm");
  EXPECT_THAT(gang_of(job, "{}", rack, "llm-workers-1"),
              testing::StartsWith("JobSet llm-workers-1 uid= part= size=0"));
  EXPECT_EQ(gang_of(pod, labels("0"),
                    R"({"alpha.jobset.sigs.k8s.io/exclusive-topology":"rack",
                        "alpha.jobset.sigs.k8s.io/node-selector":"true"})"),
            "JobSet llm uid=u9 part=2 size=of Jobs")
      << "its pods come all at once, to nodes that somebody labels";
}

TEST(OwnerGang, EachGroupOfALeaderWorkerSetIsOne) {
  const std::string labels = R"({"leaderworkerset.sigs.k8s.io/name":"vllm",
      "leaderworkerset.sigs.k8s.io/group-index":"1"})";
  const std::string size = R"({"leaderworkerset.sigs.k8s.io/size":"4"})";
  const std::string set = owner("apps/v1", "StatefulSet", "vllm-1");
  EXPECT_EQ(gang_of(set, labels, size), "LeaderWorkerSet vllm-1 uid= part= size=4");
  EXPECT_EQ(gang_of(set, labels, R"({"leaderworkerset.sigs.k8s.io/size":"many"})"),
            "LeaderWorkerSet vllm-1 uid= part= size=0");
  EXPECT_EQ(gang_of(set, labels, R"({"leaderworkerset.sigs.k8s.io/size":"4",
                "leaderworkerset.sigs.k8s.io/exclusive-topology":"rack"})"),
            "LeaderWorkerSet vllm-1 uid= part= size=4")
      << "which of them come later its object says";
  EXPECT_EQ(gang_of(set, R"({"leaderworkerset.sigs.k8s.io/name":"vllm"})", size), "")
      << "its webhook has not numbered the group yet";
  EXPECT_EQ(gang_of(set), "") << "any other StatefulSet";
}

TEST(OwnerGang, OtherKindsMakeNoneAndTheGroupCounts) {
  EXPECT_EQ(gang_of(owner("batch.volcano.sh/v1alpha1", "Job", "v"),
                    R"({"jobset.sigs.k8s.io/jobset-name":"llm"})"),
            "");
  EXPECT_EQ(gang_of(owner("example.com/v1", "PyTorchJob", "own")), "");
  EXPECT_EQ(gang_of(owner("ray.io/v1", "RayJob", "submitter")), "");
  EXPECT_EQ(gang_of(owner("apps/v1", "ReplicaSet", "web")), "");
}

TEST(OwnerGang, APodOfASchedulingGroupIsInNoneBesides) {
  const auto pod = [](const std::string& spec) {
    KubeDecoder decoder(default_gpu_catalog());
    return std::get<Pod>(*decoder.object(
        KubeKind::kPod, R"({"metadata":{"name":"p","ownerReferences":[{"controller":true,"uid":"u",
          "apiVersion":"kubeflow.org/v1","kind":"TFJob","name":"t"}]},"spec":)" +
                            spec + "}"));
  };
  EXPECT_TRUE(pod("{}").owner_gang);
  EXPECT_FALSE(pod(R"({"schedulingGroup":{"podGroupName":"g"}})").owner_gang);
}

}  // namespace
}  // namespace slackline::wire
