// Mode: how much of what Slackline decides becomes true (design: "Modes").
#pragma once

#include <string_view>

namespace slackline {

// kShadow computes and journals everything and changes nothing; kAdvise filters and scores for
// real.
enum class Mode { kShadow, kAdvise };

std::string_view to_string(Mode mode);

}  // namespace slackline
