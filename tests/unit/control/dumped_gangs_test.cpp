// What a dump of a cluster says of the gangs that controllers made in it.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/watch/file_source.h"
#include "control/query/queries.h"
#include "control/query/queue_query.h"
#include "control/query/queue_reader.h"
#include "control/query/written_book.h"
#include "obs/metrics.h"
#include "slackline/base/text.h"
#include "support/fake_clock.h"
#include "support/planning_fixture.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr const char* kNodes = R"(
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: gpu-1, uid: n1, labels: {nvidia.com/gpu.product: A100}}
  status: {allocatable: {cpu: '64', memory: 256Gi, pods: '110', nvidia.com/gpu: '8'}}
- apiVersion: v1
  kind: Node
  metadata: {name: gpu-2, uid: n2, labels: {nvidia.com/gpu.product: A100}}
  status: {allocatable: {cpu: '64', memory: 256Gi, pods: '110', nvidia.com/gpu: '8'}}
)";

std::string owned_by(const std::string& api, const std::string& kind, const std::string& name) {
  return "ownerReferences: [{apiVersion: " + api + ", kind: " + kind + ", name: " + name +
         ", uid: " + kind + "-" + name + ", controller: true}]";
}

std::string spec(int gpus) {
  const std::string limits = gpus > 0 ? "nvidia.com/gpu: '" + std::to_string(gpus) + "'" : "";
  return "spec: {containers: [{name: c, resources: {limits: {" + limits + "}}}]}";
}

std::string metadata(const std::string& kind, const std::string& name, const std::string& owner,
                     const std::string& labels) {
  return "  metadata: {name: " + name + ", namespace: team, uid: " + kind + "-" + name +
         ", creationTimestamp: '2026-11-01T08:00:00Z', labels: {" + labels + "}, " + owner + "}\n";
}

std::string pod(const std::string& name, int gpus, const std::string& owner,
                const std::string& labels = "") {
  return "- apiVersion: v1\n  kind: Pod\n" + metadata("Pod", name, owner, labels) + "  " +
         spec(gpus) + "\n  status: {phase: Pending}\n";
}

std::string job(const std::string& name, int pods, int gpus, const std::string& owner,
                const std::string& labels) {
  const std::string count = std::to_string(pods);
  return "- apiVersion: batch/v1\n  kind: Job\n" + metadata("Job", name, owner, labels) +
         "  spec: {completionMode: Indexed, parallelism: " + count + ", completions: " + count +
         ", template: {" + spec(gpus) + "}}\n";
}

class DumpedGangs : public test::PlanningFixture {
 protected:
  // "kind name shape" of all tasks, and "kind name shape reason" of the queue.
  struct Answers {
    std::vector<std::string> tasks;
    std::vector<std::string> queue;
  };

  Answers ask(const std::string& objects) {
    const std::filesystem::path path = std::filesystem::path(folder_.path()) / "dump.yaml";
    std::ofstream(path, std::ios::binary) << kNodes << objects;
    const auto source = cluster::make_file_source({.path = path.string()}, default_gpu_catalog(),
                                                  metrics_, nullptr);
    const Status started = source->start();
    EXPECT_TRUE(started) << started.error().message;
    Answers answers;
    for (const ListedTask& row :
         Queries(decisions_, known_, *source, nullptr, clock_, "test").tasks(""))
      answers.tasks.push_back(format("{} {} {}", row.task.kind_name(), row.task.key.name,
                                     row.task.listed_shape().str()));
    options_.stock_waits = core::StockScope::kAll;
    QueueQuery query(options_, known_, *source, planner_, books_, clock_);
    const auto view = query.ask("");
    for (const QueueRow& row : view->rows)
      answers.queue.push_back(format("{} {} {} {}", to_string(row.kind), row.key.name,
                                     row.shape ? row.shape->str() : "", row.reason));
    return answers;
  }

  const test::TemporaryFolder folder_;
  obs::MetricsRegistry metrics_;
  test::FakeClock clock_;
  DecisionOptions decisions_;
  Published<PlannerView> planner_;
  Published<WrittenBook> books_;
};

TEST_F(DumpedGangs, AnMPIJobWithALauncherIsOneTask) {
  const std::string owner = owned_by("kubeflow.org/v2beta1", "MPIJob", "hpl");
  const Answers answers =
      ask(job("hpl-launcher", 1, 0, owner, "") +
          pod("hpl-launcher-x", 0, owned_by("batch/v1", "Job", "hpl-launcher")) +
          pod("hpl-worker-0", 4, owner) + pod("hpl-worker-1", 4, owner));
  EXPECT_THAT(answers.tasks, ElementsAre("Gang hpl 2x4"));
  EXPECT_THAT(answers.queue, ElementsAre("Gang hpl 2x4 StartsNow"));
}

TEST_F(DumpedGangs, APyTorchJobAndARayClusterAreOneTaskEach) {
  const std::string torch = owned_by("kubeflow.org/v1", "PyTorchJob", "t5");
  const std::string ray = owned_by("ray.io/v1", "RayCluster", "tune");
  const Answers answers = ask(pod("t5-master-0", 4, torch) + pod("t5-worker-0", 4, torch) +
                              pod("tune-head-a", 0, ray) + pod("tune-worker-b", 2, ray) +
                              pod("tune-worker-c", 2, ray) + pod("tune-worker-d", 2, ray));
  EXPECT_THAT(answers.tasks, ElementsAre("Gang t5 2x4", "Gang tune 3x2"));
  EXPECT_THAT(answers.queue,
              UnorderedElementsAre("Gang t5 2x4 StartsNow", "Gang tune 3x2 StartsNow"));
}

TEST_F(DumpedGangs, AJobSetOfTwoReplicatedJobsWaitsUntilItIsWhole) {
  const std::string set = owned_by("jobset.x-k8s.io/v1alpha2", "JobSet", "llm");
  const std::string labels =
      "jobset.sigs.k8s.io/jobset-name: llm, jobset.sigs.k8s.io/jobset-uid: JobSet-llm, "
      "jobset.sigs.k8s.io/restart-attempt: '0'";
  const auto pod_of = [&](const std::string& name, const std::string& job, int gpus) {
    return pod(name, gpus, owned_by("batch/v1", "Job", job), labels);
  };
  const std::string part = job("llm-driver-0", 1, 0, set, labels) +
                           job("llm-workers-0", 2, 4, set, labels) +
                           pod_of("llm-driver-0-0-x", "llm-driver-0", 0) +
                           pod_of("llm-workers-0-0-x", "llm-workers-0", 4);
  EXPECT_THAT(ask(part).queue, ElementsAre("Gang llm 2x4 GangIncomplete"));
  const Answers whole = ask(part + pod_of("llm-workers-0-1-x", "llm-workers-0", 4));
  EXPECT_THAT(whole.tasks, ElementsAre("Gang llm 2x4"));
  EXPECT_THAT(whole.queue, ElementsAre("Gang llm 2x4 StartsNow"));
}

}  // namespace
}  // namespace slackline::control
