// The options of SavableFirst as text.
#pragma once

#include <string_view>

#include "slackline/base/result.h"
#include "slackline/core/planning/policy.h"

namespace slackline::core {

// "margin=0.2" into its field. kInvalidArgument names the options, or the values, that are allowed.
Status set_savable_option(std::string_view assignment, SavableOptions& options);

}  // namespace slackline::core
