#include "config/load.h"

#include <filesystem>
#include <fstream>
#include <regex>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/files.h"
#include "config/profile_files.h"
#include "slackline/base/text.h"
#include "support/source_path.h"
#include "support/temporary_folder.h"

namespace slackline::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kReference = test::source_path("deploy/slackline.yaml");

// A document whose third line is the first of `body`.
Loaded parse(const std::string& body) {
  return parse_configuration(
      "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n" + body);
}

std::vector<std::string> problems(const std::string& body) {
  std::vector<std::string> lines;
  for (const Finding& finding : parse(body).findings)
    lines.push_back(to_string(finding, "f"));
  return lines;
}

TEST(LoadTest, AnEmptyConfigurationHasTheDefaults) {
  const Loaded loaded = parse("");
  EXPECT_THAT(problems(""), IsEmpty());
  const Configuration& c = loaded.configuration;
  EXPECT_EQ(c.mode, Mode::kAdvise);
  EXPECT_EQ(c.listeners.extender.address, "127.0.0.1:8181");
  EXPECT_EQ(c.listeners.api.address, "127.0.0.1:8180");
  EXPECT_EQ(c.listeners.metrics.address, "127.0.0.1:8182");
  EXPECT_FALSE(c.listeners.extender.tls);
  EXPECT_EQ(c.gpus.resources.size(), default_gpu_catalog().resources.size());
}

TEST(LoadTest, TheReferenceFileLoadsCleanAndSaysTheDefaults) {
  const Result<std::string> text = read_text_file(kReference);
  ASSERT_TRUE(text) << text.error().message;
  const Loaded loaded = parse_configuration(*text);
  EXPECT_EQ(to_string(loaded.findings, "deploy/slackline.yaml"), "");
  const Configuration& c = loaded.configuration;
  const Configuration defaults;
  ASSERT_EQ(c.gpus.resources.size(), defaults.gpus.resources.size());
  for (std::size_t i = 0; i < c.gpus.resources.size(); ++i) {
    EXPECT_EQ(c.gpus.resources[i].pattern, defaults.gpus.resources[i].pattern);
    EXPECT_EQ(c.gpus.resources[i].sharing, defaults.gpus.resources[i].sharing);
    EXPECT_EQ(c.gpus.resources[i].self_accounted, defaults.gpus.resources[i].self_accounted);
  }
  EXPECT_EQ(c.gpus.type_labels, defaults.gpus.type_labels);
  EXPECT_EQ(c.gpus.topology_labels, defaults.gpus.topology_labels);
  ASSERT_EQ(c.gpus.types.size(), defaults.gpus.types.size());
  for (std::size_t i = 0; i < c.gpus.types.size(); ++i) {
    EXPECT_EQ(c.gpus.types[i].alias, defaults.gpus.types[i].alias);
    EXPECT_EQ(c.gpus.types[i].label_values, defaults.gpus.types[i].label_values);
    EXPECT_EQ(c.gpus.types[i].cost, defaults.gpus.types[i].cost);
  }
  EXPECT_EQ(c.mode, defaults.mode);
  EXPECT_EQ(c.profiles, defaults.profiles);
  EXPECT_EQ(c.scoring.theta, defaults.scoring.theta);
  EXPECT_EQ(c.cluster.kubeconfig, defaults.cluster.kubeconfig);
  EXPECT_EQ(c.cluster.stale_after_s, defaults.cluster.stale_after_s);
  EXPECT_EQ(c.cluster.audit_interval_s, defaults.cluster.audit_interval_s);
  EXPECT_EQ(c.store.path, defaults.store.path);
  EXPECT_EQ(c.store.keep_rows, defaults.store.keep_rows);
  EXPECT_EQ(c.store.models_file(), "slackline.models.db");
  EXPECT_EQ(c.store.portraits_file(), "slackline.portraits.db");
  EXPECT_EQ(c.log.level, defaults.log.level);
  EXPECT_EQ(c.log.format, defaults.log.format);
  EXPECT_EQ(c.listeners, defaults.listeners);
  EXPECT_EQ(c.listeners.webhook.address, defaults.listeners.webhook.address);
  EXPECT_EQ(c.listeners.remote_api, defaults.listeners.remote_api);
  EXPECT_EQ(c.listeners.proxy_api, defaults.listeners.proxy_api);
  EXPECT_EQ(c.remote_api, defaults.remote_api);
  EXPECT_EQ(c.webhook.scheduler_name, defaults.webhook.scheduler_name);
  EXPECT_EQ(c.webhook.service_account, defaults.webhook.service_account);
  EXPECT_EQ(c.webhook.configuration, defaults.webhook.configuration);
  EXPECT_EQ(c.webhook.certificate.names, defaults.webhook.certificate.names);
  EXPECT_EQ(c.webhook.certificate.secret, defaults.webhook.certificate.secret);
  EXPECT_EQ(c.webhook.certificate.life_s, defaults.webhook.certificate.life_s);
  EXPECT_EQ(c.telemetry, defaults.telemetry);
  EXPECT_EQ(c.learning, defaults.learning);
  EXPECT_EQ(c.trust, defaults.trust);
  EXPECT_EQ(c.queues, defaults.queues);
  EXPECT_EQ(c.extender.certificate.names, defaults.extender.certificate.names);
  EXPECT_EQ(c.extender.certificate.secret, defaults.extender.certificate.secret);
  EXPECT_EQ(c.extender.certificate.life_s, defaults.extender.certificate.life_s);
  EXPECT_EQ(c.extender.trust, defaults.extender.trust);
}

TEST(LoadTest, OffLoopbackTheExtenderNeedsNoFiles) {
  const Loaded loaded = parse(
      "listeners: {extender: {address: ':8181'}}\n"
      "extender: {certificate: {names: [n], secret: a/b, life: 1h}, trust: c/d}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  const Configuration& c = loaded.configuration;
  EXPECT_FALSE(is_loopback(c.listeners.extender));
  EXPECT_THAT(c.extender.certificate.names, ElementsAre("n"));
  EXPECT_EQ(c.extender.certificate.secret, "a/b");
  EXPECT_EQ(c.extender.certificate.life_s, 3600);
  EXPECT_EQ(c.extender.trust, "c/d");
  EXPECT_THAT(problems("extender: {trust: ca, certificate: {names: []}}\n"),
              ElementsAre(HasSubstr("names nothing"), HasSubstr("it must be NAMESPACE/NAME")));
}

TEST(LoadTest, LearningFromRunsIsConfigured) {
  EXPECT_TRUE(parse("").configuration.learning.from_runs);
  const Loaded loaded = parse("learning: {fromRuns: false}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  EXPECT_FALSE(loaded.configuration.learning.from_runs);
  EXPECT_THAT(problems("learning: {fromRuns: 7}\n"), ElementsAre(HasSubstr("fromRuns")));
}

TEST(LoadTest, TheKeyOfPlansIsConfigured) {
  const Loaded loaded = parse("trust: {keySecret: a/b, keyLife: 24h}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  EXPECT_EQ(loaded.configuration.trust.key_secret, "a/b");
  EXPECT_EQ(loaded.configuration.trust.key_life_s, 86400);
  EXPECT_THAT(problems("trust: {keySecret: key}\n"),
              ElementsAre(HasSubstr("it must be NAMESPACE/NAME")));
  EXPECT_THAT(problems("trust: {keyLife: 59m}\n"),
              ElementsAre(HasSubstr("trust.keyLife: is 59m00s; it must be at least 1h")));
}

TEST(LoadTest, WhoIsBoundAndWhoGivesBackIsConfigured) {
  EXPECT_THAT(Configuration().extender.scheduler_names, ElementsAre("gpu-scheduler"));
  EXPECT_FALSE(Configuration().planner.give_back) << "nothing writes unless it is asked to";
  EXPECT_FALSE(Configuration().planner.shadow_events);
  const Loaded loaded = parse(
      "extender: {schedulerNames: [a, b]}\n"
      "planner: {giveBack: true, lease: c/d, noteForecasts: false, shadowEvents: true}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  EXPECT_THAT(loaded.configuration.extender.scheduler_names, ElementsAre("a", "b"));
  EXPECT_TRUE(loaded.configuration.planner.give_back);
  EXPECT_FALSE(loaded.configuration.planner.note_forecasts);
  EXPECT_TRUE(loaded.configuration.planner.shadow_events);
  EXPECT_THAT(parse("extender: {schedulerNames: []}\n").configuration.extender.scheduler_names,
              IsEmpty());
  EXPECT_THAT(problems("planner: {giveBack: perhaps}\n"),
              ElementsAre(HasSubstr("planner.giveBack")));
}

TEST(LoadTest, ThePrometheusIsConfigured) {
  const Loaded loaded = parse_configuration(
      "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n"
      "telemetry:\n  prometheus: {url: 'https://mimir:8080/prometheus', bearerTokenFile: token, "
      "caFile: /etc/ca.crt, tenant: ml, tenantHeader: X-Tenant, timeout: 10s}\n"
      "  step: 30s\n"
      "  lookBack: 2h\n"
      "  labels: {owners: [{namespace: ns, pod: p, container: c}], device: [gpu_uuid]}\n",
      "/etc/slackline");
  EXPECT_THAT(loaded.findings, IsEmpty());
  const TelemetrySettings& telemetry = loaded.configuration.telemetry;
  EXPECT_EQ(telemetry.prometheus.url, "https://mimir:8080/prometheus");
  EXPECT_EQ(telemetry.prometheus.bearer_token_file, "/etc/slackline/token");
  EXPECT_EQ(telemetry.prometheus.ca_file, "/etc/ca.crt");
  EXPECT_EQ(telemetry.prometheus.tenant, "ml");
  EXPECT_EQ(telemetry.prometheus.tenant_header, "X-Tenant");
  EXPECT_EQ(telemetry.prometheus.timeout_s, 10);
  EXPECT_EQ(telemetry.step_s, 30);
  EXPECT_EQ(telemetry.look_back_s, 7200);
  EXPECT_THAT(telemetry.labels.owners, ElementsAre(OwnerLabels{"ns", "p", "c"}));
  EXPECT_THAT(telemetry.labels.device, ElementsAre("gpu_uuid"));
  EXPECT_EQ(telemetry.labels.node, LabelNames().node);
}

TEST(LoadTest, WhatNoPrometheusCanBeAskedIsSaid) {
  EXPECT_THAT(problems("telemetry: {prometheus: {url: 'prometheus:9090'}}\n"),
              ElementsAre(AllOf(StartsWith("f:3: error: telemetry.prometheus.url: cannot be asked"),
                                HasSubstr("write http(s)://HOST[:PORT][/PREFIX]"))));
  for (const char* url : {"http://x:99999", "http://x:0/prom", "http://x:", "http://[::1]:port"})
    EXPECT_THAT(problems(format("telemetry: {{prometheus: {{url: '{}'}}}}\n", url)),
                ElementsAre(HasSubstr("its port is not of 1 to 65535")))
        << url;
  for (const char* url : {"http://x", "http://[::1]", "https://[::1]:9090/a:b", "http://x:65535"})
    EXPECT_THAT(problems(format("telemetry: {{prometheus: {{url: '{}'}}}}\n", url)), IsEmpty())
        << url;
  EXPECT_THAT(
      problems("telemetry: {prometheus: {url: 'http://prometheus:9090', bearerTokenFile: t}}\n"),
      ElementsAre(AllOf(HasSubstr("warning: telemetry.prometheus.bearerTokenFile"),
                        HasSubstr("in the clear"))));
  EXPECT_THAT(problems("telemetry: {prometheus: {tenant: \"a\\nb\"}}\n"),
              ElementsAre(HasSubstr("telemetry.prometheus.tenant: cannot be sent")));
  EXPECT_THAT(problems("telemetry: {prometheus: {tenantHeader: ''}}\n"),
              ElementsAre(HasSubstr("telemetry.prometheus.tenantHeader: is \"\"")));
  EXPECT_THAT(problems("telemetry: {step: 500ms}\n"),
              ElementsAre(HasSubstr("it must be 1s to 1h in whole seconds")));
  EXPECT_THAT(problems("telemetry: {lookBack: 25h}\n"),
              ElementsAre(HasSubstr("telemetry.lookBack: is 1d01h")));
  EXPECT_THAT(problems("telemetry: {lookBack: 0s}\n"), IsEmpty()) << "nothing of the past";
  EXPECT_THAT(problems("telemetry: {labels: {device: [], node: ['a) or (b']}}\n"),
              ElementsAre(HasSubstr("telemetry.labels.device: names no label"),
                          HasSubstr("telemetry.labels.node: has \"a) or (b\"")));
  EXPECT_THAT(problems("telemetry: {labels: {owners: [{pod: p, container: c}]}}\n"),
              ElementsAre(HasSubstr("telemetry.labels.owners[0].namespace: has \"\"")));
  EXPECT_THAT(problems("telemetry: {promtheus: {}}\n"), ElementsAre(HasSubstr("promtheus")));
}

TEST(LoadTest, TheWebhookIsConfigured) {
  const Loaded loaded = parse(
      "mode: active\nlisteners: {webhook: {address: ':8443'}}\n"
      "webhook: {schedulerName: s, serviceAccount: a/b, configuration: c, certificate: {names: "
      "[n], secret: d/e, life: 1h}}\nqueue: {maxPending: 7}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  const Configuration& c = loaded.configuration;
  EXPECT_EQ(c.mode, Mode::kActive);
  EXPECT_EQ(c.listeners.webhook.address, ":8443");
  EXPECT_EQ(c.webhook.scheduler_name, "s");
  EXPECT_EQ(c.webhook.service_account, "a/b");
  EXPECT_EQ(c.webhook.configuration, "c");
  EXPECT_THAT(c.webhook.certificate.names, ElementsAre("n"));
  EXPECT_EQ(c.webhook.certificate.secret, "d/e");
  EXPECT_EQ(c.webhook.certificate.life_s, 3600);
  EXPECT_EQ(c.queues.defaults.max_pending, 7);
  EXPECT_THAT(problems("webhook: {serviceAccount: slackline}\n"),
              ElementsAre(HasSubstr(
                  "webhook.serviceAccount: is \"slackline\"; it must be NAMESPACE/NAME")));
}

TEST(LoadTest, TheAggregatedApiServesTheWebhooksCertificate) {
  EXPECT_EQ(Configuration().listeners.visibility.address, "") << "off";
  const Loaded loaded =
      parse("listeners: {webhook: {address: ':10250'}, visibility: {address: ':10251'}}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  EXPECT_EQ(loaded.configuration.listeners.visibility.address, ":10251");
  EXPECT_THAT(problems("listeners: {visibility: {address: ':10251'}}\n"),
              ElementsAre(HasSubstr("without one of listeners.webhook")));
  EXPECT_THAT(problems("listeners: {webhook: {address: ':1'}, visibility: {address: ':1'}}\n"),
              ElementsAre(HasSubstr("listeners.visibility")));
}

TEST(LoadTest, RestForPeopleMakesItsOwnCertificateAndTheProxysIsPlain) {
  const Configuration defaults;
  EXPECT_EQ(defaults.listeners.remote_api.address, "");
  EXPECT_EQ(defaults.listeners.proxy_api.address, "") << "nobody sees all unasked";
  const Loaded loaded = parse(
      "listeners: {remoteApi: {address: ':8183'}, proxyApi: {address: ':8184'}}\n"
      "remoteApi: {certificate: {names: [n], secret: d/e, life: 1h}, trust: f/g}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  const Configuration& c = loaded.configuration;
  EXPECT_EQ(c.listeners.remote_api.address, ":8183");
  EXPECT_EQ(c.listeners.proxy_api.address, ":8184");
  EXPECT_THAT(c.remote_api.certificate.names, ElementsAre("n"));
  EXPECT_EQ(c.remote_api.trust, "f/g");
  EXPECT_THAT(problems("listeners: {proxyApi: {address: ':8184', tls: {certFile: c}}}\n"),
              ElementsAre(HasSubstr("listeners.proxyApi.tls")));
  EXPECT_THAT(
      problems("listeners: {remoteApi: {address: ':8184'}, proxyApi: {address: ':8184'}}\n"),
      ElementsAre(HasSubstr("listeners.proxyApi")));
  EXPECT_THAT(problems("listeners: {remoteApi: {address: nonsense}}\n"),
              ElementsAre(HasSubstr("empty for none")));
}

TEST(LoadTest, TheWebhookMayKnowItsCallersAndMakeItsOwnCertificate) {
  const Loaded loaded =
      parse("listeners: {webhook: {address: ':8443', tls: {clientCAFile: /ca.crt}}}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  ASSERT_TRUE(loaded.configuration.listeners.webhook.tls);
  EXPECT_EQ(loaded.configuration.listeners.webhook.tls->client_ca_file, "/ca.crt");
  EXPECT_EQ(loaded.configuration.listeners.webhook.tls->cert_file, "");
  for (const char* tls : {"{certFile: c, clientCAFile: ca}", "{}"})
    EXPECT_THAT(problems(format("listeners: {{webhook: {{address: ':8443', tls: {}}}}}\n", tls)),
                ElementsAre(HasSubstr("lacks certFile or keyFile")));
}

TEST(LoadTest, AQueueInheritsWhatItDoesNotSay) {
  const Loaded loaded = parse(
      "queues: [{name: vision, maxPending: 100, scaleUp: true}, {name: text, fallbackAfter: 5m}, "
      "{name: told, preemption: {notice: 30s}}, {name: spared, preemption: {preemptible: false}}]\n"
      "queue: {maxPending: 7, fallbackAfter: 10m}\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  const QueueRulebook& queues = loaded.configuration.queues;
  EXPECT_EQ(queues.of("vision"), (QueueRules{100, 600, true}));
  EXPECT_EQ(queues.of("text"), (QueueRules{7, 300, false}));
  EXPECT_EQ(queues.of("told"), (QueueRules{7, 600, false, 30}));
  EXPECT_EQ(queues.of("spared"),
            (QueueRules{7, 600, false, 0, Rescheduling::kAdvise, /*preemptible=*/false}));
  EXPECT_EQ(queues.of("any other"), (QueueRules{7, 600, false}));
}

TEST(LoadTest, AQueueMayPreferGpuTypes) {
  const Loaded loaded = parse(
      "queue: {gpuTypes: [A100, V100]}\n"
      "queues: [{name: vision, gpuTypes: [H100]}, {name: text}, {name: all, gpuTypes: []}]\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  const QueueRulebook& queues = loaded.configuration.queues;
  EXPECT_THAT(queues.of("vision").gpu_types, ElementsAre(GpuType("H100")));
  EXPECT_THAT(queues.of("text").gpu_types, ElementsAre(GpuType("A100"), GpuType("V100")));
  EXPECT_THAT(queues.of("all").gpu_types, IsEmpty());
  EXPECT_THAT(problems("queue: {gpuTypes: [any]}\n"),
              ElementsAre(HasSubstr("queue.gpuTypes: has \"any\"; it must be a list of single")));
  EXPECT_THAT(
      problems("queue: {gpuTypes: A100}\n"),
      ElementsAre(HasSubstr("queue.gpuTypes: is a single value; it must be a list of texts")));
}

TEST(LoadTest, AQueueMayHaveAShareOfGpuTypes) {
  const Loaded loaded = parse(
      "queues: [{name: vision, maxRunning: 9, giveBackWithin: 0s, shares: {A100: {own: 16, borrow: "
      "8}, H100: {own: "
      "2}}}, {name: text}]\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  const QueueRules& vision = loaded.configuration.queues.of("vision");
  EXPECT_EQ(vision.max_running, 9);
  EXPECT_EQ(vision.give_back_within_s, 0);
  EXPECT_EQ(vision.shares.at("A100"), (GpuShare{16, 8}));
  EXPECT_EQ(vision.shares.at("H100"), (GpuShare{2, 0}));
  EXPECT_EQ(loaded.configuration.queues.of("text"), QueueRules());
  EXPECT_THAT(problems("queues: [{name: a, shares: {A100: {own: -1}}}]\n"),
              ElementsAre(HasSubstr("queues[0].shares.A100.own: is \"-1\"; it must be a whole")));
  EXPECT_THAT(problems("queues: [{name: a, shares: {A100: 4}}]\n"),
              ElementsAre(HasSubstr("queues[0].shares.A100: is a")));
  EXPECT_THAT(problems("queues: [{name: a, shares: {A100: {lend: 4}}}]\n"),
              testing::Contains(HasSubstr("shares.A100.lend: is not a known key")));
  EXPECT_THAT(problems("queue: {shares: {A100: {own: 1}}}\n"),
              ElementsAre(HasSubstr("queue.shares: is not a known key")));
}

TEST(LoadTest, AQueueMayHaveAParent) {
  const std::string parent = "queues: [{name: research, shares: {A100: {own: 8}}}, ";
  const Loaded loaded =
      parse(parent + "{name: image, parent: research, shares: {a100: {own: 6}}}]\n");
  EXPECT_THAT(loaded.findings, IsEmpty());
  EXPECT_EQ(loaded.configuration.queues.of("image").parent, "research");
  EXPECT_THAT(problems(parent + "{name: image, parent: research, shares: {A100: {own: 6}}}, {name: "
                                "text, parent: research, shares: {A100: {own: 3}}}]\n"),
              ElementsAre(HasSubstr("queues[2].shares: the children of queue research own 9 A100 "
                                    "and the queue itself 8; what a parent owns has to cover")));
  EXPECT_THAT(
      problems(parent + "{name: image, parent: research, shares: {A100: {own: 6}, a100: "
                        "{own: 6}}}]\n"),
      ElementsAre(HasSubstr("children of queue research own 12 A100 and the queue itself 8")))
      << "two spellings are one type, said once";
  EXPECT_THAT(problems("queues: [{name: image, parent: research}]\n"),
              ElementsAre(HasSubstr("queues[0].parent: queue research is not given before")));
  EXPECT_THAT(problems(parent + "{name: image, parent: research}, {name: x, parent: image}]\n"),
              ElementsAre(HasSubstr("queues[2].parent: queue image has a parent itself")));
}

TEST(LoadTest, MistakesInQueuesNameThePathAndTheRemedy) {
  EXPECT_THAT(
      problems("queues: [{name: a, maxpending: 3}]\n"),
      ElementsAre("f:3: error: queues[0].maxpending: is not a known key; allowed here: "
                  "name, maxPending, maxRunning, fallbackAfter, giveBackWithin, gpuTypes, scaleUp, "
                  "preemption, "
                  "rescheduling, resize, parent, shares"));
  EXPECT_THAT(problems("queues: [{name: a}, {name: a}]\n"),
              ElementsAre(HasSubstr("queues[1].name: queue a is given twice; keep one of them")));
  EXPECT_THAT(problems("queues: [{maxPending: 3}]\n"),
              ElementsAre(HasSubstr("queues[0].name: is \"\"; it must be a queue")));
  EXPECT_THAT(problems("queues: [{name: 'A b!'}]\n"),
              ElementsAre(HasSubstr("queues[0].name: is \"A b!\"; it must be a queue: a value of "
                                    "slackline.dev/queue, or a namespace")));
  EXPECT_THAT(problems("queues: {vision: {maxPending: 3}}\n"),
              ElementsAre(HasSubstr("queues: is a mapping; it must be a list")));
  EXPECT_THAT(problems("queues: [{name: a, maxPending: -1}]\n"),
              ElementsAre(HasSubstr("queues[0].maxPending: is \"-1\"; it must be a whole number")));
  EXPECT_THAT(problems("queue: {fallbackAfter: soon}\n"),
              ElementsAre(HasSubstr("queue.fallbackAfter: is \"soon\"; it must be a duration")));
  EXPECT_THAT(problems("queue: {preemption: {notice: 11m}}\n"),
              ElementsAre(HasSubstr("queue.preemption.notice: is 11m00s; it must be at most 10m")));
  EXPECT_THAT(problems("queue: {scaleUp: maybe}\n"),
              ElementsAre(HasSubstr("queue.scaleUp: is \"maybe\"; allowed: true, false")));
  EXPECT_THAT(
      problems("queue: {rescheduling: always}\n"),
      ElementsAre(HasSubstr("queue.rescheduling: is \"always\"; allowed: off, advise, auto")));
  EXPECT_THAT(problems("queue: {resize: always}\n"),
              ElementsAre(HasSubstr("queue.resize: is \"always\"; allowed: off, advise, auto")));
  EXPECT_THAT(problems("planner: {slowAfter: 100ms}\n"),
              ElementsAre(HasSubstr("planner.slowAfter: is ")));
}

// The parser lists its keys when it meets an unknown one; the reference must document each.
TEST(LoadTest, TheReferenceFileDocumentsEveryKey) {
  const std::string text = read_text_file(kReference).value_or("");
  const std::string probes =
      "x: 1\ntopology: {x: 1}\ngpus: {x: 1, resources: [{name: a/b, x: 1}], types: [{name: A, x: "
      "1}]}\nscoring: {x: "
      "1}\n"
      "listeners: {x: 1, extender: {x: 1, tls: {x: 1, certFile: c, keyFile: k}}, metrics: {x: 1}, "
      "webhook: {x: 1}}\n"
      "extender: {x: 1, certificate: {x: 1}}\n"
      "webhook: {x: 1, certificate: {x: 1}}\nqueue: {x: 1}\n"
      "queues: [{name: q, x: 1}]\ncluster: {x: 1}\nstore: {x: 1}\nlog: "
      "{x: 1}\n";
  int sections = 0;
  for (const Finding& finding : parse(probes).findings) {
    ASSERT_THAT(finding.remedy, StartsWith("allowed here: "));
    ++sections;
    for (const std::string_view key : split(std::string_view(finding.remedy).substr(14), ','))
      EXPECT_TRUE(std::regex_search(text, std::regex(format("(^|\\n)[ #-]*{}:", key)))) << key;
  }
  EXPECT_EQ(sections, 20);
}

TEST(LoadTest, EveryKeyReachesItsField) {
  const Loaded loaded = parse(
      "mode: shadow\n"
      "gpus:\n"
      "  resources: [{name: x.dev/mem, sharing: vgpu, selfAccounted: true}]\n"
      "  typeLabels: [pool]\n"
      "  types: [{name: K80, labelValues: [old-*], cost: 0.5}]\n"
      "topology: {labels: [zone, rack]}\n"
      "profiles: [a.json, b/*.yaml]\n"
      "scoring: {theta: 0}\n"
      "listeners:\n"
      "  extender: {address: ':8443', tls: {certFile: c, keyFile: k, clientCAFile: ca, "
      "clientNames: [s]}}\n"
      "  api: {address: '[::1]:0'}\n"
      "  metrics: {address: '0.0.0.0:9100'}\n"
      "extender: {certificate: {life: 1h}, authorityLife: 3h, trust: n/t, clientSecret: n/s, "
      "schedulerLease: n/l}\n"
      "cluster: {source: 'file:dump.yaml', kubeconfig: kc, staleAfter: 90s, auditInterval: 1h30m}\n"
      "store: {path: /var/lib/s.db, modelsPath: m.db, portraitsPath: p.db, "
      "keepRows: 5, keepHistory: 36h, keepPortraits: 48h, "
      "copyFrom: {url: 'https://b:8183', tokenFile: t, caFile: ca}}\n"
      "log: {level: debug, format: json}\n");
  EXPECT_EQ(to_string(loaded.findings, "f"), "");
  const Configuration& c = loaded.configuration;
  EXPECT_EQ(c.mode, Mode::kShadow);
  ASSERT_EQ(c.gpus.resources.size(), 1U);
  EXPECT_EQ(c.gpus.resources[0].sharing, GpuSharing::kVgpu);
  EXPECT_TRUE(c.gpus.resources[0].self_accounted);
  EXPECT_THAT(c.gpus.type_labels, ElementsAre("pool"));
  EXPECT_THAT(c.gpus.topology_labels, ElementsAre("zone", "rack"));
  ASSERT_EQ(c.gpus.types.size(), 1U);
  EXPECT_EQ(c.gpus.types[0].cost, 0.5);
  EXPECT_THAT(c.profiles, ElementsAre("a.json", "b/*.yaml"));
  EXPECT_EQ(c.scoring.theta, 0);
  EXPECT_EQ(c.listeners.extender.tls->client_ca_file, "ca");
  EXPECT_THAT(c.listeners.extender.tls->client_names, ElementsAre("s"));
  EXPECT_EQ(c.extender.certificate.life_s, 3600);
  EXPECT_EQ(c.extender.authority_life_s, 3 * 3600);
  EXPECT_EQ(c.extender.trust, "n/t");
  EXPECT_EQ(c.extender.client_secret, "n/s");
  EXPECT_EQ(c.extender.scheduler_lease, "n/l");
  EXPECT_EQ(c.listeners.api.address, "[::1]:0");
  EXPECT_EQ(c.listeners.metrics.address, "0.0.0.0:9100");
  EXPECT_EQ(c.cluster.dump_file, "dump.yaml");
  EXPECT_EQ(c.cluster.kubeconfig, "kc");
  EXPECT_EQ(c.cluster.stale_after_s, 90);
  EXPECT_EQ(c.cluster.audit_interval_s, 5400);
  EXPECT_EQ(c.store.keep_rows, 5);
  EXPECT_EQ(c.store.keep_history_s, 36 * 3600);
  EXPECT_EQ(c.store.keep_portraits_s, 48 * 3600);
  EXPECT_EQ(c.store.portraits_file(), "p.db");
  EXPECT_EQ(c.store.models_file(), "m.db");
  EXPECT_EQ(c.store.copy_from, (CopySettings{"https://b:8183", "t", "ca"}));
  EXPECT_EQ(c.log.level, LogLevel::kDebug);
  EXPECT_EQ(c.log.format, LogFormat::kJson);
}

TEST(LoadTest, AnUnknownKeyNamesFileLinePathAndWhatIsAllowed) {
  EXPECT_THAT(problems("scoring:\n  thetta: 1\n"),
              ElementsAre("f:4: error: scoring.thetta: is not a known key; allowed here: theta"));
  EXPECT_THAT(
      problems("gpus:\n  types:\n    - name: A\n      price: 3\n"),
      ElementsAre("f:6: error: gpus.types[0].price: is not a known key; allowed here: name, "
                  "labelValues, cost"));
  EXPECT_THAT(
      problems("listeners: {metrics: {tls: {}}}\n"),
      ElementsAre(HasSubstr("listeners.metrics.tls: is not a known key; allowed here: address")));
}

TEST(LoadTest, AllProblemsOfAFileAreToldInOrder) {
  EXPECT_THAT(
      problems("mode: live\nscoring:\n  theta: -1\nstore: 5\nlog:\n  level: loud\n"),
      ElementsAre("f:3: error: mode: is \"live\"; allowed: shadow, advise, active",
                  "f:5: error: scoring.theta: is \"-1\"; it must be a number >= 0",
                  "f:6: error: store: is a single value; it must be a mapping of keys to values",
                  "f:8: error: log.level: is \"loud\"; allowed: debug, info, warning, error"));
}

TEST(LoadTest, WrongTypesAndRangesAreRefused) {
  EXPECT_THAT(problems("mode: [shadow]\n"),
              ElementsAre(HasSubstr("is a list; it must be one of shadow")));
  EXPECT_THAT(problems("profiles: a.json\n"), ElementsAre(HasSubstr("it must be a list of texts")));
  EXPECT_THAT(problems("gpus: {types: {name: A}}\n"),
              ElementsAre(HasSubstr("is a mapping; it must be a list")));
  EXPECT_THAT(problems("gpus: {types: [{name: A, cost: 0}]}\n"),
              ElementsAre(HasSubstr("a number > 0")));
  EXPECT_THAT(problems("gpus: {types: [{name: A, cost: -2}]}\n"),
              ElementsAre(HasSubstr("a number > 0")));
  EXPECT_THAT(problems("gpus: {types: [{name: A, cost: .nan}]}\n"),
              ElementsAre(HasSubstr("a number > 0")));
  EXPECT_THAT(problems("store: {keepRows: 1.5}\n"), ElementsAre(HasSubstr("a whole number >= 1")));
  EXPECT_THAT(problems("store: {keepRows: 0}\n"), ElementsAre(HasSubstr("a whole number >= 1")));
  EXPECT_THAT(problems("store: {path: ''}\n"), ElementsAre(HasSubstr("store.path: is empty")));
  EXPECT_THAT(problems("store: {copyFrom: {url: 'b:8183'}}\n"),
              ElementsAre(HasSubstr("store.copyFrom.url: is \"b:8183\"")));
  EXPECT_THAT(problems("cluster: {staleAfter: 60}\n"),
              ElementsAre(HasSubstr("it has no unit: write 60s or 1m")));
  EXPECT_THAT(problems("cluster: {staleAfter: 1s}\n"),
              ElementsAre(HasSubstr("it must be at least 90s")));
  EXPECT_THAT(problems("cluster: {source: etcd}\n"),
              ElementsAre(HasSubstr("allowed: kube, file:DUMP")));
  EXPECT_THAT(problems("gpus: {resources: [{name: a/b, selfAccounted: maybe, sharing: mps}]}\n"),
              ElementsAre(HasSubstr("allowed: true, false")));
}

TEST(LoadTest, DoubledAndEmptyListsAreRefused) {
  EXPECT_THAT(problems("gpus:\n  types:\n    - name: A\n    - name: A\n"),
              ElementsAre(HasSubstr("f:6: error: gpus.types[1].name: GPU type A is given twice")));
  EXPECT_THAT(problems("gpus: {resources: [{name: a/b}, {name: a/b}]}\n"),
              ElementsAre(HasSubstr("a/b is given twice")));
  EXPECT_THAT(problems("gpus: {types: []}\n"), ElementsAre(HasSubstr("names no GPU type")));
  EXPECT_THAT(problems("gpus: {resources: []}\n"), ElementsAre(HasSubstr("names no GPU resource")));
  EXPECT_THAT(problems("gpus: {typeLabels: []}\n"), ElementsAre(HasSubstr("names no label")));
  EXPECT_THAT(problems("mode: shadow\nmode: advise\n"),
              ElementsAre(HasSubstr("f:4: error: mode: is given twice")));
}

TEST(LoadTest, NamesThatCannotWorkAreRefused) {
  EXPECT_THAT(problems("gpus: {resources: [{name: cpu}]}\n"),
              ElementsAre(HasSubstr("extended resource")));
  EXPECT_THAT(problems("gpus: {types: [{name: any}]}\n"), ElementsAre(HasSubstr("not \"any\"")));
  EXPECT_THAT(problems("gpus: {types: [{cost: 1}]}\n"),
              ElementsAre(HasSubstr("name people write")));
  EXPECT_THAT(problems("gpus: {resources: [{name: a/b, selfAccounted: true}]}\n"),
              ElementsAre(HasSubstr("kube-scheduler must count whole GPUs itself")));
}

TEST(LoadTest, EveryListenerHasLimitsOfItsOwn) {
  const Loaded loaded = parse(
      "listeners:\n  extender: {limits: {maxBody: 96Mi, memory: 512Mi, threads: 8}}\n"
      "  webhook: {limits: {connections: 16, handshakesPerSecond: 7}}\n");
  EXPECT_EQ(to_string(loaded.findings, "f"), "");
  const ListenersSettings& listeners = loaded.configuration.listeners;
  EXPECT_EQ(listeners.extender.limits.max_body_bytes, 96 << 20);
  EXPECT_EQ(listeners.extender.limits.memory_bytes, 512 << 20);
  EXPECT_EQ(listeners.extender.limits.threads, 8);
  EXPECT_EQ(listeners.webhook.limits.connections, 16);
  EXPECT_EQ(listeners.webhook.limits.handshakes_per_s, 7);
  EXPECT_EQ(listeners.api.limits, ListenersSettings().api.limits);
}

TEST(LoadTest, LimitsHaveLimits) {
  EXPECT_THAT(
      problems("listeners:\n  extender:\n    limits:\n      connections: 15\n"),
      ElementsAre(AllOf(HasSubstr("f:6: "), HasSubstr("listeners.extender.limits.connections"),
                        HasSubstr("a whole number of 16 to 16384"))));
  EXPECT_THAT(problems("listeners: {api: {limits: {memory: 12}}}"),
              ElementsAre(HasSubstr("it must be a size of 1024Ki to 65536Mi, e.g. 16Mi")));
  EXPECT_THAT(problems("listeners: {extender: {limits: {maxBody: 200Mi}}}"),
              ElementsAre(HasSubstr("is more than half of memory")));
  EXPECT_THAT(problems("listeners: {metrics: {limits: {maxBody: 1Mi}}}"),
              ElementsAre(HasSubstr("is not a known key")));
  for (const char* odd : {"threads: 0", "threads: 1025", "handshakesPerSecond: 0", "memory: 1e30",
                          "memory: -1Mi", "connections: many"})
    EXPECT_EQ(problems(format("listeners: {{webhook: {{limits: {{{}}}}}}}", odd)).size(), 1U)
        << odd;
}

TEST(LoadTest, ListenersOffLoopbackDemandTls) {
  EXPECT_THAT(problems("listeners: {api: {address: ':8180'}}\n"),
              ElementsAre(HasSubstr("reachable from outside without TLS")));
  EXPECT_THAT(problems("listeners: {api: {address: ':8180', tls: {certFile: c}}}\n"),
              ElementsAre(HasSubstr("lacks certFile or keyFile")));
  for (const char* address : {"8181", "host", "h:99999", "h:x", "::1:80", "[::1]", "", "[", "[:1"})
    EXPECT_THAT(problems(format("listeners: {{metrics: {{address: '{}'}}}}\n", address)),
                ElementsAre(HasSubstr("HOST:PORT, [IPv6]:PORT")))
        << address;
}

TEST(LoadTest, OffLoopbackTheExtenderMustKnowWhoCalls) {
  const auto extender = [](const std::string& address, const std::string& tls) {
    return problems(
        format("listeners: {{extender: {{address: '{}:8181', tls: {{certFile: c, "
               "keyFile: k{}}}}}}}\n",
               address, tls));
  };
  EXPECT_THAT(extender("", ""),
              ElementsAre(HasSubstr("listeners.extender.tls: lacks clientCAFile")));
  EXPECT_THAT(extender("", ", clientCAFile: ca"),
              ElementsAre(HasSubstr("listeners.extender.tls: lacks clientNames")));
  EXPECT_THAT(extender("", ", clientCAFile: ca, clientNames: [kube-scheduler]"), ElementsAre());
  EXPECT_THAT(extender("127.0.0.1", ""), ElementsAre());
  EXPECT_THAT(extender("127.0.0.1", ", clientNames: [a]"),
              ElementsAre(HasSubstr("clientNames: is given without clientCAFile")));
  EXPECT_THAT(problems("extender: {certificate: {life: 100h}, authorityLife: 200h}\n"),
              ElementsAre(HasSubstr("extender.authorityLife: is shorter than three lives")));
  EXPECT_THAT(problems("extender: {certificate: {life: 1s}}\n"),
              ElementsAre(HasSubstr("extender.certificate.life: is 1s; it must be at least 10s")));
}

TEST(LoadTest, AKeyThatEverybodyMayReadIsRemarkedOn) {
  const test::TemporaryFolder folder;
  const std::string key = folder.file("tls.key");
  std::ofstream(key) << "key";
  Configuration configuration;
  configuration.listeners.api.tls = TlsSettings{"c", key, "", {}};
  std::filesystem::permissions(key, std::filesystem::perms(0644));
  ASSERT_EQ(check_key_files(configuration).size(), 1U);
  EXPECT_THAT(to_string(check_key_files(configuration)[0], "f"),
              AllOf(HasSubstr("warning: listeners.api.tls.keyFile"), HasSubstr("chmod 600")));
  std::filesystem::permissions(key, std::filesystem::perms(0640));
  EXPECT_THAT(check_key_files(configuration), ElementsAre());
  std::filesystem::remove(key);
  EXPECT_THAT(check_key_files(configuration), ElementsAre()) << "the start says that it is missing";
}

TEST(LoadTest, AnotherKindOrNoYamlIsRefused) {
  EXPECT_THAT(to_string(parse_configuration("kind: Pod\n").findings, "f"),
              AllOf(HasSubstr("apiVersion: is \"\"; it must be config.slackline.dev/v1alpha1"),
                    HasSubstr("kind: is \"Pod\"; it must be SlacklineConfiguration")));
  EXPECT_TRUE(has_errors(parse_configuration("").findings));
  EXPECT_TRUE(has_errors(parse_configuration("- a\n- b\n").findings));
  EXPECT_THAT(problems("mode: [shadow\n"), ElementsAre(HasSubstr("correct the YAML")));
  EXPECT_THAT(problems("\xff\xfe\x01\n"), Not(IsEmpty()));
}

TEST(LoadTest, RelativeFileNamesAreRelativeToTheFile) {
  test::TemporaryFolder folder;
  std::ofstream(folder.file("c.yaml"))
      << "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n"
         "profiles: [p/*.json, /abs/x.json]\nstore: {path: ../s.db}\ncluster: {source: "
         "'file:d.yaml'}\n";
  const Result<Configuration> loaded = load_configuration(folder.file("c.yaml"));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->profiles, ElementsAre(folder.file("p/*.json"), "/abs/x.json"));
  EXPECT_EQ(loaded->cluster.dump_file, folder.file("d.yaml"));
  EXPECT_EQ(loaded->store.path,
            std::filesystem::path(folder.path()).parent_path().string() + "/s.db");
}

TEST(LoadTest, AStoreInMemoryHasNoFiles) {
  test::TemporaryFolder folder;
  std::ofstream(folder.file("c.yaml")) << "apiVersion: config.slackline.dev/v1alpha1\n"
                                          "kind: SlacklineConfiguration\nstore: {path: none}\n";
  const Result<Configuration> loaded = load_configuration(folder.file("c.yaml"));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->store.in_memory());
  EXPECT_EQ(loaded->store.models_file(), "none");
  EXPECT_EQ(loaded->store.portraits_file(), "none");
  EXPECT_THAT(problems("store: {path: none, modelsPath: m.db}\n"),
              ElementsAre(HasSubstr("modelsPath and portraitsPath are not used")));
}

TEST(LoadTest, AnyPathOfAStoreNamesIt) {
  EXPECT_FALSE(parse("store: {keepRows: 5}\n").configuration.store.named);
  for (const char* key : {"path", "modelsPath", "portraitsPath"})
    EXPECT_TRUE(parse(format("store: {{{}: x.db}}\n", key)).configuration.store.named) << key;
}

TEST(LoadTest, AFileThatCannotBeReadOrIsWrongIsAClearError) {
  test::TemporaryFolder folder;
  EXPECT_EQ(read_text_file(folder.file("absent.yaml")).error().code, ErrorCode::kUnavailable)
      << "what cannot be read is no lack of data";
  EXPECT_THAT(load_configuration(folder.file("absent.yaml")).error().message,
              AllOf(HasSubstr("absent.yaml cannot be read"), HasSubstr("No such file")));
  EXPECT_FALSE(load_configuration(folder.path()));
  std::ofstream(folder.file("bad.yaml")) << "apiVersion: x\nkind: y\n";
  EXPECT_EQ(load_configuration(folder.file("bad.yaml")).error().message,
            format("{0}:1: error: apiVersion: is \"x\"; it must be config.slackline.dev/v1alpha1\n"
                   "{0}:2: error: kind: is \"y\"; it must be SlacklineConfiguration",
                   folder.file("bad.yaml")));
}

// Nobody writes to it: whoever opens it to read would wait.
TEST(LoadTest, AFifoIsRefusedAndNotOpened) {
  test::TemporaryFolder folder;
  const std::string fifo = folder.file("fifo.yaml");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int writer = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);  // so that a mistake hangs no test
  EXPECT_THAT(load_configuration(fifo).error().message,
              HasSubstr("fifo.yaml cannot be read: it is a FIFO"));
  ::close(writer);
}

TEST(ProfilesTest, ShippedProfilesAreThereAndFilesWinOverThem) {
  const Result<WorkloadProfiles> shipped = load_profiles({});
  ASSERT_TRUE(shipped) << shipped.error().message;
  ASSERT_NE(shipped->find("resnet50", GpuType("K80")), nullptr);

  test::TemporaryFolder folder;
  std::ofstream(folder.file("own.yaml"))
      << "apiVersion: config.slackline.dev/v1alpha1\nkind: WorkloadProfile\nentries:\n"
         "  - {model: resnet50, gpuType: K80, coefficients: {kind: S, params: [1, 2, 0, 0, 1]}, "
         "source: us}\n";
  const Result<WorkloadProfiles> own = load_profiles({folder.file("*.yaml")});
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->find("resnet50", GpuType("K80"))->source, "us");
  EXPECT_THAT(load_profiles({folder.file("*.json")}).error().message, HasSubstr("no file matches"));
}

TEST(LoadTest, AddressesAreOfThisMachineAndEachIsTakenOnce) {
  EXPECT_THAT(problems("listeners: {metrics: {address: 'example.com:80'}}\n"),
              ElementsAre(HasSubstr("an IP address, localhost, or nothing")));
  EXPECT_THAT(problems("listeners: {metrics: {address: '127.evil.example:80'}}\n"),
              ElementsAre(HasSubstr("an IP address")));
  EXPECT_THAT(problems("listeners: {extender: {address: '127.0.0.1:9490'}, "
                       "metrics: {address: ':9490'}}\n"),
              ElementsAre(HasSubstr("listens on :9490, where extender listens (127.0.0.1:9490)")));
  EXPECT_THAT(problems("listeners: {extender: {address: '127.0.0.1:0'}, "
                       "metrics: {address: '127.0.0.1:0'}}\n"),
              ElementsAre());
  EXPECT_THAT(problems("listeners: {extender: {address: '127.0.0.1:9490'}, "
                       "metrics: {address: '[::1]:9490'}}\n"),
              ElementsAre());
}

TEST(LoadTest, NamesOfACertificateHoldNothingElse) {
  EXPECT_THAT(
      problems("extender: {certificate: {names: ['a,DNS:evil']}}\n"),
      ElementsAre(HasSubstr("has \"a,DNS:evil\"; each must be a DNS name or an IP address")));
  EXPECT_THAT(problems("extender: {certificate: {names: ['*.svc', '10.0.0.1', '::1']}}\n"),
              ElementsAre());
}

TEST(LoadTest, FilesOfTlsThatAreMissingOrOpenToAllAreFound) {
  const test::TemporaryFolder folder;
  Configuration configuration;
  configuration.listeners.api.tls = TlsSettings{folder.file("cert"), folder.file("key"), ""};
  std::ofstream(folder.file("key")) << "secret";
  std::filesystem::permissions(folder.file("key"), std::filesystem::perms(0644));
  const Findings findings = check_files(configuration);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].path, "listeners.api.tls.certFile");
  EXPECT_THAT(findings[0].problem, HasSubstr("cannot be read here"));
  EXPECT_EQ(findings[1].path, "listeners.api.tls.keyFile");
  EXPECT_THAT(findings[1].problem, HasSubstr("every user"));
}

}  // namespace
}  // namespace slackline::config
