// TelemetrySettings: which Prometheus is asked what tasks use, and how its series are labelled.
//
// docs/TELEMETRY.md says what each means.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace slackline {

struct PrometheusSettings {
  std::string url;                              // http(s)://HOST[:PORT][/PREFIX]
  std::string bearer_token_file;                // empty: no token
  std::string ca_file;                          // PEM; empty: the system's authorities
  std::string tenant;                           // empty: none
  std::string tenant_header = "X-Scope-OrgID";  // Mimir's; Thanos' is THANOS-TENANT
  double timeout_s = 30;                        // of one query
  std::size_t max_body_bytes = std::size_t{64} << 20;

  friend bool operator==(const PrometheusSettings&, const PrometheusSettings&) = default;
};

struct OwnerLabels {
  std::string ns;
  std::string pod;
  std::string container;

  friend bool operator==(const OwnerLabels&, const OwnerLabels&) = default;
};

// Exporters and Prometheus name these labels differently. A scraped label that the target has too
// becomes exported_LABEL, unless honorLabels is set.
struct LabelNames {
  // The first group whose pod is not empty counts.
  std::vector<OwnerLabels> owners = {
      {"exported_namespace", "exported_pod", "exported_container"},
      {"pod_namespace", "pod_name", "container_name"},  // dcgm-exporter's old names
      {"namespace", "pod", "container"},
  };
  // Of each, the first that is not empty counts.
  std::vector<std::string> device = {"UUID", "uuid"};
  std::vector<std::string> node = {"Hostname", "hostname"};  // that a GPU is in
  std::vector<std::string> host = {"node", "kubernetes_io_hostname", "instance"};  // of a kubelet
  std::vector<std::string> index = {"gpu"};                                        // on its node
  std::vector<std::string> instance = {"GPU_I_ID"};  // of MIG, on its GPU
  std::vector<std::string> shared = {"vgpu"};        // there: several pods use the GPU

  friend bool operator==(const LabelNames&, const LabelNames&) = default;
};

struct TelemetrySettings {
  PrometheusSettings prometheus;    // without a URL nothing is measured
  double step_s = 60;               // the shortest time that counts as measured or not
  double look_back_s = 6 * 3600.0;  // what is read first where nothing measured is known
  LabelNames labels;

  friend bool operator==(const TelemetrySettings&, const TelemetrySettings&) = default;
};

}  // namespace slackline
