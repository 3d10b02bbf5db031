// userInfo of the authentication API: the user of admission and token reviews.
#pragma once

#include "message/admission.h"
#include "wire/format/json_view.h"

namespace slackline::wire {

// At most 1024 groups, values and keys are read.
Requester read_requester(JsonView user_info);

}  // namespace slackline::wire
