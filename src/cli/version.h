// The version of this build, as `slackline version`, REST and the user agent tell it.
#pragma once

namespace slackline::cli {

inline constexpr const char* kVersion = SLACKLINE_VERSION;

}  // namespace slackline::cli
