// Whose a series is, and of which GPU (docs/TELEMETRY.md). A group of owner labels counts whole: a
// pod of one and a namespace of another would be nobody's.
#pragma once

#include <string>
#include <vector>

#include "message/telemetry_settings.h"
#include "slackline/model/ids.h"
#include "wire/telemetry/prometheus_codec.h"

namespace slackline::telemetry {

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
