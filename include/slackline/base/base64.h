// Base64 (RFC 4648, with padding), as kubeconfigs, Secrets and admission patches carry bytes.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline {

std::string encode_base64(std::string_view bytes);

// Spaces and line ends are ignored; padding may be missing.
Result<std::string> decode_base64(std::string_view text);

}  // namespace slackline
