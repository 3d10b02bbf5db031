#include "config/restart.h"

namespace slackline::config {

std::vector<std::string> needs_restart(const Configuration& started, const Configuration& now) {
  std::vector<std::string> keys;
  const auto note = [&](const char* key, bool same) {
    if (!same) keys.emplace_back(key);
  };
  note("mode", started.mode == now.mode);
  GpuCatalog gpus = now.gpus;
  gpus.topology_labels = started.gpus.topology_labels;
  note("gpus", started.gpus == gpus);
  note("topology", started.gpus.topology_labels == now.gpus.topology_labels);
  note("profiles", started.profiles == now.profiles);
  note("listeners.extender", started.listeners.extender == now.listeners.extender);
  note("listeners.api", started.listeners.api == now.listeners.api);
  note("listeners.remoteApi", started.listeners.remote_api == now.listeners.remote_api);
  note("listeners.proxyApi", started.listeners.proxy_api == now.listeners.proxy_api);
  note("listeners.metrics", started.listeners.metrics == now.listeners.metrics);
  note("listeners.webhook", started.listeners.webhook == now.listeners.webhook);
  note("listeners.visibility", started.listeners.visibility == now.listeners.visibility);
  note("extender", started.extender == now.extender);
  note("remoteApi", started.remote_api == now.remote_api);
  note("webhook.configuration", started.webhook.configuration == now.webhook.configuration);
  note("webhook.certificate", started.webhook.certificate == now.webhook.certificate);
  note("trust", started.trust == now.trust);
  note("planner.lease", started.planner.lease == now.planner.lease);
  note("planner.giveBack", started.planner.give_back == now.planner.give_back);
  note("cluster", started.cluster == now.cluster);
  note("telemetry", started.telemetry == now.telemetry);
  note("store", started.store == now.store);
  note("log.format", started.log.format == now.log.format);
  return keys;
}

}  // namespace slackline::config
