// What the objects say whose controllers make gangs.
#include "wire/gangs/gang_object.h"

#include <string>

#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "wire/format/yaml.h"

namespace slackline::wire {
namespace {

// Of YAML, in which GPU stands for a template that asks for one, and CPU for one that does not.
GangObject read(std::string text) {
  const auto put = [&](std::string_view word, std::string_view means) {
    for (auto at = text.find(word); at != text.npos; at = text.find(word))
      text.replace(at, word.size(), means);
  };
  put("GPU", "{spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}");
  put("CPU", "{spec: {containers: [{name: c}]}}");
  KubeDecoder decoder(default_gpu_catalog());
  const auto json = yaml_to_json(text);
  EXPECT_TRUE(json.has_value()) << text;
  if (!json) return {};
  auto object = read_gang_object(*json, decoder);
  EXPECT_TRUE(object.has_value()) << text;
  return object ? *object : GangObject{};
}

std::int64_t pods(const std::string& text) {
  return read(text).spec.pods.value_or(-1);
}

constexpr const char* kTorch = "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, ";
constexpr const char* kRay = "{apiVersion: ray.io/v1, kind: RayCluster, ";

TEST(GangObject, PodsAreThoseOfTheTemplatesWithGpus) {
  EXPECT_EQ(pods(std::string(kTorch) + R"(spec: {pytorchReplicaSpecs: {
      Master: {template: GPU}, Worker: {replicas: 7, template: GPU}}}})"),
            8);
  EXPECT_EQ(pods(R"({apiVersion: kubeflow.org/v1, kind: TFJob, spec: {tfReplicaSpecs: {
      PS: {replicas: 2, template: CPU}, Worker: {replicas: 3, template: GPU}}}})"),
            3);
  EXPECT_EQ(pods(R"({apiVersion: kubeflow.org/v1, kind: TFJob, spec: {tfReplicaSpecs: {
      Worker: {replicas: 3, template: CPU}}}})"),
            -1);
  EXPECT_EQ(pods(std::string(kTorch) + "spec: many}"), -1);
}

TEST(GangObject, WhatComesLaterIsNotWaitedFor) {
  const std::string mpi = R"({apiVersion: kubeflow.org/v2beta1, kind: MPIJob, spec: {POLICY
      mpiReplicaSpecs: {Launcher: {template: GPU}, Worker: {replicas: 2, template: GPU}}}})";
  const auto with = [&](const std::string& policy) {
    std::string text = mpi;
    return pods(text.replace(text.find("POLICY"), 6, policy));
  };
  EXPECT_EQ(with(""), 3);
  EXPECT_EQ(with("launcherCreationPolicy: WaitForWorkersReady,"), 2);
}

TEST(GangObject, WhatHasSucceededDoesNotComeAgain) {
  EXPECT_EQ(pods(std::string(kTorch) + R"(status: {replicaStatuses: {Worker: {succeeded: 2}}},
      spec: {pytorchReplicaSpecs: {Master: {template: GPU}, Worker: {replicas: 7, template: GPU}}}})"),
            6);
}

TEST(GangObject, GroupsOfARayClusterAreWithinTheirBoundsAndHosts) {
  const auto of_group = [](const std::string& group) {
    return pods(std::string(kRay) + "spec: {headGroupSpec: {template: CPU}, workerGroupSpecs: [{" +
                group + ", template: GPU}]}}");
  };
  EXPECT_EQ(of_group("replicas: 3"), 3);
  EXPECT_EQ(of_group("replicas: 3, numOfHosts: 4"), 12);
  EXPECT_EQ(of_group("minReplicas: 2"), 2);
  EXPECT_EQ(of_group("replicas: 1, minReplicas: 2"), 2);
  EXPECT_EQ(of_group("replicas: 9, minReplicas: 2, maxReplicas: 4"), 4);
  EXPECT_EQ(of_group("replicas: 3, suspend: true"), -1);
}

// The label of people makes a gang of its own, and kube-scheduler's groups another one.
TEST(GangObject, TemplatesOfOtherGangsAreNotCounted) {
  const auto with = [](const std::string& of_pod) {
    return pods(std::string(kTorch) + R"(spec: {pytorchReplicaSpecs: {Master: {template: GPU},
        Worker: {replicas: 2, template: {)" +
                of_pod +
                R"(containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}}})");
  };
  EXPECT_EQ(with("spec: {"), 3);
  EXPECT_EQ(with("metadata: {labels: {slackline.dev/gang: own}}, spec: {"), 1);
  EXPECT_EQ(with("spec: {schedulingGroup: {podGroupName: own}, "), 1);
}

TEST(GangObject, AJobSetSaysHowManyItMakesFirst) {
  const auto of = [](const std::string& says, const std::string& b = "") {
    return pods("{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, " + says +
                "spec: {replicatedJobs: [{name: a, template: {spec: {template: CPU}}}, {name: b, "
                "replicas: 2, template: {spec: {parallelism: 3, completions: 2, template: GPU}}" +
                b + "}]}}");
  };
  EXPECT_EQ(of(""), 4);
  EXPECT_EQ(
      of("status: {replicatedJobsStatus: [{name: a, succeeded: 1}, {name: b, succeeded: 1}]}, "),
      2);
  EXPECT_EQ(of("status: {replicatedJobsStatus: [{name: b, succeeded: 9}]}, "), -1);
  EXPECT_EQ(of("", ", dependsOn: [{name: a, status: Ready}]"), -1) << "a comes first";
  const std::string topology = "{alpha.jobset.sigs.k8s.io/exclusive-topology: rack}";
  EXPECT_EQ(of("metadata: {annotations: " + topology + "}, "), -1)
      << "the others come once the leaders have nodes";
}

// "role after ...: pods" of those that come later.
std::string later(const std::string& text) {
  std::string all;
  for (const LaterMembers& members : read(text).spec.later) {
    EXPECT_EQ(members.pattern != nullptr, members.pods > 0);
    all += format("{} after {}: {}; ", members.role, join(members.after, ","), members.pods);
  }
  return all;
}

TEST(GangObject, AJobSetSaysWhatItMakesOnceOthersRun) {
  const auto of_jobs = [](const std::string& jobs, const std::string& policy = "") {
    return later(
        "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {namespace: t}, "
        "spec: {" +
        policy + "replicatedJobs: [" + jobs + "]}}");
  };
  const std::string a = "{name: a, template: {spec: {template: GPU}}}";
  const std::string b =
      ", {name: b, replicas: 2, template: {spec: {parallelism: 3, template: GPU}}, dependsOn: ";
  const std::string c = ", {name: c, template: {spec: {template: CPU}}}";
  EXPECT_EQ(of_jobs(a + c), "");
  EXPECT_EQ(of_jobs(a + b + "[{name: a, status: Ready}]}"), "b after a: 6; ");
  EXPECT_EQ(of_jobs(a + b + "[{name: a, status: Complete}]}"), "") << "it gets the room of a";
  EXPECT_EQ(of_jobs(a + b + "[]}" + c, "startupPolicy: {startupPolicyOrder: InOrder}, "),
            "b after a: 6; c after b: 0; ");
}

TEST(GangObject, WithExclusiveTopologyTheOthersOfEachJobComeOnceItsFirstHasANode) {
  const auto with = [](const std::string& annotations) {
    return later(
        "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {namespace: t, "
        "annotations: {" +
        annotations +
        "}}, spec: {startupPolicy: {startupPolicyOrder: InOrder}, replicatedJobs: [{name: a, "
        "replicas: 3, template: {spec: {parallelism: 4, template: GPU}}}, {name: b, template: "
        "{spec: {template: GPU}}}]}}");
  };
  const std::string rack = "alpha.jobset.sigs.k8s.io/exclusive-topology: rack";
  EXPECT_EQ(with(""), "b after a: 1; ");
  EXPECT_EQ(with(rack), "a/others after a/first: 3; ");
  EXPECT_EQ(with(rack + ", alpha.jobset.sigs.k8s.io/node-selector: 'true'"), "b after a: 1; ");
}

TEST(GangObject, ALeaderWorkerSetSaysWhetherItsWorkersWaitForTheLeader) {
  const auto with = [](const std::string& policy, const std::string& annotations = "") {
    return later(
        "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {namespace: "
        "t, annotations: {" +
        annotations +
        "}}, "
        "spec: {" +
        policy + "leaderWorkerTemplate: {size: 4, workerTemplate: GPU}}}");
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("startupPolicy: LeaderReady, "), "1 after 0: 3; ");
  EXPECT_EQ(with("", "leaderworkerset.sigs.k8s.io/exclusive-topology: rack"), "1 after 0: 3; ");
}

// Times of 2026-01-01T00:00:00Z and so many seconds.
std::string clocks(const std::string& text) {
  constexpr double kNewYear_s = 1767225600;
  const GangSpec spec = read(text).spec;
  const auto after = [](std::optional<double> time_s) {
    return time_s ? format("{}", *time_s - kNewYear_s) : "-";
  };
  return format("ends {} starts by {}", after(spec.ends_s), after(spec.starts_by_s));
}

TEST(GangObject, ClocksRunFromTheStartOrTheCreation) {
  const std::string made = R"(metadata: {creationTimestamp: "2026-01-01T00:00:00Z"}, )";
  const std::string started = R"(status: {startTime: "2026-01-01T00:01:00Z"}, )";
  const std::string limit = "spec: {runPolicy: {activeDeadlineSeconds: 3600}}}";
  EXPECT_EQ(clocks(kTorch + made + limit), "ends 3600 starts by -");
  EXPECT_EQ(clocks(kTorch + made + started + limit), "ends 3660 starts by -");
  EXPECT_EQ(clocks("{apiVersion: ray.io/v1, kind: RayJob, " + made + started +
                   "spec: {activeDeadlineSeconds: 900, preRunningDeadlineSeconds: 300}}"),
            "ends 960 starts by 360");
  EXPECT_EQ(clocks("{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, " + made +
                   "spec: {activeDeadlineSeconds: 60}}"),
            "ends 60 starts by -");
  const std::string mpi = "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, " + made;
  EXPECT_EQ(clocks(mpi + limit), "ends 3600 starts by -");
  EXPECT_EQ(clocks(mpi + "spec: {launcherCreationPolicy: WaitForWorkersReady, "
                         "runPolicy: {activeDeadlineSeconds: 3600}}}"),
            "ends - starts by -")
      << "the clock of a launcher that is made later";
  EXPECT_EQ(clocks(kTorch + made + "spec: {}}"), "ends - starts by -");
  EXPECT_EQ(clocks(kTorch + made + "spec: {runPolicy: {activeDeadlineSeconds: -1}}}"),
            "ends - starts by -");
}

TEST(GangObject, AnAppWrapperHasFiveMinutesUnlessItSaysOtherwise) {
  const auto with = [](const std::string& annotations) {
    return clocks("{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, metadata: {" +
                  annotations +
                  R"(}, status: {conditions: [{type: ResourcesDeployed, status: "True",
                  lastTransitionTime: "2026-01-01T00:02:00Z"}]}})");
  };
  EXPECT_EQ(with(""), "ends - starts by 420");
  EXPECT_EQ(with("annotations: {workload.codeflare.dev.appwrapper/warmupGracePeriodDuration: 1h}"),
            "ends - starts by 3720");
}

TEST(GangObject, NamesItsControllerAndItself) {
  const GangObject object = read(R"({apiVersion: ray.io/v1, kind: RayCluster, metadata: {uid: u1,
      ownerReferences: [{kind: Node, name: n}, {apiVersion: ray.io/v1, kind: RayJob, name: tune,
      uid: u2, controller: true}]}})");
  EXPECT_EQ(object.uid, Uid("u1"));
  ASSERT_TRUE(object.owner);
  EXPECT_EQ(gang_object_path(*object.owner, "team"),
            "/apis/ray.io/v1/namespaces/team/rayjobs/tune");
  EXPECT_EQ(object.owner->uid, Uid("u2"));
}

TEST(GangObject, OnlyKnownKindsBecomePathsAndNoNameLeadsElsewhere) {
  const auto path = [](const std::string& api_version, const std::string& kind,
                       const std::string& name) {
    return gang_object_path({api_version, kind, name, Uid("u")}, "team").value_or("-");
  };
  EXPECT_EQ(path("kubeflow.org/v2beta1", "MPIJob", "hpl"),
            "/apis/kubeflow.org/v2beta1/namespaces/team/mpijobs/hpl");
  EXPECT_EQ(path("batch/v1", "Job", "hpl"), "-");
  EXPECT_EQ(path("example.com/v1", "MPIJob", "hpl"), "-");
  EXPECT_EQ(path("kubeflow.org", "MPIJob", "hpl"), "-");
  EXPECT_EQ(path("kubeflow.org/v1/namespaces/other", "MPIJob", "hpl"), "-");
  EXPECT_EQ(path("kubeflow.org/v1", "MPIJob", "../../secrets"), "-");
}

}  // namespace
}  // namespace slackline::wire
