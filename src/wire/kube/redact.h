// A dump of a cluster that tells how it is scheduled and not whose it is (`slackline bundle`).
//
// Only fields that the decoders read are kept. Names, namespaces, uids, images, and keys and values
// of labels that are not the vocabulary of Kubernetes and GPU vendors are replaced, piece by piece,
// by codes that keep equality and order, because ties are broken by name; what is generated in a
// name stays recognisable as such, because the other part is a family. Nothing else of a text can
// be had from its code (decision 0046).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::wire {

struct RedactedDump {
  std::string json;  // a v1 List
  std::size_t objects = 0;
  std::size_t left_out = 0;  // of kinds that Slackline does not read
  std::size_t replaced = 0;  // distinct pieces of names
};

struct RedactionRules {
  const GpuCatalog& catalog;  // its labels and resources stay
  // Whether everybody may know the model's name.
  std::function<bool(std::string_view model)> is_public_model;
  // Of a name without what was generated (core::owner_stem()).
  std::function<std::string(std::string_view name)> stem;
};

// `json` as KubeDecoder::dump() takes it, and refused as it refuses it.
// kResourceExhausted: more distinct names than there are codes (14 million).
Result<RedactedDump> redact_dump(std::string_view json, const RedactionRules& rules);

}  // namespace slackline::wire
