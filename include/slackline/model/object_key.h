// The name of an object as people, REST and the configuration write it: NAMESPACE/NAME.
#pragma once

#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"

namespace slackline {

// kInvalidArgument: not two parts around one '/', or an empty part.
Result<ObjectKey> parse_object_key(std::string_view text);

}  // namespace slackline
