#include "slackline/base/clock.h"

#include <chrono>

namespace slackline {
namespace {

class SystemClock final : public Clock {
 public:
  double wall_s() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  }
  double steady_s() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace slackline
