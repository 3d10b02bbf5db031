// Hindrance: why a waiting task is not planned now, whatever is free.
#pragma once

#include <string>
#include <string_view>

namespace slackline::core {

// Stable codes. Of depends-on, the first that is true:
inline constexpr std::string_view kDependencyCycle = "DependencyCycle";      // it waits for itself
inline constexpr std::string_view kDependencyFailed = "DependencyFailed";    // it will not succeed
inline constexpr std::string_view kDependencyMissing = "DependencyMissing";  // no such Job
inline constexpr std::string_view kDependencyPending = "DependencyPending";  // not over yet
// No present node could ever run it, and an autoscaler cannot be shown a gang.
inline constexpr std::string_view kGangCannotScaleUp = "GangCannotScaleUp";

struct Hindrance {
  std::string_view reason;  // one of the codes above
  std::string detail;       // for people: "prep, clean"

  friend bool operator==(const Hindrance&, const Hindrance&) = default;
};

}  // namespace slackline::core
