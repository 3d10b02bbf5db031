// The gang that a controller makes of its pods (docs/GANGS.md): as they say it, and as the
// controller's object says it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

struct Pod;

// As a pod or Job of it says.
struct OwnerGang {
  std::string kind;  // of the controller: "PyTorchJob"
  std::string name;
  Uid uid;                             // of the controller; empty: the pods do not say it
  std::string part;                    // pods with another one are another gang of it
  std::optional<std::int64_t> size{};  // how many pods; nullopt: they do not say it
  bool of_jobs = false;                // its size is what its Jobs ask for
  std::string api_version{};           // of the controller: "kubeflow.org/v1"
  std::string role{};                  // of the pod in it; empty: it has none
  std::string object{};                // name of the controller's object, where it makes several
};

inline const std::string& object_name(const OwnerGang& gang) {
  return gang.object.empty() ? gang.name : gang.object;
}

// By what GangSpecs knows the object that makes it.
inline Uid object_of(const std::string& ns, const OwnerGang& gang) {
  return gang.uid.empty() ? Uid(ObjectKey{ns, object_name(gang)}.str()) : gang.uid;
}

// Members that the controller makes once those of other roles run.
struct LaterMembers {
  std::string role;
  std::vector<std::string> after;  // they run before
  std::int64_t pods = 0;           // 0: they ask for no GPUs
  std::shared_ptr<const Pod> pattern{};
  std::uint64_t made_of = 0;  // names the pattern

  friend bool operator==(const LaterMembers& a, const LaterMembers& b) {
    return a.role == b.role && a.after == b.after && a.pods == b.pods && a.made_of == b.made_of;
  }
};

// As the controller's object says, and those that own it. Clocks are epoch seconds, and run while
// the pods wait.
struct GangSpec {
  // With GPUs, without those that have succeeded; nullopt: that is not known.
  std::optional<std::int64_t> pods{};
  std::optional<double> ends_s{};       // when they are ended
  std::optional<double> starts_by_s{};  // when what does not run yet is ended
  std::vector<LaterMembers> later{};
  friend bool operator==(const GangSpec&, const GangSpec&) = default;
};
using GangSpecs = std::map<Uid, GangSpec>;  // by object_of()

}  // namespace slackline
