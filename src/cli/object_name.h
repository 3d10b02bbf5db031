// Names of objects as the configuration writes them.
#pragma once

#include <string>

#include "slackline/model/object_key.h"

namespace slackline::cli {

// "NAMESPACE/NAME", as the configuration was checked; empty if `text` is.
inline ObjectKey key_of(const std::string& text) {
  return parse_object_key(text).value_or(ObjectKey());
}

// The ConfigMap of what stops have cost, beside the planner's Lease: replicas that share that share
// it.
inline ObjectKey stop_book_key(const std::string& lease) {
  ObjectKey key = key_of(lease);
  key.name += "-stops";
  return key;
}

}  // namespace slackline::cli
