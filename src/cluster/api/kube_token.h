// TokenSource: the bearer token of the moment.
//
// A token file is read again at most 60 s after it was read last, and at once after a 401
// (refresh). A file that is missing or empty (kubelet replaces it) leaves the old token in use, at
// first the fixed one. Never logged.
//
// Thread-safety: all methods.
#pragma once

#include <string>

#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"

namespace slackline::cluster {

inline constexpr double kTokenPeriod_s = 60;

class TokenSource {
 public:
  TokenSource(std::string fixed, std::string file, const Clock& clock);

  std::string current();
  void refresh();

 private:
  const std::string file_;  // empty = the token is fixed
  const Clock& clock_;
  Mutex mutex_;
  std::string token_ SLACKLINE_GUARDED_BY(mutex_);
  double read_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;
};

}  // namespace slackline::cluster
