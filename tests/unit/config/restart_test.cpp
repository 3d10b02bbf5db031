// What a running daemon takes of a changed file, and what only a restart does.
#include "config/restart.h"

#include <gmock/gmock.h>

#include "config/load.h"

namespace slackline::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> from_defaults_to(const std::string& body) {
  const Loaded now = parse_configuration(
      "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n" + body);
  EXPECT_THAT(now.findings, IsEmpty()) << body;
  return needs_restart({}, now.configuration);
}

TEST(RestartTest, WhatOrdersTheQueueIsTakenAtOnce) {
  EXPECT_THAT(from_defaults_to(
                  "queue: {maxPending: 3, fallbackAfter: 1m, scaleUp: true, rescheduling: auto, "
                  "resize: auto}\n"
                  "queues: [{name: a}]\n"
                  "webhook: {schedulerName: other, serviceAccount: a/b}\nplanner: {policy: fifo, "
                  "slowAfter: 5m, shadowEvents: true}\n"
                  "scoring: {theta: 2}\nlearning: {fromRuns: false}\nlog: {level: debug}\n"),
              IsEmpty());
}

TEST(RestartTest, WhatIsMadeAtTheStartIsNamed) {
  EXPECT_THAT(from_defaults_to(
                  "mode: active\ngpus: {typeLabels: [pool]}\ntopology: {labels: [rack]}\nprofiles: "
                  "[p.json]\n"
                  "listeners: {extender: {address: 'localhost:1'}, api: {address: 'localhost:2'}, "
                  "metrics: {address: 'localhost:3'}, remoteApi: {address: ':4'}, "
                  "proxyApi: {address: ':5'}, webhook: {address: ':8443'}}\n"
                  "extender: {trust: a/b}\nremoteApi: {trust: a/b}\nwebhook: {configuration: "
                  "other, certificate: {life: "
                  "1h}}\ntrust: {keyLife: 1h}\nplanner: {lease: a/b, giveBack: true}\n"
                  "cluster: {staleAfter: 90s}\ntelemetry: {step: 30s}\nstore: {path: "
                  "other.db}\nlog: {format: json}\n"),
              ElementsAre("mode", "gpus", "topology", "profiles", "listeners.extender",
                          "listeners.api", "listeners.remoteApi", "listeners.proxyApi",
                          "listeners.metrics", "listeners.webhook", "extender", "remoteApi",
                          "webhook.configuration", "webhook.certificate", "trust", "planner.lease",
                          "planner.giveBack", "cluster", "telemetry", "store", "log.format"));
}

}  // namespace
}  // namespace slackline::config
