// The version of this build, for `slackline version`, REST and the user agent.
#pragma once

namespace slackline::cli {

inline constexpr const char* kVersion = SLACKLINE_VERSION;

}  // namespace slackline::cli
