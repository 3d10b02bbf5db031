#include "wire/kube/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kManifestJob = R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  annotations: {slackline.dev/model: resnet50, slackline.dev/batch-size: "64", other/key: x}
spec:
  template:
    metadata:
      annotations: {slackline.dev/batch-size: "128"}
    spec:
      containers:
        - resources: {limits: {nvidia.com/gpu: "2"}}
)";

Result<Pod> read(const char* text) {
  return read_manifest(text, "team", default_gpu_catalog());
}

TEST(Manifest, AJobsTemplateBecomesThePodAndInheritsOurAnnotations) {
  const auto pod = read(kManifestJob);
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->key.str(), "team/train-0");
  EXPECT_EQ(pod->requests.gpu_count("nvidia.com/gpu"), 2);
  EXPECT_EQ(pod->intent->model, "resnet50");
  EXPECT_EQ(pod->intent->batch_size, 128);  // the template's own wins
}

TEST(Manifest, AJobIsAlsoReadAsTheJobThatItWouldBe) {
  const auto posted = read_posted(R"({"kind": "Job", "metadata": {"name": "train",
      "ownerReferences": [{"kind": "CronJob", "name": "c", "uid": "u"}],
      "annotations": {"slackline.dev/plan": "{}", "slackline.dev/expected-duration": "1h"}},
      "spec": {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": {"spec": {
      "containers": [{"name": "train", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}}},
      "status": {"active": 3}})",
                                  "team", default_gpu_catalog());
  ASSERT_TRUE(posted) << posted.error().message;
  ASSERT_TRUE(posted->job);
  EXPECT_EQ(posted->job->key.str(), "team/train");
  EXPECT_TRUE(posted->job->is_gang());
  EXPECT_EQ(posted->job->pod_requests.gpu_count("nvidia.com/gpu"), 4);
  EXPECT_EQ(posted->job->intent->expected_duration_s, 3600);
  EXPECT_FALSE(posted->job->owner);
  EXPECT_FALSE(posted->job->plan);
  EXPECT_EQ(posted->job->active, 0);
  EXPECT_EQ(posted->pod.key.str(), "team/train-0");
  EXPECT_FALSE(read_posted("{kind: Pod}", "team", default_gpu_catalog())->job);
}

TEST(Manifest, WhatIsNoPodIsRefusedByItsKind) {
  for (const char* manifest : {"kind: Service", "kind: [1, 2]", "[]", "kind: 3"}) {
    const auto pod = read(manifest);
    ASSERT_FALSE(pod) << manifest;
    EXPECT_THAT(pod.error().message, HasSubstr("expected a Pod or a Job"));
  }
}

TEST(Manifest, AJobOfAnotherGroupIsNoJob) {
  constexpr const char* kVolcano = R"({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
      "metadata": {"name": "v"}, "spec": {"tasks": [{"replicas": 3, "template": {"spec": {
      "containers": [{"resources": {"limits": {"nvidia.com/gpu": 2}}}]}}}]}})";
  const auto pod = read(kVolcano);
  ASSERT_FALSE(pod);
  EXPECT_THAT(pod.error().message,
              HasSubstr("a \"Job\" of batch.volcano.sh/v1alpha1; expected a Pod or a Job"));
  const auto split = split_manifest(kVolcano);
  ASSERT_FALSE(split);
  EXPECT_THAT(split.error().message, HasSubstr("a \"Job\" of batch.volcano.sh/v1alpha1"));
}

TEST(Manifest, AnotherNamespaceIsRefused) {
  const auto pod = read("{kind: Pod, metadata: {namespace: other}}");
  ASSERT_FALSE(pod);
  EXPECT_THAT(pod.error().message, HasSubstr("namespace other"));
}

TEST(Manifest, NeitherAnOwnerNorAPromiseCanBeClaimed) {
  const auto pod = read(
      R"({"kind": "Pod", "metadata": {"ownerReferences": [{"kind": "Job", "name": "other", "uid": "u-1",
      "controller": true}], "annotations": {"slackline.dev/device-ids": "0"}},
      "spec": {"nodeName": "", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_TRUE(pod->owner == std::nullopt);
  EXPECT_TRUE(pod->device_slots.empty());
}

TEST(Manifest, WhatHasAPodTemplateStandsForOneOfItsPods) {
  const auto manifest = split_manifest(R"(
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}
---
kind: CronJob
metadata: {name: nightly, namespace: team}
spec:
  jobTemplate:
    metadata: {annotations: {slackline.dev/deadline-after: 4h}}
    spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
)");
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->objects.size(), 2U);
  EXPECT_EQ(manifest->objects[0].of, "Deployment web");
  const auto pod = read_posted(manifest->objects[0].json, "team", default_gpu_catalog());
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->pod.key.str(), "team/web-0");
  EXPECT_EQ(pod->pod.requests.gpu_count("nvidia.com/gpu"), 2);
  EXPECT_EQ(manifest->objects[1].of, "CronJob nightly");
  const auto job = read_posted(manifest->objects[1].json, "team", default_gpu_catalog());
  ASSERT_TRUE(job && job->job) << job.error().message;
  EXPECT_EQ(job->job->key.str(), "team/nightly");
}

TEST(Manifest, KeysOnWhatOnlyMakesOthersAreToldWithTheirPlace) {
  const auto told = [](const std::string& manifest) {
    const auto split = split_manifest(manifest);
    EXPECT_TRUE(split) << split.error().message;
    return split.value_or(Manifest()).misplaced;
  };
  const std::string own =
      "metadata: {name: x, labels: {slackline.dev/queue: q}, annotations: {other/key: a, "
      "slackline.dev/deadline-after: 2h}}";
  const std::string keys = "slackline.dev/deadline-after, slackline.dev/queue";
  const std::string pod = "spec: {containers: [{name: c}]}";
  EXPECT_THAT(
      told("{kind: CronJob, " + own + ", spec: {jobTemplate: {spec: {template: {" + pod + "}}}}}"),
      ElementsAre("CronJob x: Slackline does not read " + keys +
                  " in its own metadata; write that in spec.jobTemplate.metadata"));
  EXPECT_THAT(
      told("{kind: CronJob, " + own +
           ", spec: {jobTemplate: {metadata: {annotations: {slackline.dev/deadline-after: 3h}}, "
           "spec: {template: {metadata: {labels: {slackline.dev/queue: q}}, " +
           pod + "}}}}}"),
      testing::IsEmpty())
      << "they are in their place, too";
  EXPECT_THAT(told("{kind: Deployment, " + own + ", spec: {template: {" + pod + "}}}"),
              ElementsAre(HasSubstr("read " + keys +
                                    " in its own metadata; write that in "
                                    "spec.template.metadata")));
  EXPECT_THAT(told("{kind: RayJob, " + own +
                   ", spec: {rayClusterSpec: {headGroupSpec: {template: {" + pod + "}}}}}"),
              ElementsAre(HasSubstr("write that in the metadata of its pod templates")));
  EXPECT_THAT(told("{kind: Job, " + own + ", spec: {template: {" + pod + "}}}"),
              testing::IsEmpty());
  EXPECT_THAT(told("{kind: Notebook, " + own + ", spec: {template: {" + pod + "}}}"),
              testing::IsEmpty())
      << "its controller copies them";
}

Job job_of_gang(const std::string& manifest) {
  const auto split = split_manifest(manifest);
  EXPECT_TRUE(split && split->objects.size() == 1);
  const auto posted = read_posted(split->objects.front().json, "team", default_gpu_catalog());
  EXPECT_TRUE(posted && posted->job) << posted.error().message;
  EXPECT_TRUE(posted->job->problems.empty());
  return *posted->job;
}

TEST(Manifest, WhatAControllerStartsAsAGangIsOneJobOfItsPodsWithGpus) {
  const std::string pod =
      "{metadata: {annotations: {slackline.dev/deadline-after: 4h, slackline.dev/placements: "
      "auto}},"
      " spec: {containers: [{name: t, resources: {limits: {nvidia.com/gpu: 4}}}]}}";
  const std::string launcher = "{spec: {containers: [{name: t}]}}";
  const struct {
    std::string manifest;
    std::int64_t pods;
  } kinds[] = {
      {"{kind: PyTorchJob, metadata: {name: g}, spec: {pytorchReplicaSpecs: {Master: {template: " +
           pod + "}, Worker: {replicas: 3, template: " + pod + "}}}}",
       4},
      {"{kind: MPIJob, metadata: {name: g}, spec: {mpiReplicaSpecs: {Launcher: {template: " +
           launcher + "}, Worker: {replicas: 2, template: " + pod + "}}}}",
       2},
      {"{kind: JobSet, metadata: {name: g}, spec: {replicatedJobs: [{name: a, replicas: 2, "
       "template: "
       "{spec: {parallelism: 3, template: " +
           pod + "}}}, {name: b, dependsOn: [{name: a}], template: {spec: {template: " + pod +
           "}}}]}}",
       6},
      {"{kind: RayJob, metadata: {name: g}, spec: {rayClusterSpec: {headGroupSpec: {template: " +
           launcher + "}, workerGroupSpecs: [{replicas: 2, numOfHosts: 2, template: " + pod +
           "}, {replicas: 5, suspend: true, template: " + pod + "}]}}}",
       4},
      {"{kind: LeaderWorkerSet, metadata: {name: g}, spec: {replicas: 2, leaderWorkerTemplate: "
       "{size: 4, "
       "workerTemplate: " +
           pod + "}}}",
       4},
  };
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.manifest);
    const Job job = job_of_gang(kind.manifest);
    EXPECT_EQ(job.key.str(), "team/g");
    EXPECT_EQ(job.parallelism, kind.pods);
    EXPECT_TRUE(job.indexed);
    EXPECT_EQ(job.pod_requests.gpu_count("nvidia.com/gpu"), 4);
    EXPECT_EQ(job.intent->deadline_after_s, 4 * 3600);
    EXPECT_FALSE(job.intent->any_placement);
  }
}

TEST(Manifest, OfAJobSetItIsSaidWhichPodsComeOnceOthersHaveEnded) {
  const auto not_counted = [](const std::string& status) {
    const std::string pod = "{spec: {containers: [{resources: {limits: {nvidia.com/gpu: 4}}}]}}";
    const auto manifest = split_manifest(
        "{kind: JobSet, metadata: {name: g}, spec: {replicatedJobs: [{name: a, template: {spec: "
        "{template: " +
        pod + "}}}, {name: b, replicas: 2, dependsOn: [{name: a, status: " + status +
        "}], template: {spec: {parallelism: 2, template: " + pod + "}}}]}}");
    return manifest ? join(manifest->not_counted, "; ") : manifest.error().message;
  };
  EXPECT_EQ(not_counted("Complete"),
            "JobSet g: 4 pods come once others have ended, and are not counted: b");
  EXPECT_EQ(not_counted("Ready"), "");
}

TEST(Manifest, OfAGangWhosePodsDifferInGpusNothingIsSaidAndItSaysWhy) {
  const auto pod = [](int gpus) {
    return "{spec: {containers: [{resources: {limits: {nvidia.com/gpu: " + std::to_string(gpus) +
           "}}}]}}";
  };
  const auto manifest = split_manifest(
      "{kind: PyTorchJob, metadata: {name: g}, spec: {pytorchReplicaSpecs: {Master: {template: " +
      pod(1) + "}, Worker: {replicas: 3, template: " + pod(8) + "}}}}");
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->objects.front().of, "PyTorchJob g");
  EXPECT_EQ(manifest->objects.front().json, "");
  EXPECT_THAT(manifest->objects.front().why_not, HasSubstr("different numbers of GPUs"));
}

TEST(Manifest, AFileIsSplitIntoItsObjects) {
  const auto manifest = split_manifest(
      "kind: Namespace\nmetadata: {name: a}\n---\nkind: Pod\nmetadata: {namespace: a}\n---\nkind: "
      "Job\n");
  ASSERT_TRUE(manifest);
  ASSERT_EQ(manifest->objects.size(), 2U);
  EXPECT_EQ(manifest->objects.front().ns, "a");
  EXPECT_EQ(manifest->objects.front().of, "");
  EXPECT_THAT(manifest->left_out, ElementsAre("Namespace a"));
  EXPECT_FALSE(split_manifest("kind: Namespace"));
  const auto pod = read("kind: Pod\n---\nkind: Job\n");
  ASSERT_FALSE(pod);
  EXPECT_THAT(pod.error().message, HasSubstr("has 2 objects"));
}

TEST(Manifest, MetadataThatIsNoObjectIsRefused) {
  for (const char* kind : {"Pod", "Job"}) {
    const auto posted = read_posted(format("kind: {}\nmetadata:\n  na\xabme\n", kind), "team",
                                    default_gpu_catalog());
    ASSERT_FALSE(posted);
    EXPECT_THAT(posted.error().message, HasSubstr("metadata is \"na\xEF\xBF\xBDme\"; expected"));
    EXPECT_TRUE(read_posted(format("kind: {}\nmetadata:\n", kind), "team", default_gpu_catalog()));
  }
}

TEST(Manifest, TheAnswerIsReadAsFarAsItIsShown) {
  const auto tried = decode_tried(
      R"({"pod":"team/a","note":"n","problems":["x"],"items":[{"node":"a","gpuType":"A100",)"
      R"("passes":true,"score":8,"feasible":false},{"node":"b","message":"held"},7]})");
  ASSERT_TRUE(tried);
  EXPECT_EQ(tried->pod, "team/a");
  EXPECT_EQ(tried->problems, std::vector<std::string>{"x"});
  ASSERT_EQ(tried->nodes.size(), 2U);
  EXPECT_EQ(tried->nodes[0].score, 8);
  EXPECT_EQ(tried->nodes[0].meets_deadline, "no");
  EXPECT_FALSE(tried->nodes[1].passes);
  EXPECT_EQ(tried->nodes[1].message, "held");
  EXPECT_FALSE(decode_tried("{}"));
}

}  // namespace
}  // namespace slackline::wire
