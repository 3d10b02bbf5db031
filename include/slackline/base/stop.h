// StopAsked: how somebody who wants an end reaches work that takes long. It is asked now and then,
// on the worker's thread, and must be cheap; once it says yes it goes on saying so. Empty: nobody
// ever asks.
//
// Code that must not look at the time is bounded by it too: the question may look at a clock.
#pragma once

#include <functional>

namespace slackline {

using StopAsked = std::function<bool()>;

inline bool is_asked(const StopAsked& stop) {
  return stop && stop();
}

}  // namespace slackline
