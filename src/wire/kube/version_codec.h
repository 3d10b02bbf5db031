// The answer of kube-apiserver's /version.
#pragma once

#include <string_view>

#include "slackline/base/result.h"

namespace slackline::wire {

// The minor version: 36 of "36", "36+" and "36-eks"; the major one is 1. Of an API server that
// emulates an older version, that one: it serves what that one served.
Result<int> decode_server_minor(std::string_view json);

}  // namespace slackline::wire
