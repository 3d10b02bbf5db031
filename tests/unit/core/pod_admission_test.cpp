// A template as kube-apiserver's admission makes pods of it.
#include "slackline/core/cluster/pod_admission.h"

#include <gtest/gtest.h>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/pod_ask.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

RuntimeClass sandbox() {
  RuntimeClass runtime{Uid("r"), {"", "sandbox"}};
  runtime.overhead.cpu_milli = 250;
  runtime.overhead.memory_bytes = 1 << 20;
  runtime.node_selector = {{"runtime", "sandbox"}};
  runtime.tolerations = {{"sandbox", true, "", TaintEffect::kNoSchedule}};
  return runtime;
}

PodAdmission with_sandbox() {
  PodAdmission admission;
  admission.runtime_classes["sandbox"] = std::make_shared<const RuntimeClass>(sandbox());
  admission.knows_all_classes = true;
  return admission;
}

JobPtr in_class(const std::string& name, SchedulingConstraints constraints = {}) {
  constraints.runtime_class = name;
  return std::make_shared<const Job>(
      a_job("train").gpus(1).waiting().constrained(std::move(constraints)).build());
}

TEST(PodAdmissionTest, ARuntimeClassGivesOverheadNodesAndTolerations) {
  const JobPtr written = in_class("sandbox");
  const JobPtr job = with_admission(written, with_sandbox());
  EXPECT_EQ(job->pod_requests.cpu_milli, written->pod_requests.cpu_milli + 250);
  EXPECT_EQ(job->pod_requests.memory_bytes, written->pod_requests.memory_bytes + (1 << 20));
  EXPECT_EQ(job->pod_requests.gpu_total(), 1);
  EXPECT_EQ(job->constraints->node_selector, (Labels{{"runtime", "sandbox"}}));
  ASSERT_EQ(job->constraints->tolerations.size(), 1U);
  EXPECT_EQ(job->constraints->refused, "");

  SchedulingConstraints stated;
  stated.has_overhead = true;
  const JobPtr counted = in_class("sandbox", stated);
  EXPECT_EQ(with_admission(counted, with_sandbox())->pod_requests, counted->pod_requests)
      << "the template states the overhead itself";

  Pod pod = a_pod("alone").gpus(1).build();
  pod.constraints = written->constraints;
  EXPECT_EQ(with_admission(std::make_shared<const Pod>(pod), with_sandbox())->requests.cpu_milli,
            pod.requests.cpu_milli + 250);
}

TEST(PodAdmissionTest, PodsOfAMissingRuntimeClassAreRefusedWhereAllAreKnown) {
  PodAdmission admission = with_sandbox();
  EXPECT_EQ(with_admission(in_class("other"), admission)->constraints->refused,
            "their RuntimeClass other does not exist");
  admission.knows_all_classes = false;
  const JobPtr written = in_class("other");
  EXPECT_EQ(with_admission(written, admission), written);
}

TEST(PodAdmissionTest, ANodeSelectorOfTheNamespaceIsAddedAndMayNotContradict) {
  PodAdmission admission;
  admission.namespaces["default"].node_selector = {{"pool", "ml"}, {"zone", "a"}};
  const JobPtr bare = std::make_shared<const Job>(a_job("train").gpus(1).build());
  EXPECT_EQ(with_admission(bare, admission)->constraints->node_selector,
            (Labels{{"pool", "ml"}, {"zone", "a"}}));
  SchedulingConstraints own;
  own.node_selector = {{"disk", "ssd"}, {"zone", "a"}};
  const auto chosen = std::make_shared<const Job>(a_job("train").gpus(1).constrained(own).build());
  EXPECT_EQ(with_admission(chosen, admission)->constraints->node_selector,
            (Labels{{"disk", "ssd"}, {"pool", "ml"}, {"zone", "a"}}));
  own.node_selector = {{"zone", "b"}};
  const auto wrong = std::make_shared<const Job>(a_job("train").gpus(1).constrained(own).build());
  EXPECT_EQ(with_admission(wrong, admission)->constraints->refused,
            "they select nodes with zone=b, and the annotation of their namespace those with "
            "zone=a");
  const auto elsewhere = std::make_shared<const Job>(a_job("other/train").gpus(1).build());
  EXPECT_EQ(with_admission(elsewhere, admission), elsewhere);
}

TEST(PodAdmissionTest, TolerationsOfTheNamespaceAreAddedAndOthersRefused) {
  PodAdmission admission;
  NamespaceAdmission& ns = admission.namespaces["default"];
  ns.tolerations = {{"pool", true, "", TaintEffect::kNoSchedule}};
  const JobPtr bare = std::make_shared<const Job>(a_job("train").gpus(1).build());
  EXPECT_EQ(with_admission(bare, admission)->constraints->tolerations, ns.tolerations);

  const auto refused = [&](const Toleration& own) {
    SchedulingConstraints constraints;
    constraints.tolerations = {own};
    const auto job =
        std::make_shared<const Job>(a_job("train").gpus(1).constrained(constraints).build());
    return with_admission(job, admission)->constraints->refused;
  };
  const Toleration spot{"spot", false, "yes", TaintEffect::kNoSchedule};
  EXPECT_EQ(refused(spot), "");
  ns.allowed_tolerations = {{"pool", true, "", std::nullopt}};
  EXPECT_EQ(refused(spot),
            "they tolerate spot, which tolerationsWhitelist of their namespace does not allow");
  EXPECT_EQ(refused({"", true, "", std::nullopt}),
            "they tolerate all taints, which tolerationsWhitelist of their namespace does not "
            "allow");
  ns.allowed_tolerations.push_back({"spot", false, "yes", TaintEffect::kNoSchedule});
  EXPECT_EQ(refused(spot), "");
  EXPECT_NE(refused({"spot", true, "", TaintEffect::kNoSchedule}), "") << "wider than allowed";
  EXPECT_NE(refused({"spot", false, "yes", TaintEffect::kNoExecute}), "");
}

ClusterSnapshot under(const PodAdmission& admission,
                      const std::vector<ResourceQuota>& quotas = {}) {
  ClusterSnapshot snapshot;
  snapshot.admission = std::make_shared<const PodAdmission>(admission);
  for (const ResourceQuota& quota : quotas)
    snapshot.quotas.push_back(std::make_shared<const ResourceQuota>(quota));
  return snapshot;
}

ResourceQuota demanding(const std::vector<std::string>& names) {
  ResourceQuota quota;
  quota.key = {"default", "q"};
  quota.must_state = names;
  return quota;
}

TEST(PodAdmissionTest, WhatIsNotCountedIsNamed) {
  PodAdmission admission = with_sandbox();
  SchedulingConstraints constraints;
  constraints.runtime_class = "other";
  EXPECT_TRUE(admission_doubts(under(admission), "default", &constraints, nullptr).empty())
      << "such pods are refused";
  admission.knows_all_classes = false;
  admission.namespaces["default"].pod_security = "restricted";
  const auto doubts = admission_doubts(under(admission), "default", &constraints, nullptr);
  ASSERT_EQ(doubts.size(), 2U);
  EXPECT_TRUE(doubts[0].starts_with("the RuntimeClass other is not known here"));
  EXPECT_TRUE(doubts[1].starts_with("the namespace enforces the Pod Security level restricted"));
  EXPECT_TRUE(admission_doubts(under(admission), "elsewhere", nullptr, nullptr).empty());
  EXPECT_FALSE(adds_or_refuses(admission.namespaces["default"]));
}

// A template of one container with these amounts, and a sidecar that states nothing.
JobPtr asking(const Resources& requests, const Resources& limits) {
  PodAsk ask;
  ask.containers = {{ContainerAsk::Kind::kMain, requests, limits},
                    {ContainerAsk::Kind::kSidecar, {}, {}}};
  Job job = a_job("train").gpus(1).build();
  job.pod_requests = requests_of(ask);
  job.ask = std::make_shared<const PodAsk>(std::move(ask));
  return std::make_shared<const Job>(job);
}

Resources amounts(std::int64_t cpu_milli, std::int64_t memory_bytes, std::int64_t gpus) {
  Resources of{cpu_milli, memory_bytes, 0, {}};
  if (gpus > 0) of.set_gpus("nvidia.com/gpu", gpus);
  return of;
}

PodAdmission limited(LimitRange::Item item) {
  PodAdmission admission;
  admission.limit_ranges["default"] = {
      std::make_shared<const LimitRange>(LimitRange{Uid("l"), {"default", "small"}, {item}})};
  return admission;
}

TEST(PodAdmissionTest, ALimitRangeFillsInWhatContainersLeaveOut) {
  LimitRange::Item item;
  item.default_limits = {{"cpu", 4000}, {"memory", 8}};
  item.default_requests = {{"cpu", 500}, {"memory", 8}};
  const JobPtr bare = asking(amounts(0, 0, 1), amounts(0, 0, 1));
  const JobPtr job = with_admission(bare, limited(item));
  EXPECT_EQ(job->pod_requests.cpu_milli, 1000) << "the sidecar's too";
  EXPECT_EQ(job->pod_requests.memory_bytes, 16);
  EXPECT_EQ(job->pod_requests.gpu_total(), 1);
  EXPECT_EQ(job->constraints->refused, "");

  const JobPtr stated = asking(amounts(2000, 3, 1), amounts(2000, 3, 1));
  EXPECT_EQ(with_admission(stated, limited(item))->pod_requests.cpu_milli, 2500);
  const JobPtr above = asking(amounts(5000, 3, 1), amounts(0, 3, 1));
  EXPECT_EQ(with_admission(above, limited(item))->constraints->refused,
            "a container asks for 5 cpu; the LimitRange small gives it a limit of 4");

  item = {};
  item.default_limits = item.default_requests = {{"nvidia.com/gpu", 1}};
  EXPECT_EQ(with_admission(bare, limited(item))->pod_requests.gpu_total(), 2)
      << "the sidecar gets a GPU";
  const auto elsewhere = std::make_shared<const Job>(a_job("other/train").gpus(1).build());
  EXPECT_EQ(with_admission(elsewhere, limited(item)), elsewhere);
}

TEST(PodAdmissionTest, ALimitRangeRefusesPods) {
  constexpr std::int64_t kGi = std::int64_t{1} << 30;
  const auto refused = [](const JobPtr& job, const LimitRange::Item& item) {
    return with_admission(job, limited(item))->constraints->refused;
  };
  const JobPtr job = asking(amounts(1500, 2 * kGi, 4), amounts(0, 2 * kGi, 4));
  LimitRange::Item most;
  most.most = {{"nvidia.com/gpu", 2}};
  EXPECT_EQ(refused(job, most),
            "a container asks for 4 nvidia.com/gpu; the LimitRange small allows at most 2");
  most.of_pod = true;
  most.most = {{"nvidia.com/gpu", 4}, {"memory", 2 * kGi}};
  EXPECT_EQ(refused(job, most), "");
  most.most = {{"cpu", 8000}};
  EXPECT_EQ(refused(job, most),
            "the pod has no limit of cpu; the LimitRange small wants one of at most 8");
  LimitRange::Item least;
  least.of_pod = true;
  least.least = {{"memory", 3 * kGi}};
  EXPECT_EQ(refused(job, least),
            "the pod asks for 2Gi memory; the LimitRange small wants at least 3Gi");
  least.of_pod = false;
  least.least = {{"cpu", 100}};
  EXPECT_EQ(refused(job, least),
            "a container asks for no cpu; the LimitRange small wants at least 100m");
}

TEST(PodAdmissionTest, ALimitRangeRefusesLimitsFarAboveRequests) {
  LimitRange::Item item;
  item.of_pod = true;
  const auto refused = [&](const JobPtr& job) {
    return with_admission(job, limited(item))->constraints->refused;
  };
  const JobPtr job = asking(amounts(2000, 0, 1), amounts(3000, 0, 1));
  item.ratios = {{"cpu", 1500}};
  EXPECT_EQ(refused(job), "");
  item.ratios = {{"cpu", 1250}};
  EXPECT_EQ(refused(job),
            "the pod asks for 2 cpu with a limit of 3; the LimitRange small allows a limit of "
            "1.25 times the request at most");
  item.ratios = {{"memory", 2000}};
  EXPECT_EQ(refused(job),
            "the pod has no limit of memory; the LimitRange small allows a limit of 2 times the "
            "request at most");
}

TEST(PodAdmissionTest, WhatAQuotaDemandsAndAContainerLeavesOutIsNamed) {
  const JobPtr bare = asking(amounts(0, 0, 1), amounts(0, 0, 1));
  PodAdmission admission;
  const std::vector<ResourceQuota> quotas{demanding({"limits.memory", "requests.cpu"})};
  const auto lacks = [&](const std::string& ns, const PodAsk* ask) {
    return unstated(under(admission, quotas), ns, ask);
  };
  EXPECT_TRUE(lacks("default", bare->ask.get())
                  .starts_with("a container states no limits.memory, which the ResourceQuota q "
                               "demands: the API server refuses such pods"));
  EXPECT_EQ(admission_doubts(under(admission, quotas), "default", nullptr, bare->ask.get()).size(),
            1U);
  EXPECT_EQ(with_admission(bare, admission), bare) << "a webhook of others may add it";
  LimitRange::Item item;
  item.default_requests = item.default_limits = {{"memory", 8}};
  admission.limit_ranges = limited(item).limit_ranges;
  EXPECT_NE(lacks("default", bare->ask.get()).find("no requests.cpu, which"), std::string::npos);
  item.default_requests.push_back({"cpu", 500});
  admission.limit_ranges = limited(item).limit_ranges;
  EXPECT_EQ(lacks("default", bare->ask.get()), "");
  EXPECT_EQ(lacks("other", bare->ask.get()), "");
  EXPECT_EQ(lacks("default", nullptr), "");
}

TEST(PodAdmissionTest, WhereAQuotaDemandsNothingNothingIsNamed) {
  const JobPtr bare = asking(amounts(0, 0, 1), amounts(0, 0, 1));
  ResourceQuota quota = demanding({"cpu"});
  const auto lacks = [&](const PodAsk& ask) {
    return unstated(under({}, {quota}), "default", &ask);
  };
  EXPECT_NE(lacks(*bare->ask), "");
  quota.needs_cpu_or_memory = true;
  EXPECT_EQ(lacks(*bare->ask), "") << "best effort";
  const JobPtr burstable = asking(amounts(0, 8, 1), amounts(0, 0, 1));
  EXPECT_NE(lacks(*burstable->ask), "");
  PodAsk zero = *burstable->ask;
  for (ContainerAsk& container : zero.containers)
    container.zero = true;
  EXPECT_EQ(lacks(zero), "") << "0 may be stated";
  PodAsk whole = *burstable->ask;
  whole.level_requests.cpu_milli = 1000;
  EXPECT_EQ(lacks(whole), "") << "the pod states it as a whole";
  quota.other_scopes = true;
  EXPECT_EQ(lacks(*burstable->ask), "") << "it may not be about them";
}

TEST(PodAdmissionTest, ATaskWhosePodsWouldBeRefusedWaitsAndSaysWhy) {
  const JobPtr job = with_admission(in_class("other"), with_sandbox());
  const ClusterSnapshot snapshot = a_cluster().with(a_node("n1")).add(*job).build();
  const GpuCatalog catalog = default_gpu_catalog();
  QueueOptions options;
  options.catalog = &catalog;
  options.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
  TaskMenus menus;
  const Queue queue = make_queue(snapshot, options, menus);
  ASSERT_EQ(queue.size(), 1U);
  ASSERT_TRUE(queue.task(0).hindrance);
  EXPECT_EQ(*queue.task(0).hindrance,
            (Hindrance{reason::kPodsRejected, "their RuntimeClass other does not exist"}));
}

}  // namespace
}  // namespace slackline::core
