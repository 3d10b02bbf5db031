// The gang that a controller makes of its pods (docs/GANGS.md): as they say it, and as the
// controller's object says it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "slackline/model/ids.h"

namespace slackline {

// As a pod or Job of it says.
struct OwnerGang {
  std::string kind;  // of the controller: "PyTorchJob"
  std::string name;
  Uid uid;                             // of the controller; empty: the pods do not say it
  std::string part;                    // pods with another one are another gang of it
  std::optional<std::int64_t> size{};  // how many pods; nullopt: they do not say it
  bool of_jobs = false;                // its size is what its Jobs ask for
  std::string api_version{};           // of the controller: "kubeflow.org/v1"
};

// As the controller's object says, and those that own it. Clocks are epoch seconds, and run while
// the pods wait.
struct GangSpec {
  // With GPUs, without those that have succeeded; nullopt: that is not known.
  std::optional<std::int64_t> pods{};
  std::optional<double> ends_s{};       // when they are ended
  std::optional<double> starts_by_s{};  // when what does not run yet is ended
  friend bool operator==(const GangSpec&, const GangSpec&) = default;
};
using GangSpecs = std::map<Uid, GangSpec>;  // by uid of the controller's object

}  // namespace slackline
