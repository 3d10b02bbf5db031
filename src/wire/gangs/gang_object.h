// The objects of the controllers that make gangs, and of those that own them: what they say of the
// gang (docs/GANGS.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/owner_gang.h"
#include "wire/kube/kube_decode.h"

namespace slackline::wire {

// Names one of them, as those that it owns do.
struct GangObjectRef {
  std::string api_version;  // "kubeflow.org/v1"
  std::string kind;
  std::string name;
  Uid uid;  // empty: whichever has the name
};

// Where the API server keeps it. nullopt: it is of no kind that is known, or what it is called
// cannot be part of a path.
std::optional<std::string> gang_object_path(const GangObjectRef& ref, const std::string& ns);

struct GangObject {
  Uid uid;
  GangSpec spec;
  std::optional<GangObjectRef> owner;  // its controller
};

// Its pods with GPUs are counted by `decoder`.
Result<GangObject> read_gang_object(std::string_view json, KubeDecoder& decoder);

}  // namespace slackline::wire
