#include "config/lint.h"

#include <gmock/gmock.h>

#include "config/files.h"
#include "config/load.h"
#include "slackline/base/text.h"
#include "support/source_path.h"

namespace slackline::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A GPU scheduler's configuration without findings; tests spoil it line by line.
const std::string kGood = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceName: gpu-scheduler
profiles:
  - schedulerName: gpu-scheduler
    percentageOfNodesToScore: 100
extenders:
  - urlPrefix: https://127.0.0.1:8181/v1/extender
    filterVerb: filter
    prioritizeVerb: prioritize
    preemptVerb: preempt
    bindVerb: bind
    weight: 12
    enableHTTPS: true
    tlsConfig:
      caFile: /etc/slackline/tls/ca.crt
    httpTimeout: 2s
    nodeCacheCapable: true
    ignorable: true
    managedResources:
      - name: nvidia.com/gpu
        ignoredByScheduler: false
)";

std::string spoiled(const std::string& line, const std::string& by, std::string text = kGood) {
  const std::size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at, line.size(), by);
}

std::vector<std::string> findings(const std::string& text,
                                  const Configuration& configuration = {}) {
  std::vector<std::string> lines;
  for (const Finding& finding : lint_scheduler_configuration(text, configuration)) {
    EXPECT_FALSE(finding.remedy.empty()) << finding.problem;
    lines.push_back(to_string(finding, "f"));
  }
  return lines;
}

// What the lint says of the good configuration with one line replaced.
std::vector<std::string> after(const std::string& line, const std::string& by) {
  return findings(spoiled(line, by));
}

Configuration with_fractional_resource() {
  Configuration configuration;
  configuration.gpus.resources.push_back({"gpu.example.com/mem-mib", GpuSharing::kVgpu, true});
  return configuration;
}

TEST(LintTest, AGoodConfigurationHasNoFindings) {
  EXPECT_THAT(findings(kGood), ElementsAre());
}

TEST(LintTest, TheShippedSchedulerConfigurationsHaveNoFindings) {
  for (const std::string name :
       {"gpu-scheduler.yaml", "pod/configuration.yaml", "existing/scheduler.yaml"}) {
    const Result<std::string> text =
        read_text_file(test::source_path("deploy/kube-scheduler") / name);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_THAT(findings(*text), ElementsAre()) << name;
  }
}

TEST(LintTest, KubeSchedulerMayBindWhereSlacklineWouldAddNothing) {
  const std::string unbound = spoiled("    bindVerb: bind\n", "");
  EXPECT_THAT(findings(unbound), ElementsAre());
  Configuration active;
  active.mode = Mode::kActive;
  const auto is_missing = HasSubstr("warning: extenders[0].bindVerb: is missing");
  EXPECT_THAT(findings(unbound, active), ElementsAre(is_missing));
  EXPECT_THAT(findings(unbound, with_fractional_resource()), ElementsAre(is_missing));
}

TEST(LintTest, TheStanzaThatWePrintHasNoFindings) {
  const std::string head = kGood.substr(0, kGood.find("extenders:"));
  Configuration over_tls;
  over_tls.listeners.extender = {":8443", TlsSettings{"c", "k", "ca", {"s"}}};
  Configuration own_certificate;
  own_certificate.listeners.extender.address = ":8181";
  for (const Configuration& c :
       {Configuration{}, over_tls, own_certificate, with_fractional_resource()}) {
    const std::string stanza = scheduler_stanza(c);
    EXPECT_THAT(findings(head + stanza, c), ElementsAre()) << stanza;
  }
}

TEST(LintTest, TheStanzaFollowsTheConfiguration) {
  EXPECT_THAT(scheduler_stanza({}),
              AllOf(HasSubstr("urlPrefix: http://127.0.0.1:8181/v1/extender\n"),
                    HasSubstr("ignorable: true"), HasSubstr("- name: nvidia.com/gpu\n"),
                    HasSubstr("# nvidia.com/mig-*: no patterns here")));
  EXPECT_THAT(
      scheduler_stanza(with_fractional_resource()),
      AllOf(HasSubstr("ignorable: false"),
            HasSubstr("- name: gpu.example.com/mem-mib\n        ignoredByScheduler: true")));
}

TEST(LintTest, OffLoopbackKubeSchedulerShowsACertificate) {
  const auto without = [](const Configuration& configuration, const std::string& host) {
    return findings(spoiled("127.0.0.1", host), configuration);
  };
  const auto demanded = ElementsAre(HasSubstr(
      "f:17: error: extenders[0].tlsConfig: has no client certificate: Slackline refuses"));
  EXPECT_THAT(without({}, "slackline.slackline-system.svc"), demanded);
  EXPECT_THAT(without({}, "127.0.0.1"), ElementsAre());
  Configuration mutual;
  mutual.listeners.extender.tls = TlsSettings{"c", "k", "ca", {"s"}};
  EXPECT_THAT(without(mutual, "127.0.0.1"), demanded);
  const std::string both = "caFile: /ca\n      certFile: /c\n      keyFile: /k";
  EXPECT_THAT(findings(spoiled("caFile: /etc/slackline/tls/ca.crt", both), mutual), ElementsAre());
  EXPECT_THAT(after("caFile: /etc/slackline/tls/ca.crt", "caFile: /ca\n      certFile: /c"),
              ElementsAre(HasSubstr("certFile: is given without its counterpart")));
}

TEST(LintTest, FilesThatAreNotHereAreNamed) {
  const Findings absent = check_scheduler_files(spoiled(
      "caFile: /etc/slackline/tls/ca.crt",
      "caFile: /dev/null\n      certFile: /nowhere/tls.crt\n      keyFile: /nowhere/tls.key"));
  ASSERT_EQ(absent.size(), 2U);
  EXPECT_EQ(
      to_string(absent[0], "f"),
      "f:19: warning: extenders[0].tlsConfig.certFile: /nowhere/tls.crt is not on this machine: "
      "kube-scheduler does not start without it; check where it runs, and create or mount the "
      "file before this is used");
  EXPECT_THAT(check_scheduler_files("a: [\n"), ElementsAre());
}

TEST(LintTest, AnotherKindOrVersionIsRefused) {
  EXPECT_THAT(findings("kind: Pod\n"), ElementsAre(HasSubstr("is not KubeSchedulerConfiguration")));
  EXPECT_THAT(
      after("k8s.io/v1\n", "k8s.io/v1beta3\n"),
      ElementsAre(HasSubstr("f:1: error: apiVersion: is kubescheduler.config.k8s.io/v1beta3")));
  EXPECT_THAT(findings("a: [\n"), ElementsAre(HasSubstr("correct the YAML")));
}

TEST(LintTest, WithoutAnExtenderNothingIsCalled) {
  EXPECT_THAT(findings(kGood.substr(0, kGood.find("extenders:"))),
              ElementsAre(HasSubstr("extenders: is missing")));
}

TEST(LintTest, NodeCacheCapableIsDemanded) {
  EXPECT_THAT(after("nodeCacheCapable: true", "nodeCacheCapable: false"),
              ElementsAre(HasSubstr("f:20: error: extenders[0].nodeCacheCapable: is not true")));
  EXPECT_THAT(after("    nodeCacheCapable: true\n", ""),
              ElementsAre(HasSubstr("f:10: error: extenders[0].nodeCacheCapable: is not true")));
}

TEST(LintTest, IgnorableWithBindOnAResourceThatTheSchedulerIgnoresIsAnError) {
  const std::string fractional = kGood +
                                 "      - name: gpu.example.com/mem-mib\n"
                                 "        ignoredByScheduler: true\n";
  EXPECT_THAT(
      findings(fractional, with_fractional_resource()),
      ElementsAre(HasSubstr("f:21: error: extenders[0].ignorable: is true, with a bindVerb and")));
  EXPECT_THAT(findings(spoiled("ignorable: true", "ignorable: false", fractional),
                       with_fractional_resource()),
              ElementsAre());
}

TEST(LintTest, NotIgnorableForWholeGpusIsAWarning) {
  EXPECT_THAT(after("ignorable: true", "ignorable: false"),
              ElementsAre(HasSubstr("warning: extenders[0].ignorable: is not true: while")));
}

TEST(LintTest, TlsWithoutACaIsAnError) {
  EXPECT_THAT(after("    tlsConfig:\n      caFile: /etc/slackline/tls/ca.crt\n", ""),
              ElementsAre(HasSubstr("f:16: error: extenders[0].enableHTTPS: TLS without a CA")));
  EXPECT_THAT(after("caFile: /etc/slackline/tls/ca.crt", "serverName: x"),
              ElementsAre(HasSubstr("f:17: error: extenders[0].tlsConfig: TLS without a CA")));
  EXPECT_THAT(after("caFile: /etc/slackline/tls/ca.crt", "insecure: true"),
              ElementsAre(HasSubstr("TLS without a CA"), HasSubstr("insecure: switches off")));
}

TEST(LintTest, SchemeAndTlsMustAgree) {
  EXPECT_THAT(after("https://", "http://"), ElementsAre(HasSubstr("plain HTTP although")));
  EXPECT_THAT(after("enableHTTPS: true", "enableHTTPS: false"),
              ElementsAre(HasSubstr("warning: extenders[0].enableHTTPS: is not true although")));
  const std::string plain = spoiled("enableHTTPS: true", "enableHTTPS: false",
                                    spoiled("https://127.0.0.1", "http://10.0.0.1"));
  EXPECT_THAT(findings(plain), ElementsAre(HasSubstr("plain HTTP over the network")));
}

TEST(LintTest, TheTimeoutMustBeThereAndFit) {
  EXPECT_THAT(after("    httpTimeout: 2s\n", ""),
              ElementsAre(HasSubstr("warning: extenders[0].httpTimeout: is missing")));
  EXPECT_THAT(after("httpTimeout: 2s", "httpTimeout: 100ms"),
              ElementsAre(HasSubstr("a bind waits for the API")));
  EXPECT_THAT(after("httpTimeout: 2s", "httpTimeout: 30s"),
              ElementsAre(HasSubstr("one scheduling cycle waits")));
  EXPECT_THAT(after("httpTimeout: 2s", "httpTimeout: 0s"),
              ElementsAre(HasSubstr("which means 5 s")));
  EXPECT_THAT(after("httpTimeout: 2s", "httpTimeout: soon"),
              ElementsAre(HasSubstr("not a duration")));
  EXPECT_THAT(after("httpTimeout: 2s", "httpTimeout: 1d"),
              ElementsAre(HasSubstr("not a duration")));
  EXPECT_THAT(after("httpTimeout: 2s", "httpTimeout: 3s"),
              ElementsAre(HasSubstr("is 3s, Slackline's configuration says 2s")));
}

TEST(LintTest, TheStanzaSaysTheConfiguredTimeout) {
  Configuration configuration;
  EXPECT_THAT(scheduler_stanza(configuration), HasSubstr("    httpTimeout: 2s\n"));
  configuration.extender.http_timeout_s = 1.5;
  EXPECT_THAT(scheduler_stanza(configuration), HasSubstr("    httpTimeout: 1.5s\n"));
}

TEST(LintTest, WholeGpusMustBeCountedByTheScheduler) {
  // ignorable and bind make it worse, so both are reported.
  EXPECT_THAT(
      after("ignoredByScheduler: false", "ignoredByScheduler: true"),
      ElementsAre(HasSubstr("when the extender fails, pods are bound without"),
                  HasSubstr("f:23: error: extenders[0].managedResources[0]: ignoredByScheduler is "
                            "true for whole GPUs (nvidia.com/gpu)")));
}

TEST(LintTest, ManagedResourcesMustFitTheConfiguration) {
  EXPECT_THAT(
      after("- name: nvidia.com/gpu\n", "- name: example.com/npu\n"),
      ElementsAre(HasSubstr("names none of the configured GPU resources"),
                  HasSubstr("example.com/npu is not a GPU resource in Slackline's configuration")));
  EXPECT_THAT(
      findings(kGood + "      - name: gpu.example.com/mem-mib\n", with_fractional_resource()),
      ElementsAre(HasSubstr("is counted twice")));
  EXPECT_THAT(findings(kGood.substr(0, kGood.find("    managedResources"))),
              ElementsAre(HasSubstr("every pod of the cluster waits")));
  EXPECT_THAT(findings(kGood + "      - name: nvidia.com/mig-*\n"),
              ElementsAre(HasSubstr("is a pattern")));
  EXPECT_THAT(
      findings(kGood + "      - name: cpu\n"),
      ElementsAre(HasSubstr("cpu is not a GPU resource"), HasSubstr("no extended resource")));
}

TEST(LintTest, MissingAndMisspeltVerbsAreTold) {
  EXPECT_THAT(after("    preemptVerb: preempt\n", ""),
              ElementsAre(HasSubstr("warning: extenders[0].preemptVerb: is missing")));
  EXPECT_THAT(after("filterVerb: filter", "filterVerb: predicates"),
              ElementsAre(HasSubstr("set filterVerb: filter")));
  EXPECT_THAT(after("/v1/extender", "/extender"),
              ElementsAre(HasSubstr("does not end in /v1/extender")));
  EXPECT_THAT(after("nodeCacheCapable", "nodeCachecapable"),
              ElementsAre(HasSubstr("nodeCacheCapable: is not true"),
                          HasSubstr("is not a key of an extender")));
}

TEST(LintTest, TheWeightMustOutvoteTheInTreeScores) {
  EXPECT_THAT(after("weight: 12", "weight: 1"), ElementsAre(HasSubstr("too small to outvote")));
  EXPECT_THAT(after("weight: 12", "weight: 0"),
              ElementsAre(HasSubstr("error: extenders[0].weight")));
  EXPECT_THAT(after("    weight: 12\n", ""), ElementsAre(HasSubstr("error: extenders[0].weight")));
}

TEST(LintTest, TheExtenderMustSeeAllNodes) {
  EXPECT_THAT(
      after("    percentageOfNodesToScore: 100\n", ""),
      ElementsAre(HasSubstr("f:7: warning: profiles[0].percentageOfNodesToScore: is the default")));
  EXPECT_THAT(after("percentageOfNodesToScore: 100", "percentageOfNodesToScore: 50"),
              ElementsAre(HasSubstr("f:8: warning: profiles[0].percentageOfNodesToScore: is 50")));
  EXPECT_THAT(after("    percentageOfNodesToScore: 100\n", "percentageOfNodesToScore: 100\n"),
              ElementsAre());
}

TEST(LintTest, TheDefaultSchedulerIsNoPlaceForAnExtender) {
  EXPECT_THAT(
      after("schedulerName: gpu-scheduler", "schedulerName: default-scheduler"),
      ElementsAre(HasSubstr("extender.schedulerNames: its GPU pods are never bound"),
                  HasSubstr("f:7: warning: profiles[0].schedulerName: is the default scheduler")));
  Configuration told;
  told.extender.scheduler_names = {"default-scheduler"};
  EXPECT_THAT(
      findings(spoiled("schedulerName: gpu-scheduler", "schedulerName: default-scheduler"), told),
      ElementsAre(HasSubstr("is the default scheduler")));
  const std::size_t begin = kGood.find("profiles:");
  const std::string without = kGood.substr(0, begin) + kGood.substr(kGood.find("extenders:"));
  EXPECT_THAT(findings(without), ElementsAre(HasSubstr("percentageOfNodesToScore: is the default"),
                                             HasSubstr("profiles: is the default scheduler")));
}

TEST(LintTest, ASecondSchedulerNeedsALeaseOfItsOwn) {
  EXPECT_THAT(after("  resourceName: gpu-scheduler\n", ""),
              ElementsAre(HasSubstr(
                  "error: leaderElection.resourceName: a second scheduler takes the Lease")));
  EXPECT_THAT(after("leaderElect: true\n  resourceName: gpu-scheduler", "leaderElect: false"),
              ElementsAre());
}

TEST(LintTest, TwoSchedulersMayNotBothAskForAShare) {
  const std::string share =
      spoiled("ignorable: true", "ignorable: false",
              kGood + "      - name: example.com/share\n        ignoredByScheduler: true\n");
  const std::string other = spoiled("resourceName: gpu-scheduler", "resourceName: other", share);
  EXPECT_TRUE(lint_beside(share, "other", share).empty()) << "replicas of one";
  const Findings found = lint_beside(share, "other", other);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(to_string(found[0], "f"),
              HasSubstr("f:9: error: extenders: example.com/share is managed in other too"));
  EXPECT_TRUE(
      lint_beside(kGood, "other", spoiled("resourceName: gpu-scheduler", "resourceName: other"))
          .empty())
      << "whole GPUs are counted by each";
  const std::string alone = spoiled("leaderElect: true", "leaderElect: false", share);
  EXPECT_EQ(lint_beside(alone, "other", alone).size(), 1U) << "nobody waits for a Lease";
}

TEST(LintTest, TheSharesFollowTheLeaseThatSlacklineWatches) {
  Configuration configuration;
  configuration.gpus.resources.push_back({"example.com/share", GpuSharing::kTimeslice, true});
  const std::string share =
      spoiled("ignorable: true", "ignorable: false",
              kGood + "      - name: example.com/share\n        ignoredByScheduler: true\n");
  configuration.extender.scheduler_lease = "kube-system/gpu-scheduler";
  EXPECT_THAT(findings(share, configuration), ElementsAre());
  configuration.extender.scheduler_lease = "kube-system/other";
  EXPECT_THAT(findings(share, configuration),
              ElementsAre(HasSubstr("f:5: error: leaderElection.resourceName: the Lease is "
                                    "kube-system/gpu-scheduler, and Slackline's")));
  EXPECT_THAT(findings(kGood, configuration), ElementsAre()) << "no share is asked for";
}

TEST(LintTest, WhatTwoExtendersMayNotShare) {
  const std::string two = kGood +
                          "  - urlPrefix: http://127.0.0.1:9/other\n    bindVerb: bind\n"
                          "    httpTimeout: 2s\n    nodeCacheCapable: true\n    ignorable: true\n"
                          "    managedResources: [{name: nvidia.com/gpu}]\n";
  EXPECT_THAT(
      findings(two),
      ElementsAre(HasSubstr("f:26: error: extenders[1].bindVerb: extenders[0] binds already"),
                  HasSubstr("nvidia.com/gpu is managed by extenders[0] already")));
}

}  // namespace
}  // namespace slackline::config
