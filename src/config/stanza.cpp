#include <algorithm>

#include "config/lint.h"
#include "config/lint_extender.h"
#include "slackline/base/text.h"

namespace slackline::config {

std::string scheduler_stanza(const Configuration& configuration) {
  const ListenerSettings& listener = configuration.listeners.extender;
  const bool tls = listener.tls || !is_loopback(listener);
  const bool own = !listener.tls && tls;
  const bool mutual = own || (listener.tls && !listener.tls->client_ca_file.empty());
  const std::vector<GpuResourceRule>& resources = configuration.gpus.resources;
  const bool self_accounted = std::any_of(resources.begin(), resources.end(),
                                          [](const auto& rule) { return rule.self_accounted; });
  // An address of every interface (":8181") cannot be called; the Service's name can.
  const std::string host =
      listener.address.starts_with(':') ? "slackline.slackline-system.svc" : "";
  std::string out = "extenders:\n";
  out += format("  - urlPrefix: {}://{}{}{}\n", tls ? "https" : "http", host, listener.address,
                kExtenderPath);
  out +=
      "    filterVerb: filter\n    prioritizeVerb: prioritize\n    preemptVerb: preempt\n"
      "    bindVerb: bind\n";
  out += format("    weight: {}\n    httpTimeout: {}\n    nodeCacheCapable: true\n",
                kLeastExtenderWeight, format("{}s", configuration.extender.http_timeout_s));
  out += self_accounted
             ? "    ignorable: false # Slackline alone counts some of the resources below\n"
             : "    ignorable: true # without Slackline, GPU pods schedule as they do today\n";
  out += format("    enableHTTPS: {}\n", tls);
  if (tls) {
    out +=
        "    tlsConfig:\n      caFile: /etc/slackline/ca/ca.crt # the CA of the extender's "
        "certificate\n";
    if (own)
      out += format("      serverName: {}\n", configuration.extender.certificate.names.front());
    if (mutual)
      out +=
          "      # kube-scheduler does not start without both files\n"
          "      certFile: /etc/slackline/client/tls.crt\n"
          "      keyFile: /etc/slackline/client/tls.key\n";
  }
  out += "    managedResources:\n";
  for (const GpuResourceRule& rule : resources) {
    if (rule.pattern.find_first_of("*?") != std::string::npos)
      out += format("      # {}: no patterns here, list each name that the nodes offer\n",
                    rule.pattern);
    else
      out += format("      - name: {}\n        ignoredByScheduler: {}\n", rule.pattern,
                    rule.self_accounted);
  }
  return out;
}

}  // namespace slackline::config
