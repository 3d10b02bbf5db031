// The Secret of the keys that Slackline's replicas share, as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/mac.h"

namespace slackline::wire {

// `data.keys` is a line for each key: when it was made, in epoch seconds, and its bytes as base64.
struct KeySecretDto {
  std::string resource_version;
  std::vector<SharedKey> keys;  // the newest first
};

// A merge patch that holds only for this resourceVersion.
std::string encode_key_patch(const KeySecretDto& secret);

// Lines that cannot be read are left out: a Secret without keys must be replaced.
Result<KeySecretDto> decode_key_secret(std::string_view json);

}  // namespace slackline::wire
