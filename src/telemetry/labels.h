// Whose a series is, and of which GPU: exporters and Prometheus name these labels differently.
//
// A scraped label that the target has too becomes exported_LABEL, unless honorLabels is set
// (docs/TELEMETRY.md). So a group counts whole: a pod of one and a namespace of another would be
// nobody's.
#pragma once

#include <string>
#include <vector>

#include "slackline/model/ids.h"
#include "wire/telemetry/prometheus_codec.h"

namespace slackline::telemetry {

struct OwnerLabels {
  std::string ns;
  std::string pod;
  std::string container;
};

struct LabelNames {
  // The first group whose pod is not empty counts.
  std::vector<OwnerLabels> owners = {
      {"exported_namespace", "exported_pod", "exported_container"},
      {"pod_namespace", "pod_name", "container_name"},  // dcgm-exporter's old names
      {"namespace", "pod", "container"},
  };
  // Of each, the first that is not empty counts.
  std::vector<std::string> device = {"UUID", "uuid"};
  std::vector<std::string> node = {"Hostname", "hostname"};
  std::vector<std::string> index = {"gpu"};          // on its node
  std::vector<std::string> instance = {"GPU_I_ID"};  // of MIG, on its GPU
  std::vector<std::string> shared = {"vgpu"};        // there: several pods use the GPU
};

struct Owner {
  ObjectKey pod;
  std::string container;
};

// An empty name: the series is no pod's.
Owner owner_of(const wire::Series& series, const LabelNames& names);

// The GPU, or its MIG instance: by UUID, else by node and index. Empty: it says neither.
std::string device_of(const wire::Series& series, const LabelNames& names);

bool says_shared(const wire::Series& series, const LabelNames& names);

// All names, for `by (...)`.
std::vector<std::string> owner_names(const LabelNames& names);
std::vector<std::string> device_names(const LabelNames& names);

}  // namespace slackline::telemetry
