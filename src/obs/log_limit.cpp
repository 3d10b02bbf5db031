#include "obs/log_limit.h"

#include <utility>

namespace slackline::obs {

std::optional<std::int64_t> LogLimit::admit(double now_s) {
  MutexLock lock(mutex_);
  if (now_s - began_s_ >= period_s_) {
    began_s_ = now_s;
    written_ = 0;
  }
  if (written_ >= lines_) {
    ++left_out_;
    return std::nullopt;
  }
  ++written_;
  return std::exchange(left_out_, 0);
}

}  // namespace slackline::obs
