// The Secret of the keys that Slackline's replicas share, as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"
#include "slackline/model/shared_key.h"

namespace slackline::wire {

// Of type Opaque. `data.keys` is a line for each key: when it was made, in epoch seconds, and its
// bytes as base64.
struct KeySecretDto {
  std::string resource_version;  // empty: to be created
  std::vector<SharedKey> keys;   // the newest first
};

std::string encode_key_secret(const ObjectKey& name, const KeySecretDto& secret);

// Lines that cannot be read are left out: a Secret without keys must be replaced.
Result<KeySecretDto> decode_key_secret(std::string_view json);

}  // namespace slackline::wire
