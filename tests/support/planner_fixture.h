// A planner whose turns a test takes itself, on a clock of its own and without a thread.
//
//   planner_.turn(changed_s);  // decides
//   actuator_.send_next();     // sends one write; a crash is whatever does not come after it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/plan/planner.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"

namespace slackline::test {

class PlannerFixture : public PlanningFixture {
 protected:
  PlannerFixture() {
    writer_.on_write = [this](const OwnWrite& write) {
      written_.push_back(write);
      if (refused_) return Result<std::string>(fail(*refused_, "no"));
      return Result<std::string>(std::to_string(2000 + written_.size()));
    };
  }

  void send() {
    while (actuator_.send_next()) {
    }
  }
  // One turn after a change, and its writes sent.
  void go_on() {
    planner_.turn(clock_.steady_s());
    send();
  }

  control::PlannerOptions options() {
    control::PlannerOptions options = options_;
    options.server_minor = [this] { return server_minor_; };
    options.can_sign = [this] {
      clock_.advance(turn_s_);
      return true;
    };
    return options;
  }

  FakeClock clock_;
  obs::MetricsRegistry metrics_;
  FakeSource source_{ClusterSnapshot{}};
  FakeWriter writer_;
  std::optional<std::int64_t> term_;
  std::optional<int> server_minor_ = control::kTemplatesAreOpenSince;
  double turn_s_ = 0;                 // what a turn takes
  std::optional<ErrorCode> refused_;  // by the API server
  std::vector<OwnWrite> written_;     // in the order in which they were sent
  control::Actuator actuator_{writer_, metrics_, [] {}, clock_};
  control::Planner planner_{options(), known_, source_, actuator_, [this] { return term_; },
                            metrics_,  clock_};
};

}  // namespace slackline::test
