// The names of things in the cluster, one type each.
#pragma once

#include <compare>
#include <cstddef>
#include <string>

#include "slackline/base/strong_id.h"

namespace slackline {

// Bytes of a name: what Kubernetes allows a DNS subdomain.
inline constexpr std::size_t kMaxName = 253;

using NodeName = StrongId<struct NodeNameTag>;
using Uid = StrongId<struct UidTag>;          // metadata.uid of any object
using GpuType = StrongId<struct GpuTypeTag>;  // Slackline's alias, e.g. "A100"; empty = unknown

// Namespace and name; how people and REST paths name pods, Jobs and tasks.
struct ObjectKey {
  std::string ns;
  std::string name;

  std::string str() const { return ns + "/" + name; }
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

}  // namespace slackline
