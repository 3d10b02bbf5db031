// StopAsked: asks long work to stop. The work calls it now and then, on its own thread, so it must
// be cheap. Once it is true it stays true. Empty: never. It also limits the time of code that may
// not read a clock: the function itself may.
#pragma once

#include <functional>

namespace slackline {

using StopAsked = std::function<bool()>;

inline bool is_asked(const StopAsked& stop) {
  return stop && stop();
}

}  // namespace slackline
