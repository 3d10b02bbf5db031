// YAML files of Kubernetes objects, as JSON for the decoders.
//
// Quoted strings stay strings whatever they look like; what stands under annotations, labels,
// nodeSelector and matchLabels is always a string. Plain scalars become null, true, false or a
// number where they are written as JSON writes them, else strings.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "wire/format/yaml_events.h"

namespace slackline::wire {

// One document becomes itself; several become the items of one v1 List; empty ones are left out.
// Text that is JSON already comes back as it is. kInvalidArgument with the line: not YAML, no
// document, a key given twice in one map, or aliases that expand too far.
Result<std::string> yaml_to_json(std::string_view yaml, const YamlLimits& limits = {});

}  // namespace slackline::wire
