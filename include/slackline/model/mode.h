// Mode: how much of what Slackline decides takes effect (docs/ACTIVE-MODE.md).
#pragma once

#include <string_view>

namespace slackline {

// kShadow computes and journals everything and changes nothing; kAdvise filters and scores for
// real; kActive also queues, releases and plans.
enum class Mode { kShadow, kAdvise, kActive };

std::string_view to_string(Mode mode);

}  // namespace slackline
